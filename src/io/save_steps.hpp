#pragma once
/// The steps of a save that need no other rank.

#include <cstdint>
#include <string>

#include <unistd.h>

namespace tessera::io {

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// All of it. @throws InputError: the disk is full
void write_at(int descriptor, const std::string& path, std::int64_t place, const char* bytes,
              std::int64_t n_bytes);

/// This rank's share of the checksum of the first `n_bytes`: the shares of all ranks are added.
/// @throws SystemError
std::uint64_t share_of_sum(const std::string& path, std::uint64_t n_bytes, int rank, int n_ranks);
/// @throws SystemError
void append_checksum(const std::string& path, std::uint64_t n_bytes, std::uint64_t sum);

/// Brings `partial_path` to its disk and gives it the name `path`. @throws SystemError
void replace(const std::string& partial_path, const std::string& path);
/// The same; what was at `path` becomes the older save, or there is none afterwards.
/// @throws SystemError
void replace_save(const std::string& partial_path, const std::string& path, bool keeps_older);

}  // namespace tessera::io
