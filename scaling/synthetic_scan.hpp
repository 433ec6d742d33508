#pragma once
/// A scan of any size without a file: the patterns are computed where they stay, on the device.

#include "tessera/base/image_stack.hpp"

#include "deck/deck.hpp"
#include "run/scan.hpp"
#include "synthetic_case.hpp"

namespace tessera::scaling {

/// The sample at an object pixel: smooth, weakly absorbing, the same for every case.
KOKKOS_FUNCTION inline Kokkos::complex<double> transmission(int y, int x) {
  using device::math::cos;
  using device::math::sin;
  const double phase_rad = 0.4 * sin(0.31 * y + 0.17 * x) + 0.3 * sin(0.23 * x - 0.11 * y) +
                           0.2 * sin(0.07 * (x + y)) * sin(0.47 * x);
  const double amplitude = 0.95 - 0.05 * sin(0.13 * y - 0.29 * x);
  return {amplitude * cos(phase_rad), amplitude * sin(phase_rad)};
}

/// The deck that belongs to a case: geometry, a start probe with a somewhat wrong defocus, compact
/// batches of 256. `overrides` are those of a command line.
/// @throws InputError
deck::Deck synthetic_deck(const SyntheticCase& wanted, const std::vector<std::string>& overrides);

/// What the sample was lit with, in photons: the start probe of the deck at its true defocus.
WaveStack true_probe(const deck::Deck& deck, const geometry::Optics& optics, int window_px);

/// A jittered raster as far as it is known before its patterns. Collective. @throws AgreedError
run::Scan lay_out_synthetic_scan(const deck::Deck& deck, const SyntheticCase& wanted,
                                 const comm::Communicator& comm);

/// The same with this rank's tile, its patterns as rounded counts of 16 bits, a few pixels
/// that are not valid. The same counts, to rounding, on any number of ranks. Collective.
/// @throws AgreedError
run::Scan make_synthetic_scan(const deck::Deck& deck, const SyntheticCase& wanted,
                              const comm::Communicator& comm);

}  // namespace tessera::scaling
