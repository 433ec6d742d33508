#pragma once
/// The deck: everything that a run is told. What each section holds, with its defaults and keys, is
/// said in settings/.

#include <string>
#include <vector>

#include "settings/computation.hpp"
#include "settings/constraints.hpp"
#include "settings/data.hpp"
#include "settings/decomposition.hpp"
#include "settings/experiment.hpp"
#include "settings/object.hpp"
#include "settings/output.hpp"
#include "settings/probe.hpp"
#include "settings/refine.hpp"
#include "settings/simulation.hpp"
#include "settings/solver.hpp"
#include "settings/stop.hpp"
#include "settings/validation.hpp"

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
  std::string sample;
  std::string instrument;
  std::string measured_at;
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
