#pragma once
/// HDF5 files in two stages: what is in the file, by rank 0 and HDF5; then the values, by every
/// rank, from memory to where they lie, by plain writes that any thread may make.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tessera/io/fresh_bytes.hpp"
#include "tessera/io/hdf5.hpp"

namespace tessera::io {

/// Until make_structure() nothing is written, and nothing communicates. All ranks make the same
/// calls; those of the structure mean something on rank 0 alone.
class StagedFile {
 public:
  /// `comm` and `memory` must outlive it.
  /// @param memory of what is kept until it is written
  StagedFile(std::string path, const comm::Communicator& comm, CopyMemory& memory);
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  void create_dataset(const std::string& name, const Extents& extents, ElementType type);
  /// Room for the values of a hyperslab.
  FreshBytes room(std::int64_t n_bytes);
  /// This rank's hyperslab of a dataset made here, as its type stores it: kept until it is written.
  void write_slab(const std::string& name, const Extents& begin, const Extents& count,
                  FreshBytes values);
  void write_slab(const std::string& name, const Extents& begin, const Extents& count,
                  const void* values);
  void write_doubles(const std::string& name, const Extents& extents, std::vector<double> values);
  void write_text(const std::string& name, std::string words);
  void set_attribute(const std::string& object, const std::string& name, double value);
  void set_attribute(const std::string& object, const std::string& name, const std::string& value);

  /// The file, with room for all values. Collective. @throws AgreedError
  void make_structure();
  /// Gives what is kept to at most so many ranks of each host, which write it in long pieces that
  /// lie together, unless one would get more than 256 MiB. Collective. After make_structure().
  void hand_to_writers(int per_host);
  /// A hyperslab of which nothing is kept. After make_structure().
  /// @throws InputError: the disk is full
  void write_slab_now(const std::string& name, const Extents& begin, const Extents& count,
                      const void* values) const;
  /// All that is kept, to the disk. From any thread, without HDF5 and MPI.
  /// @throws InputError: the disk is full
  void write_values() const;

 private:
  struct Dataset {
    std::string name;
    Extents extents;
    std::int64_t value_bytes;
    std::int64_t place = 0;  ///< of its first value in the file
  };
  struct Slab {
    std::size_t dataset;
    Extents begin;
    Extents count;
    FreshBytes values;
  };
  std::size_t number_of(const std::string& name) const;
  /// f(place in the dataset, place in the hyperslab, bytes): whatever is whole in the trailing axes
  /// is one run.
  template <class F>
  static void for_each_run(const Dataset& dataset, const Extents& begin, const Extents& count,
                           const F& f);
  /// f(number of the writer, place in the file, bytes, how many): runs, cut where writers' parts
  /// end.
  template <class F>
  void for_each_piece(const Slab& slab, int n_writers, const F& f) const;
  void write_runs(int descriptor, const Dataset& dataset, const Extents& begin,
                  const Extents& count, const char* values) const;

  std::string path_;
  const comm::Communicator& comm_;
  CopyMemory& memory_;
  std::vector<std::function<void(File&)>> structure_;
  std::vector<Dataset> datasets_;
  std::vector<Slab> slabs_;
  std::optional<FreshBytes> gathered_;  ///< in the place of slabs, once writers have them
};

}  // namespace tessera::io
