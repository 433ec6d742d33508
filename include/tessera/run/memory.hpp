#pragma once
/// What a rank of a run will hold, and where the patterns stay for that.

#include "tessera/run/scan.hpp"
#include "tessera/comm/communicator.hpp"
#include "tessera/deck/deck.hpp"
#include "tessera/decomposition/memory_plan.hpp"

namespace tessera::run {

/// Every position sees a probe of its own, because its shift or its beam are fitted or it moves.
bool has_own_probes(const deck::Deck& deck);
/// True where cross-correlation refines the positions.
bool correlates_positions(const deck::Deck& deck);

/// Reals per pixel of the largest exchange: object sums (complex) and illumination of every plane.
int max_reals_per_pixel(const deck::Deck& deck);

/// Positions that are computed together, at most.
int chunk_size(const deck::Deck& deck, Shape2 window);
/// Shifted probes that are kept at a time, at most.
int max_slots(const deck::Deck& deck, Shape2 window);
/// Positions of a chunk for a rank with `n_positions`: no chunk is larger than a batch or the
/// rank's share.
int most_in_chunk(const deck::Deck& deck, Shape2 window, std::size_t n_positions);

/// Every array of rank `rank` of `tiling` in a run of `deck`.
decomposition::MemoryNeeds memory_needs(const deck::Deck& deck, const io::ScanInfo& info,
                                        const decomposition::Tiling& tiling, int rank,
                                        bool has_subpixel);

/// The best place of the patterns that fits on every rank, with this rank's arrays. Limits are the
/// deck's, else what there is, shared among the ranks of a host or GPU as they need it. Collective.
/// @param scan with everything but patterns
/// @throws AgreedError (bad input) if nothing fits, naming a rank, the bytes and what would do
decomposition::MemoryPlan agreed_memory_plan(const deck::Deck& deck, const Scan& scan,
                                             const comm::Communicator& comm);

}  // namespace tessera::run
