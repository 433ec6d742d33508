#pragma once
/// Datasets that follow one another along their first axis: one, or as many as a name with stars
/// stands for.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tessera/io/hdf5.hpp"

namespace tessera::io {

/// The datasets that `name` stands for, in order: "entry/data/data_*" for data_000001, data_000002,
/// ...; shorter names come first. A name without a star stands for itself, whether it is there or
/// not.
/// @throws InputError if none fits
std::vector<std::string> series_names(const File& file, const std::string& name);

/// What they are together. @throws InputError naming the file, and one that does not go with the
/// first
DatasetInfo series_info(const File& file, const std::string& name);

/// Reads them like one dataset, by this rank alone. The file must outlive it.
class SeriesReader {
 public:
  SeriesReader(const File& file, const std::string& name, ElementType memory_type);
  /// As SlabReader::read.
  void read(std::span<const std::int64_t> begin, std::span<const std::int64_t> count, void* values);

 private:
  struct Part {
    std::string name;
    std::int64_t begin = 0;  ///< along the first axis
    std::int64_t end = 0;
  };
  void open(const Part& part);

  const File& file_;
  ElementType memory_type_;
  std::vector<Part> parts_;
  const Part* open_part_ = nullptr;
  std::unique_ptr<SlabReader> reader_;  ///< of open_part_
};

}  // namespace tessera::io
