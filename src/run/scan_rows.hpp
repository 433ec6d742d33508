#pragma once
/// Numbers of positions between their owners and the rows of a file: every rank reads or writes a
/// contiguous share of the rows, some at a time. Nothing grows with all positions.

#include <span>
#include <string>
#include <vector>

#include "tessera/io/hdf5.hpp"
#include "tessera/io/staged_file.hpp"

#include "run/scan.hpp"

namespace tessera::run {

/// A new dataset, whose first axis is scan positions. Collective.
/// @param local its rows of this rank's positions
/// @throws AgreedError
void write_rows(io::StagedFile& file, const std::string& name, const io::Extents& extents,
                const Scan& scan, std::span<const double> local, const comm::Communicator& comm);

/// The rows of this rank's positions. Collective.
/// @throws AgreedError: not as many rows, or not `columns` values in each
std::vector<double> read_rows(const io::File& file, const std::string& name, std::int64_t columns,
                              const Scan& scan, const comm::Communicator& comm);

/// All rows, on every rank: for what looks at the whole scan once, at the start. Collective.
std::vector<double> rows_of_all(const Scan& scan, const std::vector<double>& local,
                                const comm::Communicator& comm);

/// What windows lack of the grid's corners, by scan position. Collective.
std::vector<Vec2> subpixel_of_all(const Scan& scan, const comm::Communicator& comm);

}  // namespace tessera::run
