#pragma once
/// Small arrays that lie apart from the patterns: in HDF5, in NumPy's files, in text. Every
/// function throws InputError that names the file and what is wrong.

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/box.hpp"
#include "tessera/base/image_stack.hpp"
#include "tessera/io/hdf5.hpp"

#include "io/scan_reader.hpp"

namespace tessera::io {

struct Array {
  Extents extents;
  std::vector<double> values;
};

/// `(3, 4)`
std::string shape_text(const Extents& extents);

/// @param name of a dataset, or of an array of .npz; means nothing in .npy and text
Array read_array(const std::string& path, const std::string& name, Links links = Links::beside);

/// The names between commas.
std::vector<std::string> listed_names(const std::string& names);

/// Columns of one array (position, columns) or (columns, position), or one array of y and one of x,
/// as the source says.
/// @return metres
std::vector<Vec2> positions_of(std::vector<Array> arrays, const ScanSource& source);
std::vector<Vec2> read_positions_file(const ScanSource& source);

/// (h, w) or (n, h, w).
/// @param shape that images must have
ImageStack<double> images_of(const Array& array, Shape2 shape);

/// 1 where `bad` is 0, or has only bits of `harmless`; else 0.
ImageStack<double> trusted_pixels(const ImageStack<double>& bad, std::uint32_t harmless = 0);

}  // namespace tessera::io
