#pragma once
/// What is simulated: pure data, the same on every rank, and small (nothing of the object's or the
/// patterns' size).

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tessera/base/image_stack.hpp"
#include "tessera/geometry/pixel_size.hpp"
#include "tessera/geometry/windows.hpp"

#include "deck/deck.hpp"
#include "phantom.hpp"

namespace tessera::simulation {

struct SimulatedScan {
  deck::Experiment experiment;
  geometry::Optics optics;
  std::vector<Vec2> positions_m;           ///< where the beam was
  std::vector<Vec2> recorded_positions_m;  ///< where the file says that it was
  geometry::WindowGrid windows;            ///< of where it was
  std::vector<Vec2> fly_offsets_px;        ///< exposures about a position; one if the stage stood
  std::shared_ptr<const Crystal> crystal;  ///< that the slices are of; none: another sample
  std::vector<Phantom> slices;             ///< along the beam
  std::vector<WaveStack> to_next_slice;    ///< propagators, of every gap
  WaveStack to_detector;                   ///< propagator; empty: the Fourier transform
  WaveStack probe;                         ///< the true modes
  WaveStack drift_modes;                   ///< none or two, added to the first mode
  std::vector<Vec2> drift_weights;         ///< of the two, per position
  std::vector<double> intensity;           ///< relative beam current, per position
  ImageStack<double> background;           ///< (1, h, w), counts; empty: none
  std::optional<double>
      saturation_counts;  ///< level at which patterns were clipped, once it is known
  ImageStack<std::uint8_t> valid_pixels;  ///< 1 = trust, laid out as intensities()
  ImageStack<std::uint8_t> hot_pixels;    ///< 1 = not valid and stuck at its highest value
};

/// @throws InputError naming the key that does not fit
SimulatedScan plan_scan(const deck::Deck& deck);

}  // namespace tessera::simulation
