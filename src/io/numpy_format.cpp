// NumPy's files: .npy and .npz.

#include <climits>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "array_file.hpp"
#include "flat_scan.hpp"
#include "numpy_file.hpp"

namespace tessera::io {
namespace {

/// The first array of an archive that is a stack of patterns, unless the source names one.
FlatPatterns numpy_patterns(const ScanSource& source) {
  const NumpyArray array = find_numpy_array(source.path, source.patterns);
  const Extents& extents = array.extents;
  const std::size_t n_axes = extents.size();
  if (n_axes != 3 && n_axes != 4)
    throw InputError(text("shape ", shape_text(extents),
                          "; it must be (position, y, x) or (scan_y, scan_x, y, x)"));
  std::int64_t n = 1;
  for (std::size_t i = 0; i < n_axes; ++i) {
    if (i + 2 < n_axes) n *= extents[i];
    if (extents[i] < 1 || extents[i] > INT_MAX || n > INT_MAX)
      throw InputError(text("shape ", shape_text(extents), " holds no or too many patterns"));
  }
  FlatPatterns flat{.path = source.path, .type = array.type, .first_byte = array.first_byte};
  flat.n_positions = static_cast<int>(n);
  if (n_axes == 4) flat.raster = {static_cast<int>(extents[0]), static_cast<int>(extents[1])};
  flat.shape = {static_cast<int>(extents[n_axes - 2]), static_cast<int>(extents[n_axes - 1])};
  return flat;
}

std::optional<ScanDescription> describe_numpy(const std::string& path) {
  ScanDescription scan;
  scan.what = "NumPy file";
  if (!is_numpy_archive(path)) return scan;
  scan.what = "NumPy archive";
  for (const std::string& name : numpy_names(path)) {
    const Extents extents = find_numpy_array(path, name).extents;
    if (extents.size() == 3 || extents.size() == 4) scan.patterns = name;
    if (extents.size() == 2 && extents[1] == 2) scan.positions = name;
    if (name.find("mask") != std::string::npos) scan.valid_pixels = name;
  }
  return scan;
}

}  // namespace

ScanFormat numpy_scans() {
  return {"numpy", "a NumPy file",
          [](const ScanSource& source) {
            return is_numpy(source.path) || is_numpy_archive(source.path);
          },
          [](const ScanSource& source, const comm::Communicator*) {
            return open_flat_scan(numpy_patterns(source), source);
          },
          [](const ScanSource& source) { return describe_numpy(source.path); }};
}

}  // namespace tessera::io
