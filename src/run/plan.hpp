#pragma once
/// What a run is made of, resolved once: everything that follows from the deck and from what is
/// known of the scan before a pattern is read, and what few counts have settled (few_counts.hpp).
/// Whoever needs any of it takes it from here.

#include <cstddef>
#include <vector>

#include "tessera/geometry/pixel_size.hpp"
#include "tessera/geometry/windows.hpp"
#include "tessera/physics/model_options.hpp"

#include "deck/deck.hpp"
#include "io/scan_reader.hpp"

namespace tessera::run {

struct Plan {
  geometry::Optics optics;
  physics::ModelOptions model;  ///< with room for the widest of the deck's solvers
  int shared_slots = 0;         ///< of these max_slots, for shifts that chunks of a batch share
  bool has_background = false;  ///< given, or fitted
  int window_margin_px = 0;     ///< of the object around the windows as the scan has them
  int reach_px = 0;        ///< that windows lie or move beyond where tiles are cut for, at most
  int tile_margin_px = 0;  ///< of tiles around their windows: for that, and for stencils
  std::vector<deck::Solver> solvers;  ///< the deck's, with their batch_size, without batch_coverage
  int widest_batch = 0;               ///< of all solvers, positions; 0: the whole scan
  int max_reals_per_pixel = 0;  ///< of an exchange: object sums, complex and real, of every plane

  int n_probe_images() const { return model.n_modes + model.n_opr_modes; }
  /// Positions of a chunk for a rank with `n_positions`, at most: no chunk is larger than a batch
  /// or the rank's share.
  int max_in_chunk(std::size_t n_positions) const;
  /// `model` on such a rank: on a device without room that no chunk there fills.
  physics::ModelOptions model_for(std::size_t n_positions) const;
};

/// @throws InputError: patterns that are not square in the far field
Plan make_plan(const deck::Deck& deck, const io::ScanInfo& info);

/// Adds the solvers with their batches, which depend on where the windows lie.
void plan_batches(const deck::Deck& deck, const geometry::WindowGrid& grid, Plan& plan);

/// What a run begins with where the word leaves it open.
physics::Noise noise_from(const std::string& word);
/// The deck's word for it; of stabilised amplitudes, which it cannot ask for, none.
std::string noise_word(physics::Noise noise);

}  // namespace tessera::run
