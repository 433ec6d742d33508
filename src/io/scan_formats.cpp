#include <array>

#include "scan_format.hpp"

namespace tessera::io {

// described_formats.cpp
ScanFormat cxi_scans();
ScanFormat dectris_scans();
ScanFormat emd_scans();
ScanFormat hdf5_scans();
ScanFormat nion_scans();
ScanFormat ptychodus_scans();
ScanFormat ptypy_scans();
ScanFormat velox_scans();
// empad_format.cpp
ScanFormat empad_scans();
// mib_format.cpp
ScanFormat mib_scans();
// numpy_format.cpp
ScanFormat numpy_scans();
// dm_format.cpp
ScanFormat dm_scans();
// tiff_format.cpp
ScanFormat tiff_scans();
// matlab_format.cpp
ScanFormat matlab_scans();
// memory_scan.cpp
ScanFormat memory_scans();

std::span<const ScanFormat> scan_formats() {
  static const std::array formats{cxi_scans(),   dectris_scans(), emd_scans(),       velox_scans(),
                                  nion_scans(),  ptypy_scans(),   ptychodus_scans(), hdf5_scans(),
                                  numpy_scans(), mib_scans(),     empad_scans(),     dm_scans(),
                                  tiff_scans(),  matlab_scans(),  memory_scans()};
  return formats;
}

}  // namespace tessera::io
