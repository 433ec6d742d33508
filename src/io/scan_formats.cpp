#include <array>

#include "scan_format.hpp"

namespace tessera::io {

ScanFormat hdf5_scans();    // hdf5_scan.cpp
ScanFormat memory_scans();  // memory_scan.cpp

std::span<const ScanFormat> scan_formats() {
  static const std::array formats{hdf5_scans(), memory_scans()};
  return formats;
}

}  // namespace tessera::io
