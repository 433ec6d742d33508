#pragma once
/// How the figures of all epochs lie in a result: a column of `history` each.

#include <vector>

#include "tessera/io/hdf5.hpp"
#include "tessera/io/staged_file.hpp"

#include "run/history.hpp"

namespace tessera::run {

/// Collective.
void write_history(io::StagedFile& file, const std::vector<EpochFigures>& history);
/// @throws InputError: columns of unequal length, or numbers that no run writes
std::vector<EpochFigures> read_history(const io::File& file);

}  // namespace tessera::run
