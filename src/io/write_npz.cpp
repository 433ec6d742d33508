// NumPy's archives: a ZIP file of arrays, not compressed (PKWARE, .ZIP File Format Specification).

#include <array>

#include "byte_writer.hpp"
#include "exports.hpp"

namespace tessera::io {
namespace {

/// Of ZIP, polynomial 0xedb88320.
std::uint32_t checksum(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      made[i] = i;
      for (int bit = 0; bit < 8; ++bit)
        made[i] = made[i] & 1 ? 0xedb88320 ^ (made[i] >> 1) : made[i] >> 1;
    }
    return made;
  }();
  std::uint32_t crc = 0xffffffff;
  for (const char byte : bytes)
    crc = table[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

/// As numpy.save writes it, format 1.0.
std::string npy(const NamedArray& array) {
  const bool is_complex = !array.imaginary.empty();
  std::string shape;
  for (const std::int64_t n : array.extents) shape += text(n, ',');
  std::string header = text("{'descr': '", is_complex ? "<c16" : "<f8",
                            "', 'fortran_order': False, 'shape': (", shape, "), }");
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string bytes = "\x93NUMPY\x01";
  bytes += '\0';
  bytes += static_cast<char>(header.size() % 256);
  bytes += static_cast<char>(header.size() / 256);
  bytes += header;
  const auto add = [&](double value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (std::size_t i = 0; i < array.real.size(); ++i) {
    add(array.real[i]);
    if (is_complex) add(array.imaginary[i]);
  }
  return bytes;
}

struct Member {
  std::string name;
  std::uint32_t crc = 0;
  std::uint64_t size = 0;
  std::uint64_t at = 0;
};

/// What the header before a member and its line in the directory share. Sizes and places are in the
/// 64-bit field behind the name.
void write_fields(ByteWriter& file, const Member& member, std::uint16_t n_extra) {
  // Version, flags, stored, time, 1980-1-1.
  for (const int field : {45, 0, 0, 0, 0x21}) file.number(static_cast<std::uint16_t>(field));
  file.number(member.crc);
  file.number(std::uint32_t{0xffffffff});
  file.number(std::uint32_t{0xffffffff});
  file.number(static_cast<std::uint16_t>(member.name.size()));
  file.number(n_extra);
}

void write_member(ByteWriter& file, const Member& member, const std::string& bytes) {
  file.bytes("PK\x03\x04");
  write_fields(file, member, 20);
  file.bytes(member.name);
  file.number(std::uint16_t{1});
  file.number(std::uint16_t{16});
  file.number(member.size);
  file.number(member.size);
  file.bytes(bytes);
}

void write_line(ByteWriter& file, const Member& member) {
  file.bytes("PK\x01\x02");
  file.number(std::uint16_t{45});
  write_fields(file, member, 28);
  file.bytes(std::string(10, '\0'));  // comment, disk, attributes
  file.number(std::uint32_t{0xffffffff});
  file.bytes(member.name);
  file.number(std::uint16_t{1});
  file.number(std::uint16_t{24});
  file.number(member.size);
  file.number(member.size);
  file.number(member.at);
}

void write_end(ByteWriter& file, std::size_t n_members, std::int64_t directory_at) {
  const std::int64_t end_at = file.n_bytes();
  file.bytes("PK\x06\x06");
  file.number(std::uint64_t{44});
  file.number(std::uint16_t{45});
  file.number(std::uint16_t{45});
  file.number(std::uint64_t{0});  // disks
  file.number(static_cast<std::uint64_t>(n_members));
  file.number(static_cast<std::uint64_t>(n_members));
  file.number(end_at - directory_at);
  file.number(directory_at);
  file.bytes("PK\x06\x07");
  file.number(std::uint32_t{0});
  file.number(end_at);
  file.number(std::uint32_t{1});
  file.bytes("PK\x05\x06");
  file.number(std::uint32_t{0});  // disks
  file.number(static_cast<std::uint16_t>(n_members));
  file.number(static_cast<std::uint16_t>(n_members));
  file.number(
      static_cast<std::uint32_t>(std::min<std::int64_t>(end_at - directory_at, 0xffffffff)));
  file.number(static_cast<std::uint32_t>(std::min<std::int64_t>(directory_at, 0xffffffff)));
  file.number(std::uint16_t{0});
}

}  // namespace

NamedArray as_array(const std::string& name, const WaveStack& waves) {
  NamedArray array{name, {waves.n(), waves.h(), waves.w()}, {}};
  for (const std::complex<double> value : waves) {
    array.real.push_back(value.real());
    array.imaginary.push_back(value.imag());
  }
  return array;
}

void write_npz(const std::string& path, const std::vector<NamedArray>& arrays) {
  ByteWriter file(path);
  std::vector<Member> members;
  for (const NamedArray& array : arrays) {
    const std::string bytes = npy(array);
    members.push_back({array.name + ".npy", checksum(bytes), bytes.size(),
                       static_cast<std::uint64_t>(file.n_bytes())});
    write_member(file, members.back(), bytes);
  }
  const std::int64_t directory_at = file.n_bytes();
  for (const Member& member : members) write_line(file, member);
  write_end(file, members.size(), directory_at);
  file.close();
}

}  // namespace tessera::io
