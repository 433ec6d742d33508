#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <tuple>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tessera/base/error.hpp"
#include "tessera/base/host.hpp"
#include "tessera/base/log.hpp"
#include "tessera/base/progress.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"

#include "save_steps.hpp"

namespace tessera::io {

void replace(const std::string& partial_path, const std::string& path) {
  const Descriptor file(::open(partial_path.c_str(), O_RDONLY));
  if (file.get() < 0 || ::fsync(file.get()) != 0 ||
      std::rename(partial_path.c_str(), path.c_str()) != 0)
    throw SystemError(
        text('"', partial_path, "\" cannot become \"", path, "\": ", std::strerror(errno)));
}

namespace {

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

void check_folder(const std::string& path) {
  const std::string folder = folder_of(path);
  if (std::filesystem::is_directory(path)) throw cannot_write(path, "it is a folder");
  if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path))
    throw cannot_write(path, "it is a pipe, socket or device, not a file; name another file");
  if (!std::filesystem::is_directory(folder))
    throw cannot_write(path, text("there is no folder \"", folder, "\"; make it first"));
}

void check_space(const std::string& path, const std::string& partial_path, std::int64_t n_bytes) {
  check_folder(path);
  const std::string folder = folder_of(path);
  // What a run that was killed has left goes; a link to elsewhere is not followed.
  ::unlink(partial_path.c_str());
  const Descriptor file(::open(partial_path.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0666));
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

/// Whether `descriptor` is still the file at `path`.
bool is_at(int descriptor, const std::string& path) {
  struct stat mine{};
  struct stat there{};
  return ::fstat(descriptor, &mine) == 0 && ::stat(path.c_str(), &there) == 0 &&
         mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

std::string content(int descriptor) {
  std::array<char, 256> words{};
  const ssize_t n = ::pread(descriptor, words.data(), words.size(), 0);
  return {words.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0))};
}

/// Who writes, for a lock.
std::string this_writer() {
  std::string writer = text("process ", ::getpid(), " on ", host_name());
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"})
    if (const char* job = std::getenv(name)) writer += text(" of job ", job);
  return writer;
}

struct Lock {
  int descriptor = -1;  ///< -1: taken, or files cannot be locked here
  std::string holder;   ///< empty unless another job has it
};

/// A locked file at `lock_path`.
Lock try_lock(const std::string& path, const std::string& lock_path) {
  for (;;) {
    const int file = ::open(lock_path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (file < 0) throw cannot_write(path, text('"', lock_path, "\": ", std::strerror(errno)));
    const bool is_locked = ::flock(file, LOCK_EX | LOCK_NB) == 0;
    // The job before may have removed the file since it was opened here.
    if (is_locked && is_at(file, lock_path)) return {file, ""};
    const bool is_taken = !is_locked && errno == EWOULDBLOCK;
    const std::string holder = is_taken ? text("another run writes it, ", content(file)) : "";
    ::close(file);
    if (!is_locked) return {-1, holder};
  }
}

}  // namespace

OutputLock::OutputLock(const std::string& path, const comm::Communicator& comm, double patience_s)
    : lock_path_(path + ".lock") {
  comm.barrier();  // as for AtomicFile
  for (double waited_s = 0;; ++waited_s) {
    bool is_taken = false;
    comm.together([&] {
      if (!comm.is_root()) return;
      check_folder(path);
      const Lock lock = try_lock(path, lock_path_);
      descriptor_ = lock.descriptor;
      is_taken = !lock.holder.empty();
      if (is_taken && waited_s >= patience_s)
        throw cannot_write(path, lock.holder + "; wait for its end or choose another file");
      if (is_taken && waited_s == 0)
        Log(true).info(text('"', path, "\": ", lock.holder, "; waiting for its end"));
    });
    if (!comm.any(is_taken)) break;
    note_progress();
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  const std::string writer = this_writer();
  // A lock without a name on a full disk is a lock all the same.
  if (descriptor_ >= 0 && ::ftruncate(descriptor_, 0) == 0)
    std::ignore = ::write(descriptor_, writer.data(), writer.size());
}

OutputLock::~OutputLock() {
  if (descriptor_ < 0) return;
  ::unlink(lock_path_.c_str());
  ::close(descriptor_);
}

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
  const Doing doing("bringing a file to its disk");
  comm_.together([&] {
    if (comm_.is_root()) replace(partial_path_, path_);
  });
  committed_ = true;
}

}  // namespace tessera::io
