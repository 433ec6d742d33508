// MATLAB's files, compressed or not.
#include <filesystem>

#include <zlib.h>

#include "io/known_formats.hpp"

namespace tessera::io {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace testing;

/// (y, x, position) in MATLAB's order.
std::string matlab_array() {
  std::string bytes;
  const auto add = [&](const std::vector<std::uint32_t>& words) {
    for (const std::uint32_t word : words) append(bytes, word);
  };
  add({14, 16 + 24 + 16 + 8 + 544, 6, 8, 11, 0, 5, 12, 5, 6, n_positions, 0, 1, 4});
  bytes += std::string("scan\0\0\0\0", 8);
  add({4, 540});
  const Numbers all = patterns(0, 9);
  for (int p = 0; p < n_positions; ++p)
    for (int x = 0; x < shape.w; ++x)
      for (int y = 0; y < shape.h; ++y)
        append(bytes,
               static_cast<std::uint16_t>(all[static_cast<std::size_t>(p * 30 + y * shape.w + x)]));
  bytes.resize(bytes.size() + 4);
  return bytes;
}

/// As `save -v7`, MATLAB's default, writes it.
std::string deflated(const std::string& array) {
  std::string packed(compressBound(array.size()), '\0');
  auto n_packed = static_cast<uLongf>(packed.size());
  EXPECT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &n_packed,
                     reinterpret_cast<const Bytef*>(array.data()), array.size()),
            Z_OK);
  packed.resize(n_packed);
  std::string bytes;
  append(bytes, std::uint32_t{15});
  append(bytes, static_cast<std::uint32_t>(n_packed));
  return bytes + packed;
}

std::string matlab_file(const std::string& array) {
  std::string bytes = "MATLAB 5.0 MAT-file";
  bytes.resize(124, ' ');
  append(bytes, std::uint16_t{0x0100});
  return bytes + "IM" + array;
}

TEST_F(KnownFormats, MatlabWithRowsFastest) {
  source_.path = folder_.file("scan.mat");
  source_.positions.reset();
  source_.turn.transpose = true;
  for (const std::string& array : {matlab_array(), deflated(matlab_array())}) {
    on_root([&] { write(source_.path, matlab_file(array)); });
    expect_the_scan("matlab", false);
    world().barrier();  // all have read it
    on_root([&] { std::filesystem::resize_file(source_.path, array.size() + 100); });
    EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }), HasSubstr("cut short"));
  }
  std::string damaged = deflated(matlab_array());
  for (std::size_t i = 60; i < damaged.size(); ++i) damaged[i] = '\xff';
  on_root([&] { write(source_.path, matlab_file(damaged)); });
  EXPECT_THAT(agreed_error([&] { expect_the_scan("matlab", false); }),
              AllOf(HasSubstr("scan.mat"), HasSubstr("damaged")));
}

TEST_F(KnownFormats, MatlabOfAShapeThatCannotBe) {
  source_.path = folder_.file("scan.mat");
  source_.positions.reset();
  for (const std::string& extents : {std::string("\xff\xff\xff\x7f\xff\xff\xff\x7f", 8),
                                     std::string("\xfb\xff\xff\xff\xfa\xff\xff\xff", 8)}) {
    std::string array = matlab_array();
    array.replace(32, 8, extents);
    for (const std::string& written : {array, deflated(array)}) {
      world().barrier();  // all have read the one before
      on_root([&] { write(source_.path, matlab_file(written)); });
      EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }), HasSubstr("scan.mat"));
    }
  }
}

}  // namespace
}  // namespace tessera::io
