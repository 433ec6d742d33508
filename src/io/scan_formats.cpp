#include <array>

#include "scan_format.hpp"

namespace tessera::io {

// Each stands in the file of its format, describe_<name>.cpp or <name>_format.cpp.
ScanFormat cxi_scans();
ScanFormat dectris_scans();
ScanFormat emd_scans();
ScanFormat velox_scans();
ScanFormat nion_scans();
ScanFormat ptypy_scans();
ScanFormat ptychodus_scans();
ScanFormat hdf5_scans();  // described_formats.cpp
ScanFormat numpy_scans();
ScanFormat mib_scans();
ScanFormat empad_scans();
ScanFormat dm_scans();
ScanFormat tiff_scans();
ScanFormat matlab_scans();
ScanFormat raw_scans();
ScanFormat memory_scans();  // memory_scan.cpp

std::span<const ScanFormat> scan_formats() {
  static const std::array formats{
      cxi_scans(),   dectris_scans(), emd_scans(),       velox_scans(),
      nion_scans(),  ptypy_scans(),   ptychodus_scans(), hdf5_scans(),
      numpy_scans(), mib_scans(),     empad_scans(),     dm_scans(),
      tiff_scans(),  matlab_scans(),  raw_scans(),       memory_scans()};
  return formats;
}

}  // namespace tessera::io
