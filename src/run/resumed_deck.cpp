#include "run/resumed_deck.hpp"

#include <algorithm>
#include <cmath>

#include "tessera/base/text.hpp"

#include "deck/check.hpp"
#include "naming.hpp"
#include "result_file.hpp"

namespace tessera::run {
namespace {

/// Adds `what`, unless the deck fits it.
void keep(int& from_epoch, const char* what, std::string& kept) {
  if (from_epoch >= 0) return;
  from_epoch = deck::Refine::no_epoch;
  kept += text(kept.empty() ? "" : ", ", what);
}

/// @return the words for what `deck` did not ask for
std::string add_fitted(const FittedValues& fitted, deck::Deck& deck) {
  std::string kept;
  deck::Refine& refine = deck.refine;
  if (fitted.max_displacement_px > 0 && refine.positions_from_epoch < 0) {
    keep(refine.positions_from_epoch, "positions", kept);
    refine.positions_method = "gradient";
    refine.positions_limit_px = std::max(refine.positions_limit_px, fitted.max_displacement_px);
  }
  if (fitted.has_intensity) keep(refine.intensity_from_epoch, "intensities", kept);
  if (fitted.has_background) keep(refine.background_from_epoch, "background", kept);
  if (fitted.n_opr_modes > 0 && deck.probe.opr_modes == 0) {
    deck.probe.opr_modes = fitted.n_opr_modes;
    kept += text(kept.empty() ? "" : ", ", "OPR modes");
  }
  return kept;
}

}  // namespace

deck::Deck resumed_deck(const deck::Deck& deck, const comm::Communicator& comm, const Log& log) {
  if (deck.run.resume.empty() || !deck.run.resume_fitted) return deck;
  const FittedValues fitted = ResultFile(deck.run.resume, comm).fitted_values();
  deck::Deck whole = deck;
  comm.together([&] {
    const std::string kept = add_fitted(fitted, whole);
    if (kept.empty()) return;
    naming(text("run.resume = \"", deck.run.resume, "\" has fitted ", kept,
                " (run.resume_fitted = false drops them)"),
           [&] { deck::check(whole); });
    log.info(text("run.resume: ", kept, " as the result has them"));
  });
  return whole;
}

}  // namespace tessera::run
