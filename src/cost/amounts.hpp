#pragma once
/// What is to be done in a batch, as much of it as each of the rates prices.

#include <array>
#include <cstdint>
#include <utility>

#include "cost/machine.hpp"

namespace tessera::cost {

/// What one rank does in one batch, counted.
struct BatchWork {
  int border = 0;         ///< positions whose windows reach ghosts
  int interior = 0;       ///< the others
  int shifts = 0;         ///< shifted probes that they see
  int border_chunks = 0;  ///< in which those on the border are taken
  int interior_chunks = 1;
  bool many_shifts = false;      ///< so many that a GPU had rather shift the probe of every window
  std::int64_t touched_px = 0;   ///< of the rank's tile, in one plane
  std::int64_t sum_bytes = 0;    ///< sent to owners
  std::int64_t value_bytes = 0;  ///< sent to ghosts
};

/// Of the run, and of the device that does it.
struct BatchShape {
  int n_modes = 1;   ///< of the probe
  int n_planes = 1;  ///< of the object: slices and modes
  int at_once = 1;   ///< WindowRates
  int at_least = 0;
  double cached_px = 0;  ///< touched pixels of all planes that the cache holds; 0: no matter
};

/// As much of each as WindowRates prices.
struct Amounts {
  double positions = 0;
  double waves = 0;  ///< of one mode, or, where a device takes one at a time, of any
  double waves_of_modes = 0;
  double few_waves = 0;
  double far_waves = 0;
  double shifts = 0;
  double chip_shifts = 0;
  double touched_px = 0;
  double batch_modes = 0;
  double batches = 0;
  double epochs = 0;

  Amounts& operator+=(const Amounts& other);
};

/// What is counted, and its price.
inline constexpr std::array<std::pair<double Amounts::*, double WindowRates::*>, 11> priced{
    {{&Amounts::positions, &WindowRates::position_s},
     {&Amounts::waves, &WindowRates::wave_s},
     {&Amounts::waves_of_modes, &WindowRates::wave_of_modes_s},
     {&Amounts::few_waves, &WindowRates::few_wave_s},
     {&Amounts::far_waves, &WindowRates::far_wave_s},
     {&Amounts::shifts, &WindowRates::shift_s},
     {&Amounts::chip_shifts, &WindowRates::chip_shift_s},
     {&Amounts::touched_px, &WindowRates::touched_px_s},
     {&Amounts::batch_modes, &WindowRates::batch_mode_s},
     {&Amounts::batches, &WindowRates::batch_s},
     {&Amounts::epochs, &WindowRates::epoch_s}}};

double seconds(const Amounts& amounts, const WindowRates& rates);

/// Of one batch: what its positions on the border take, those within, and its updates.
struct BatchAmounts {
  Amounts border;
  Amounts interior;
  Amounts updates;
};
BatchAmounts amounts_of(const BatchWork& work, const BatchShape& shape);

}  // namespace tessera::cost
