#pragma once
/// What a machine can do, as `tessera_bench machine` has measured it.

#include <map>
#include <string>
#include <vector>

namespace tessera::cost {

/// Seconds of the parts of an epoch of the default method, for square windows of one size.
struct WindowRates {
  double window_px = 0;
  double position_s = 0;       ///< a position: its counts, its part of the object
  double wave_s = 0;           ///< a position and probe mode, to the detector and back
  double wave_of_modes_s = 0;  ///< the same where a GPU takes several modes together
  double few_wave_s = 0;       ///< the same of so few that they do not fill a GPU
  double far_wave_s = 0;       ///< besides, as far as the cache does not hold what waves add to
  double shift_s = 0;          ///< a shifted probe of one mode, and its sum back
  double chip_shift_s = 0;     ///< the same where a GPU makes it for every window
  double touched_px_s = 0;     ///< an object pixel that a batch touches: its update
  double batch_s = 0;          ///< a batch, however small
  double batch_mode_s = 0;     ///< a batch and probe mode: the probe's update
  double epoch_s = 0;          ///< an epoch, however small
  double transform_s = 0;      ///< one bare transform
  int at_once = 1;   ///< waves that a GPU keeps on the chip; 1: it takes one after another
  int at_least = 0;  ///< fewer waves do not fill it
  /// Of all of these, with as many ranks at work on this host as Machine::links has rows; 1: none.
  std::vector<double> slowdown = {};
};

/// Between ranks, all of them at it at once.
struct Link {
  int n_ranks = 1;
  double latency_s = 0;               ///< of an exchange with a neighbour, however short
  double bytes_per_s = 0;             ///< that a rank sends while it receives as many
  double all_reduce_step_s = 0;       ///< of a short all-reduce, over log2 of the ranks
  double all_reduce_bytes_per_s = 0;  ///< of a long one, 2 (1 - 1 / ranks) times its bytes
};

/// Beside the default method.
struct MethodCost {
  double factor = 1;   ///< of what positions and updates take
  double batch_s = 0;  ///< besides, of a batch, however small
};

struct Machine {
  std::string name;
  bool on_gpu = false;
  int cores = 0;  ///< of the host, which more ranks share by turns; 0: each rank has its own device
  int real_bytes = 4;
  double copy_bytes_per_s = 0;       ///< of a large array, read + written
  double flops_per_s = 0;            ///< of independent multiply-adds
  double file_bytes_per_s = 0;       ///< one rank reads a file that is not in memory
  double cache_bytes = 0;            ///< of a GPU, between its memory and all that computes
  std::vector<WindowRates> windows;  ///< ascending, at least one
  std::vector<Link> links;           ///< ascending in ranks, the first of 1 rank
  std::map<std::string, MethodCost> methods;
};

/// Object pixels of all planes that the cache holds with their sums and their dose; 0: no matter.
double cached_px(const Machine& machine);

/// Ranks that take turns at a core of a host, whose rates are times at work; 1: each has its own.
/// Those beyond what was measured are on further hosts.
double turns(const Machine& machine, int n_ranks);

/// For windows and ranks that were measured, these; between, on a straight line (windows: by pixel,
/// over the logarithm of the side); beyond, as at the last. The slowdown is in it. `at_once` and
/// `at_least` are those of the next smaller window.
WindowRates rates_for(const Machine& machine, double window_px, int n_ranks);

/// The same for messages; beyond the ranks that were measured, as among these.
Link link_for(const Machine& machine, int n_ranks);

}  // namespace tessera::cost
