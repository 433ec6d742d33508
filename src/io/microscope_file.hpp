#pragma once
/// What a microscope writes beside a detector's master file.

#include <cstdint>
#include <string>

#include "scan_description.hpp"

namespace tessera::io {

/// Looks for NAME_em_metadata.h5 (NXem) and NAME.h5 (NOVENA) beside NAME_master.h5.
void state_microscope_beside(const std::string& master, std::int64_t n_frames,
                             ScanDescription& scan);

}  // namespace tessera::io
