#pragma once
/// What the files of src/io share about HDF5: handles that close themselves, checked calls, types.

#include <functional>
#include <set>
#include <string>
#include <utility>

#include <hdf5.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"

#include "base/file_at_work.hpp"

namespace tessera::io {

/// Owns one HDF5 identifier.
class Hid {
 public:
  using Close = herr_t (*)(hid_t);

  Hid(hid_t id, Close close_with) : id_(id), close_(close_with) {}
  Hid(Hid&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hid& operator=(Hid&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hid() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }
  /// Close now. Negative if HDF5 could not.
  herr_t close() { return id_ < 0 ? 0 : close_(std::exchange(id_, -1)); }

 private:
  hid_t id_;
  Close close_;
};

/// Open MPI 4.1 writes past the end of the names that it makes of longer ones.
inline constexpr std::size_t max_path_of_mpi_io = 200;

/// Of a readable file, whatever its name.
bool is_hdf5(const std::string& path);

/// The innermost message on HDF5's error stack, which says what went wrong rather than where.
std::string hdf5_reason();

/// @throws SystemError("what: HDF5's reason") if `result` is negative
template <class Result>
Result check_hdf5(Result result, const std::string& what) {
  if (result < 0) throw SystemError(what + ": " + hdf5_reason());
  return result;
}

/// An identifier that was just made. @throws SystemError as check_hdf5
inline Hid checked(hid_t id, Hid::Close close_with, const std::string& what) {
  return {check_hdf5(id, what), close_with};
}

/// What `read` gives, which reads the file at `path`: what HDF5 refuses there is the file's fault.
/// A library that crashes there leaves the file's name.
/// @throws InputError in place of a SystemError
template <class Read>
auto reading(const std::string& path, const Read& read) -> decltype(read()) {
  const FileAtWork at_work(path);
  try {
    return read();
  } catch (const SystemError& error) {
    throw InputError(text('"', path, "\" cannot be read: ", error.what(),
                          "; it may be damaged: copy or write it again"));
  }
}

/// The type of a value in memory, which is also how new datasets store it.
Hid hdf5_type(ElementType type);
/// UTF-8 text: of variable length if `n_bytes` is H5T_VARIABLE.
Hid hdf5_text_type(std::size_t n_bytes);
ElementType element_type(hid_t type);

/// The text that `read(type, buffer)` reads from a dataset or attribute of text type `type`.
std::string read_hdf5_text(hid_t type, const std::function<herr_t(hid_t, void*)>& read,
                           const std::string& what);

/// What a file that several ranks write is open for. If one of them could not write the structure
/// of a file that all have open, as on a full disk, the others would wait for it inside HDF5: so
/// rank 0 alone writes structure, and while all have the file open only values are written.
enum class Phase { structure, values };

struct File::Handle {
  std::string path;
  Hid file;
  const comm::Communicator* comm = nullptr;  ///< null: opened by this rank alone
  Phase phase = Phase::values;
  Links links = Links::beside;
  std::set<std::string> reachable = {};  ///< datasets whose values lie where they may

  /// Runs `work` such that it fails on all ranks or on none.
  void agreed(const std::function<void()>& work) const {
    if (comm)
      comm->together(work);
    else
      work();
  }

  /// Closes and opens what the phase needs. Collective.
  void enter(Phase next);
  /// Runs `work`, which makes something in the file, on rank 0.
  void make(const std::function<void()>& work);
};

}  // namespace tessera::io
