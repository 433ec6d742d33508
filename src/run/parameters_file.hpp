#pragma once
/// What a run has fitted besides object and probe, in its result.

#include <string>
#include <vector>

#include "tessera/run/scan.hpp"
#include "tessera/io/hdf5.hpp"
#include "tessera/physics/parameters.hpp"

namespace tessera::run {

/// Every position's row of `local`, (position of this rank, columns), by scan position: the same on
/// all ranks; 0 for positions of no rank. Collective.
std::vector<double> rows_of_all(const Scan& scan, const std::vector<double>& local, int columns,
                                const comm::Communicator& comm);

/// (y, x) of this rank's rows, on the host.
std::vector<double> on_host(const device::DeviceView<double* [2]>& rows);

/// Below parameters/: displacement_px, opr_weight, intensity, background, slice_distance_m,
/// beam_tilt_rad, each if the model has it. Collective.
/// @param displacement_px of every position (y, x), the same on all ranks; empty: none
void write_parameters(io::File& file, const Scan& scan, const physics::Parameters& parameters,
                      const std::vector<double>& displacement_px, const comm::Communicator& comm);

/// How far every position has moved in the run that `run.resume` goes on with, pixels, within
/// `refine.positions_limit_px`; zeros without one, and where positions do not move. On every rank
/// alone.
/// @throws InputError naming path and dataset
std::vector<Vec2> start_displacement(const deck::Deck& deck, const Scan& scan);

/// The other parameters of a run that is resumed: what the file has becomes the start. On every
/// rank alone.
/// @throws InputError naming path and dataset
void read_parameters(const std::string& path, const Scan& scan,
                     const physics::Parameters& parameters);

}  // namespace tessera::run
