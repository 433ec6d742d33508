#pragma once
/// What `tessera convert` writes, a function for each kind of file.

#include <string>
#include <vector>

#include "tessera/base/image_stack.hpp"

#include "io/scan_format.hpp"

namespace tessera::analysis {

inline constexpr double joules_per_eV = 1.602176634e-19;

/// What of a result other programs have a place for.
struct ExportedResult {
  WaveStack object;  ///< (modes and slices, H, W)
  WaveStack probe;   ///< (modes, h, w)
  std::vector<Vec2> positions_m;
  Vec2 origin_m;  ///< position of object pixel (0, 0)
  double pixel_m = 0;
  double wavelength_m = 0;
  std::string title;
  std::string sample;
  std::string instrument;
  std::string measured_at;
};

// Each on the calling rank alone. @throws SystemError if the file cannot be written
void write_cxi_result(const std::string& path, const ExportedResult& result);
void write_ptyr(const std::string& path, const ExportedResult& result);
void write_npz_result(const std::string& path, const ExportedResult& result);
void write_mat_result(const std::string& path, const ExportedResult& result);
void write_tiff_result(const std::string& path, const ExportedResult& result);

/// The scan as CXI: patterns in their own type, masks, dark, positions, experiment.
/// @return what the file could not be told, lines
/// @throws InputError, SystemError
std::string write_cxi_scan(const std::string& path, const io::DescribedScan& scan);

}  // namespace tessera::analysis
