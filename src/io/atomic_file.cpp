#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"

namespace tessera::io {
namespace {

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

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

InputError cannot_write(const std::string& path, const std::string& reason) {
  return InputError(text('"', path, "\" cannot be written: ", reason));
}

std::int64_t free_bytes(const std::string& folder) {
  struct statvfs space{};
  if (statvfs(folder.c_str(), &space) != 0) return 0;
  return static_cast<std::int64_t>(space.f_bavail) * static_cast<std::int64_t>(space.f_frsize);
}

/// 0, or errno if the file cannot have `n_bytes`. Where a file system cannot reserve, its free
/// space has to do.
int try_reserve(int descriptor, std::int64_t n_bytes, const std::string& folder) {
  if (n_bytes <= 0 || fallocate(descriptor, 0, 0, n_bytes) == 0) return 0;
  if (errno == EOPNOTSUPP || errno == ENOSYS) return free_bytes(folder) < n_bytes ? ENOSPC : 0;
  return errno;
}

void check_space(const std::string& path, const std::string& partial_path, std::int64_t n_bytes) {
  const std::string folder = folder_of(path);
  if (std::filesystem::is_directory(path)) throw cannot_write(path, "it is a folder");
  if (!std::filesystem::is_directory(folder))
    throw cannot_write(path, text("there is no folder \"", folder, "\"; make it first"));
  const Descriptor file(::open(partial_path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0666));
  if (file.get() < 0)
    throw cannot_write(path, text('"', partial_path, "\": ", std::strerror(errno)));
  const int problem = try_reserve(file.get(), n_bytes, folder);
  if (problem != 0) {
    ::unlink(partial_path.c_str());
    throw cannot_write(
        path, text("it needs ", n_bytes, " bytes, ", free_bytes(folder), " are free in \"", folder,
                   "\" (", std::strerror(problem), "); make room or write elsewhere"));
  }
  if (::ftruncate(file.get(), 0) != 0)
    throw cannot_write(path, text('"', partial_path, "\": ", std::strerror(errno)));
}

void replace(const std::string& partial_path, const std::string& path) {
  const Descriptor file(::open(partial_path.c_str(), O_RDONLY));
  if (file.get() < 0 || ::fsync(file.get()) != 0 ||
      std::rename(partial_path.c_str(), path.c_str()) != 0)
    throw SystemError(
        text('"', partial_path, "\" cannot become \"", path, "\": ", std::strerror(errno)));
}

}  // namespace

AtomicFile::AtomicFile(std::string path, std::int64_t needed_bytes, const comm::Communicator& comm)
    : path_(std::move(path)), partial_path_(path_ + ".part"), comm_(comm) {
  comm_.barrier();  // a rank that failed on its way here ends the job: it must not leave a file
  comm_.together([&] {
    if (comm_.is_root()) check_space(path_, partial_path_, needed_bytes);
  });
}

AtomicFile::~AtomicFile() {
  if (!committed_ && comm_.is_root()) ::unlink(partial_path_.c_str());
}

void AtomicFile::commit() {
  comm_.barrier();
  comm_.together([&] {
    if (comm_.is_root()) replace(partial_path_, path_);
  });
  committed_ = true;
}

}  // namespace tessera::io
