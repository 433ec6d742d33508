#pragma once
/// HDF5 files, read and written by one rank or by all: handles that close themselves, checked
/// calls. hdf5.h itself is included in src/io only.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/image_stack.hpp"
#include "tessera/comm/communicator.hpp"

namespace tessera::io {

/// Version of the HDF5 library.
std::string library_version();

using Extents = std::vector<std::int64_t>;

/// Types of values in memory, and what is told apart of the types in files: i64 stands for every
/// integer that is not u8, u16 or u32, f32 and f64 also for floats of other widths, boolean for any
/// enumeration (h5py's bool is one).
enum class ElementType { u8, u16, u32, i64, f32, f64, complex64, complex128, boolean, text, other };
/// Bytes of one value in memory; 0 for text and other.
std::size_t size_of(ElementType type);
bool is_real(ElementType type);
bool is_complex(ElementType type);

struct DatasetInfo {
  Extents extents;
  ElementType type = ElementType::other;
  std::int64_t element_bytes = 0;            ///< of one value in the file, before compression
  std::int64_t stored_bytes = 0;             ///< of all values in the file, compressed
  Extents chunk;                             ///< empty: contiguous
  bool is_virtual = false;                   ///< it or its values lie in other files
  bool is_deflated = false;                  ///< compressed by gzip
  std::vector<std::string> missing_filters;  ///< compression that this HDF5 cannot undo, in words
  std::vector<std::string> missing_files;    ///< of a virtual dataset, which would read as zeros
};

/// Where the values of a file's datasets may lie if not in it: below its folder, or in any file
/// that this user can read, as data.follow_links allows.
enum class Links { beside, anywhere };

constexpr Links links(bool are_followed) {
  return are_followed ? Links::anywhere : Links::beside;
}

/// One open file. Opened with a communicator (which must outlive it), the calls marked collective
/// must be made by all its ranks, and if one fails anywhere all ranks throw AgreedError. The other
/// calls may be made by any rank alone.
class File {
 public:
  /// @throws InputError if the file is missing, not HDF5 or cut short; the message starts with the
  /// quoted path
  static File open(const std::string& path, Links links = Links::beside);
  static File open(const std::string& path, const comm::Communicator& comm,
                   Links links = Links::beside);  ///< collective
  /// Replaces what was at `path`. @throws SystemError
  static File create(const std::string& path);
  static File create(const std::string& path, const comm::Communicator& comm);  ///< collective
  /// The file, with all that is in it, to be written by this rank alone.
  /// @throws InputError as open, SystemError
  static File open_to_add(const std::string& path);
  File(File&&) noexcept;
  File& operator=(File&&) noexcept;
  ~File();

  const std::string& path() const;
  /// Close, reporting what the destructor would have to swallow. Collective.
  /// @throws SystemError
  void close();

  bool has(const std::string& name) const;
  bool has_dataset(const std::string& name) const;
  /// Paths of all datasets and groups below `group`, relative to it.
  std::vector<std::string> names(const std::string& group = "/") const;
  /// What `group` itself has, links to other files too; empty if there is no such group.
  std::vector<std::string> members(const std::string& group) const;
  /// @throws InputError naming file and dataset, a link that leads nowhere or to where it may not,
  /// and a dataset whose name differs only in case or is nearest
  DatasetInfo info(const std::string& name) const;

  /// Whole dataset of integers, booleans or floats.
  std::vector<double> read_doubles(const std::string& name) const;
  /// Shape of what read_waves() reads, no size beyond an int.
  /// @throws InputError: no wave
  Extents wave_extents(const std::string& name) const;
  /// (..., h, w), complex or real; leading axes are counted as one.
  WaveStack read_waves(const std::string& name) const;
  std::string read_text(const std::string& name) const;
  /// This rank's hyperslab, converted to `memory_type`; an empty one is allowed. Collective.
  void read_slab(const std::string& name, const Extents& begin, const Extents& count,
                 ElementType memory_type, void* values) const;
  /// The same by this rank alone.
  void read_slab_alone(const std::string& name, const Extents& begin, const Extents& count,
                       ElementType memory_type, void* values) const;

  /// Size of the open file at this moment, whatever its name now refers to. Only where this rank
  /// alone has opened it.
  std::int64_t bytes_on_disk() const;

  // Writing is collective. Groups on the way to a name are made; all ranks give the same names,
  // extents and (but for write_slab) values. Until it is closed, nothing of such a file can be
  // read.
  void create_group(const std::string& name);
  void create_dataset(const std::string& name, const Extents& extents, ElementType type);
  /// This rank's hyperslab; an empty one is allowed and still takes part.
  void write_slab(const std::string& name, const Extents& begin, const Extents& count,
                  ElementType memory_type, const void* values);
  void write_doubles(const std::string& name, const Extents& extents,
                     const std::vector<double>& values);
  void write_text(const std::string& name, const std::string& text);
  /// A soft link, within the file.
  void link(const std::string& name, const std::string& target);
  /// `object` is a dataset or group ("/" for the root); an attribute of that name is replaced.
  void set_attribute(const std::string& object, const std::string& name, double value);
  void set_attribute(const std::string& object, const std::string& name, const std::string& value);
  std::optional<double> number_attribute(const std::string& object, const std::string& name) const;
  /// @throws InputError if it is not finite and above 0
  std::optional<double> positive_attribute(const std::string& object,
                                           const std::string& name) const;
  std::optional<std::string> text_attribute(const std::string& object,
                                            const std::string& name) const;

 private:
  friend class SlabReader;
  struct Handle;
  explicit File(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

/// Host memory that inflating chunks takes besides what they hold.
inline constexpr std::int64_t inflating_bytes = 16 << 20;

/// One dataset of a file that must outlive it, open for many reads by this rank alone.
class SlabReader {
 public:
  /// @throws InputError if there is no such dataset
  SlabReader(const File& file, const std::string& name, ElementType memory_type);
  ~SlabReader();
  /// A hyperslab that lies inside the dataset. Allocates nothing of ours.
  /// @throws InputError naming file, dataset, slab and HDF5's reason
  void read(std::span<const std::int64_t> begin, std::span<const std::int64_t> count,
            void* values) const;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

/// As long as it lives, no other job that asks may write `path`: `path`.lock is locked and names
/// this one. A job that dies leaves the file, but no lock. Where files cannot be locked, nothing
/// is.
class OutputLock {
 public:
  /// Collective; `comm` must outlive it.
  /// @param patience_s for another job that writes it to end
  /// @throws AgreedError naming the path, and host, process and job that writes it; or why
  /// nobody can write there
  OutputLock(const std::string& path, const comm::Communicator& comm, double patience_s = 0);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

 private:
  std::string lock_path_;
  int descriptor_ = -1;  ///< of rank 0; negative: nothing is locked
};

/// Makes `path` appear whole or not at all: write to `partial_path()`, close it, then `commit()`.
/// Without commit the partial file is removed and what was at `path` stays.
class AtomicFile {
 public:
  /// Collective; `comm` must outlive it. Checks that the folder exists, is writable and has
  /// `needed_bytes` free (by reserving them for a moment), before anything is computed or written.
  /// @throws AgreedError naming the path, the bytes needed and the bytes free
  AtomicFile(std::string path, std::int64_t needed_bytes, const comm::Communicator& comm);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  const std::string& partial_path() const { return partial_path_; }
  /// Renames the partial file to `path`. Collective; every rank has closed the file. @throws
  /// AgreedError
  void commit();

 private:
  std::string path_;
  std::string partial_path_;
  const comm::Communicator& comm_;
  bool committed_ = false;
};

}  // namespace tessera::io
