#pragma once
/// The deck: everything that a run is told. What each section holds, with its defaults and keys, is
/// said in settings/.

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/settings/constraints.hpp"
#include "tessera/settings/data.hpp"
#include "tessera/settings/decomposition.hpp"
#include "tessera/settings/experiment.hpp"
#include "tessera/settings/object.hpp"
#include "tessera/settings/output.hpp"
#include "tessera/settings/probe.hpp"
#include "tessera/settings/refine.hpp"
#include "tessera/settings/run.hpp"
#include "tessera/settings/simulation.hpp"
#include "tessera/settings/stop.hpp"
#include "tessera/settings/validation.hpp"

namespace tessera::deck {

using settings::Constraints;
using settings::Data;
using settings::Decomposition;
using settings::Experiment;
using settings::Object;
using settings::Output;
using settings::Probe;
using settings::Refine;
using settings::Run;
using settings::Simulation;
using settings::Stop;
using settings::Validation;

struct Solver {
  std::string method = "rpie";
  int epochs = 100;
  int batch_size = 32;
  std::string batch_order = "spread";
  std::uint64_t seed = 1;
  double object_step = 0.5;
  double probe_step = 0.5;
  double object_alpha = 1.0;
  double probe_alpha = 1.0;
  double momentum = 0.5;
  double full_step_fraction = 0.33;
  double final_step = 0.2;
  int probe_start_epoch = 0;
  int orthogonalise_every = 1;
  double fourier_relaxation = 0.05;
  int overlap_rounds = 10;
  double overlap_tolerance = 0.05;
  double raar_beta = 0.75;
  int lbfgs_history = 8;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_epsilon = 1e-3;
  std::string noise = "amplitude";
};

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
  Run run;
  Output output;
  Simulation simulation;
};

}  // namespace tessera::deck
