#pragma once
/// Two halves of a scan, reconstructed apart from one another: up to which frequency they agree
/// says what the data resolve.

#include <optional>
#include <vector>

#include "analysis/ring_correlation.hpp"
#include "run/requests.hpp"
#include "run/run.hpp"

namespace tessera::run {

struct Halves {
  analysis::RingCorrelation rings;
  double one_bit_fraction = 0;  ///< of the Nyquist frequency
  double half_bit_fraction = 0;
  double pixel_m = 0;

  /// Half a period of the finest detail up to that fraction; 0: nothing is resolved.
  double half_period_m(double fraction) const { return fraction > 0 ? pixel_m / fraction : 0; }
};

/// Both halves, one after the other on all ranks, from the deck's start, with as many epochs of
/// every solver as the whole scan had. All ranks compare them, block by block. Collective.
/// @param history of the whole scan
/// @return the same on all ranks; none if a half did not come to its end, and a line says why
/// @throws AgreedError
std::optional<Halves> reconstruct_halves(const deck::Deck& deck,
                                         const std::vector<EpochFigures>& history,
                                         const comm::Communicator& comm, Requests& requests);

/// Adds them to the result at output.file, which stays whole or as it was. Collective.
/// @throws AgreedError
void add_to_result(const Halves& halves, const deck::Deck& deck, const comm::Communicator& comm);

}  // namespace tessera::run
