#include "tessera/io/save.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

#include <unistd.h>

#include "tessera/base/error.hpp"
#include "tessera/base/progress.hpp"
#include "tessera/base/random.hpp"
#include "tessera/base/text.hpp"

#include "hdf5_handle.hpp"
#include "save_steps.hpp"

namespace tessera::io {
namespace {

struct Trailer {
  std::array<char, 16> name;
  std::uint64_t n_bytes;  ///< before the trailer
  std::uint64_t sum;
};

constexpr std::array<char, 16> trailer_name{'t', 'e', 's', 's', 'e', 'r', 'a', ' ',
                                            'c', 'h', 'e', 'c', 'k', 's', 'u', 'm'};

/// Fletcher's sums of 32-bit words, each word's place counting, modulo 2^64.
std::uint64_t fletcher(const std::vector<std::uint32_t>& words) {
  std::uint64_t sum = 0;
  std::uint64_t sum_of_sums = 0;
  for (const std::uint32_t word : words) {
    sum += word;
    sum_of_sums += sum;
  }
  return sum ^ mixed(sum_of_sums);
}

/// Of the first `n_bytes`. Collective.
std::uint64_t sum_of(const std::string& path, std::uint64_t n_bytes,
                     const comm::Communicator& comm) {
  std::array<std::int64_t, 1> total{};
  comm.together([&] {
    const Doing doing("checking a file");
    total[0] = static_cast<std::int64_t>(share_of_sum(path, n_bytes, comm.rank(), comm.size()));
  });
  comm.sum(total);
  return static_cast<std::uint64_t>(total[0]);
}

std::uint64_t file_bytes(const std::string& path, const comm::Communicator& comm) {
  std::array<std::uint64_t, 1> n_bytes{};
  comm.together([&] {
    if (comm.is_root()) n_bytes[0] = std::filesystem::file_size(path);
  });
  comm.broadcast(std::span<std::uint64_t>(n_bytes));
  return n_bytes[0];
}

bool can_be_opened(const std::string& path) {
  try {
    File::open(path);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// What stands at the end of the file; without trailer_name: there is no checksum.
Trailer read_trailer(const std::string& path) {
  Trailer trailer{};
  std::ifstream file(path, std::ios::binary);
  file.seekg(-static_cast<std::streamoff>(sizeof trailer), std::ios::end);
  file.read(reinterpret_cast<char*>(&trailer), sizeof trailer);
  return trailer;
}

/// The file at `path` gets the other name, too: at no moment is there none of its own name.
void link_as(const std::string& path, const std::string& other) {
  ::unlink(other.c_str());
  // Where files cannot have two names, a crash in between leaves the older one alone.
  if (::link(path.c_str(), other.c_str()) != 0 && errno != ENOENT)
    std::rename(path.c_str(), other.c_str());
}

}  // namespace

void check_replaceable(const std::string& path, const std::string& key,
                       const std::function<bool(const File&)>& is_ours) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none) || std::filesystem::is_empty(path, none))
    return;
  try {
    if (is_ours(File::open(path))) return;
  } catch (const InputError&) {
    if (is_hdf5(path)) return;  // a result that was damaged
  }
  throw InputError(
      text(key, " = \"", path,
           "\" is there already, and not what would be written in its place; remove it "
           "or name another file"));
}

std::string older_save(const std::string& path) {
  return path + ".older";
}

/// Blocks are summed by themselves, so that any number of ranks may share them.
std::uint64_t share_of_sum(const std::string& path, std::uint64_t n_bytes, int rank, int n_ranks) {
  constexpr std::uint64_t block_bytes = 1 << 20;
  const std::uint64_t n_blocks = (n_bytes + block_bytes - 1) / block_bytes;
  const auto number = static_cast<std::uint64_t>(rank);
  const auto n = static_cast<std::uint64_t>(n_ranks);
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint32_t> block;
  std::uint64_t sum = 0;
  for (std::uint64_t i = n_blocks * number / n; i < n_blocks * (number + 1) / n; ++i) {
    note_progress();
    const std::uint64_t size = std::min(block_bytes, n_bytes - i * block_bytes);
    block.assign((size + 3) / 4, 0);
    file.seekg(static_cast<std::streamoff>(i * block_bytes));
    if (!file.read(reinterpret_cast<char*>(block.data()), static_cast<std::streamsize>(size)))
      throw SystemError(text('"', path, "\" cannot be read to its end"));
    sum += random_bits(fletcher(block), i);
  }
  return sum;
}

void append_checksum(const std::string& path, std::uint64_t n_bytes, std::uint64_t sum) {
  const Trailer trailer{trailer_name, n_bytes, sum};
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file.write(reinterpret_cast<const char*>(&trailer), sizeof trailer);
  if (!file.flush()) throw SystemError(text('"', path, "\" cannot be written to its end"));
}

void replace_save(const std::string& partial_path, const std::string& path, bool keeps_older) {
  const std::string older = older_save(path);
  const std::string next_older = older + ".part";
  if (keeps_older) link_as(path, next_older);
  replace(partial_path, path);
  // Only now: the one at `path` may have been damaged, and the older one all that there was.
  if (keeps_older)
    std::rename(next_older.c_str(), older.c_str());
  else
    ::unlink(older.c_str());
}

void commit_save(AtomicFile& file, const std::string& path, bool keeps_older,
                 const comm::Communicator& comm) {
  const std::string& partial = file.partial_path();
  const std::uint64_t n_bytes = file_bytes(partial, comm);
  const std::uint64_t sum = sum_of(partial, n_bytes, comm);
  comm.together([&] {
    if (!comm.is_root()) return;
    append_checksum(partial, n_bytes, sum);
    replace_save(partial, path, keeps_older);
  });
}

Soundness soundness_of(const std::string& path, const comm::Communicator& comm) {
  struct {
    bool opens;
    Trailer trailer;
  } found{};
  if (comm.is_root()) {
    found.opens = can_be_opened(path);
    if (found.opens) found.trailer = read_trailer(path);
  }
  comm.broadcast(std::span(&found, 1));
  if (!found.opens) return Soundness::unreadable;
  if (found.trailer.name != trailer_name) return Soundness::sound;
  const std::uint64_t n_bytes = file_bytes(path, comm) - sizeof(Trailer);
  const bool is_whole =
      n_bytes == found.trailer.n_bytes && sum_of(path, n_bytes, comm) == found.trailer.sum;
  return is_whole ? Soundness::sound : Soundness::damaged;
}

}  // namespace tessera::io
