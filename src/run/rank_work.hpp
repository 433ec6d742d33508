#pragma once
/// What ranks do in the batches of a run, on any number of them: counted from the plan, for the
/// cost model.

#include <vector>

#include "tessera/decomposition/halo_plan.hpp"

#include "cost/cost_model.hpp"
#include "run/planned_batches.hpp"

namespace tessera::run {

/// Of the first solver's batches. Pure.
/// @param scan laid out on one rank, so that it has the sub-pixel parts of all positions
/// @param near, reach of the plan's rank
/// @param on_gpu where it will run
std::vector<cost::BatchWork> work_of_rank(const Scan& scan, const decomposition::HaloPlan& plan,
                                          const decomposition::NearWindows& near,
                                          const decomposition::BatchReach& reach, int n_batches,
                                          bool on_gpu);

/// @throws InputError if the machine was measured in the other precision or has not the method
cost::RunShape run_shape(const Scan& scan, const decomposition::Tiling& tiling,
                         const cost::Machine& machine);

}  // namespace tessera::run
