#pragma once
/// The rates of windows of one size, from epochs of small synthetic scans.

#include <string>
#include <vector>

#include "tessera/comm/communicator.hpp"

#include "cost/machine.hpp"

namespace tessera::scaling {

/// Epochs of scans that differ in modes, batches, shifts and size, and the rates that explain them
/// best (least squares of relative errors, none below 0). On the calling rank alone.
/// @param cached_px of the machine
cost::WindowRates measure_window(int window_px, double cached_px);

/// Seconds of an epoch with shifts in bins. Collective over `comm`, whose ranks each run the whole
/// of it by themselves, all at once; the slowest rank's.
/// @param method solver.method; those that know no batches take the whole scan as one
double seconds_of_epoch(int window_px, const std::string& method, int n_batches,
                        const comm::Communicator& comm);

}  // namespace tessera::scaling
