#include <array>
#include <filesystem>
#include <string_view>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "hdf5_handle.hpp"
#include "readable_file.hpp"

namespace tessera::io {
namespace {

/// Debian has some compression filters for the serial HDF5 only. They are no different.
void find_serial_plugins() {
  std::array<char, 4096> path{};
  unsigned n = 0;
  if (H5PLsize(&n) < 0 || n == 0 || H5PLget(0, path.data(), path.size()) <= 0) return;
  std::string folder = path.data();
  for (const std::string_view parallel : {"/openmpi/", "/mpich/"})
    if (const std::size_t at = folder.find(parallel); at != std::string::npos)
      H5PLappend(folder.replace(at, parallel.size(), "/serial/").c_str());
}

/// Errors become exceptions with one reason, so HDF5's own print-out goes off. So does its clean-up
/// at exit: a program that aborts must not flush files whose other ranks are gone.
void prepare_hdf5() {
  static const bool done = [] {
    H5dont_atexit();  // fails harmlessly if HDF5 was opened before
    // Any other first call may crash where memory is short, and so may asking for the reason.
    if (H5open() < 0)
      throw SystemError(
          "the HDF5 library does not start, as a rule for want of memory (ulimit -v); allow more, "
          "or use more ranks");
    find_serial_plugins();
    return H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
  }();
  if (!done) throw SystemError("HDF5 does not hand over its error messages");
}

void check_is_hdf5(const std::string& path) {
  check_readable(path);
  if (!is_hdf5(path)) throw InputError(text('"', path, "\" is not an HDF5 file"));
}

/// Large datasets begin at a whole stripe of a parallel file system, whose stripes are multiples of
/// 64 KiB and as a rule of 1 MiB: their first writer does not share it with what lies before them.
constexpr hsize_t stripe_bytes = 1 << 20;

Hid file_access(const comm::Communicator* comm) {
  Hid access = checked(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "preparing file access");
  check_hdf5(H5Pset_alignment(access, stripe_bytes, stripe_bytes), "preparing file access");
  if (comm) check_hdf5(H5Pset_fapl_mpio(access, comm->handle(), MPI_INFO_NULL), "choosing MPI-IO");
  return access;
}

Hid open_file(const std::string& path, const comm::Communicator* comm) {
  const FileAtWork at_work(path);
  // Without MPI-IO each rank reads by itself, which it may.
  const Hid access = file_access(path.size() > max_path_of_mpi_io ? nullptr : comm);
  Hid file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
  if (file >= 0) return file;
  const std::string reason = hdf5_reason();
  if (reason.find("truncated") == std::string::npos)
    throw InputError(text('"', path, "\" cannot be opened: ", reason));
  throw InputError(text('"', path, "\" is cut short, at ", std::filesystem::file_size(path),
                        " bytes (", reason, "); copy or write it again"));
}

Hid create_file(const std::string& path) {
  const Hid access = file_access(nullptr);
  return checked(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose,
                 text('"', path, "\" cannot be created"));
}

Hid open_to_write(const std::string& path, const comm::Communicator* comm) {
  if (comm && path.size() > max_path_of_mpi_io)
    throw InputError(text('"', path, "\" cannot be written: MPI-IO takes paths of at most ",
                          max_path_of_mpi_io,
                          " characters; start in its folder or choose another name"));
  const Hid access = file_access(comm);
  return checked(H5Fopen(path.c_str(), H5F_ACC_RDWR, access), H5Fclose,
                 text('"', path, "\" cannot be written"));
}

}  // namespace

void File::Handle::enter(Phase next) {
  if (!comm || phase == next) return;
  comm->together([&] { check_hdf5(file.close(), text('"', path, "\" cannot be written")); });
  comm->together([&] {
    if (next == Phase::values)
      file = open_to_write(path, comm);
    else if (comm->is_root())
      file = open_to_write(path, nullptr);
  });
  phase = next;
}

void File::Handle::make(const std::function<void()>& work) {
  enter(Phase::structure);
  agreed([&] {
    if (!comm || comm->is_root()) work();
  });
}

bool is_hdf5(const std::string& path) {
  prepare_hdf5();
  return H5Fis_hdf5(path.c_str()) > 0;
}

std::string library_version() {
  prepare_hdf5();
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return text(major, ".", minor, ".", release);
}

File::File(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;
File::~File() = default;

File File::open(const std::string& path, Links links) {
  prepare_hdf5();
  check_is_hdf5(path);
  auto handle = std::make_unique<Handle>(Handle{path, open_file(path, nullptr)});
  handle->links = links;
  return File(std::move(handle));
}

File File::open(const std::string& path, const comm::Communicator& comm, Links links) {
  prepare_hdf5();
  comm.together([&] {
    if (comm.is_root()) check_is_hdf5(path);
  });
  auto handle = std::make_unique<Handle>(Handle{path, Hid(-1, H5Fclose), &comm});
  handle->links = links;
  comm.together([&] { handle->file = open_file(path, &comm); });
  return File(std::move(handle));
}

File File::create(const std::string& path) {
  prepare_hdf5();
  return File(std::make_unique<Handle>(Handle{path, create_file(path)}));
}

File File::create(const std::string& path, const comm::Communicator& comm) {
  prepare_hdf5();
  auto handle = std::make_unique<Handle>(Handle{path, Hid(-1, H5Fclose), &comm, Phase::structure});
  comm.together([&] {
    if (comm.is_root()) handle->file = create_file(path);
  });
  return File(std::move(handle));
}

File File::open_to_add(const std::string& path) {
  prepare_hdf5();
  check_is_hdf5(path);
  return File(std::make_unique<Handle>(Handle{path, open_to_write(path, nullptr)}));
}

const std::string& File::path() const {
  return handle_->path;
}

void File::close() {
  handle_->agreed(
      [&] { check_hdf5(handle_->file.close(), text('"', path(), "\" cannot be finished")); });
}

}  // namespace tessera::io
