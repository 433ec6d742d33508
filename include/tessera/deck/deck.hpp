#pragma once
/// The deck: everything that a run is told. What each section holds, with its defaults and keys, is
/// said in settings/.

#include <string>
#include <vector>

#include "tessera/settings/computation.hpp"
#include "tessera/settings/constraints.hpp"
#include "tessera/settings/data.hpp"
#include "tessera/settings/decomposition.hpp"
#include "tessera/settings/experiment.hpp"
#include "tessera/settings/object.hpp"
#include "tessera/settings/output.hpp"
#include "tessera/settings/probe.hpp"
#include "tessera/settings/refine.hpp"
#include "tessera/settings/simulation.hpp"
#include "tessera/settings/solver.hpp"
#include "tessera/settings/stop.hpp"
#include "tessera/settings/validation.hpp"

namespace tessera::deck {

using settings::Computation;
using settings::Constraints;
using settings::Data;
using settings::Decomposition;
using settings::Experiment;
using settings::Object;
using settings::Output;
using settings::Probe;
using settings::Refine;
using settings::Simulation;
using settings::Solver;
using settings::Stop;
using settings::Validation;

struct Deck {
  std::string title;
  Data data;
  Experiment experiment;
  Probe probe;
  Object object;
  std::vector<Solver> solvers = std::vector<Solver>(1);  ///< one after another; never empty
  Stop stop;
  Validation validation;
  Refine refine;
  Constraints constraints;
  Decomposition decomposition;
  Computation run;
  Output output;
  Simulation simulation;
};

}  // namespace tessera::deck
