#pragma once
/// A scan whose patterns are turned as data.transpose turns them.

#include <memory>

#include "io/scan_format.hpp"

namespace tessera::analysis {

std::unique_ptr<io::ScanReader> transposed(std::unique_ptr<io::ScanReader> recorded);

}  // namespace tessera::analysis
