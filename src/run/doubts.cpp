#include "run/doubts.hpp"

#include <algorithm>
#include <cmath>

#include "tessera/base/text.hpp"

#include "deck/keys.hpp"
#include "decomposition/batch_size.hpp"
#include "set_up.hpp"

namespace tessera::run {
namespace {

struct Trust {
  std::int64_t n_trusted;
  std::int64_t n_recorded;  ///< as they are used: cut and binned
};

Trust trust(const Scan& scan) {
  const Shape2 binned = scan.info.frame.binned();
  const Shape2 pattern = scan.info.pattern;
  const Shape2 recorded{std::min(binned.h, pattern.h), std::min(binned.w, pattern.w)};
  return {scan.info.n_trusted(), recorded.size()};
}

/// The first of `solver`'s, half as many again, and so on, with which no rank is idle; 0: none but
/// the whole scan.
int busy_batch_size(deck::Solver solver, const Scan& scan) {
  const int n_fitted = scan.n_fitted();
  int size = std::max(solver.batch_size.value(), static_cast<int>(scan.tiling.tiles.size()));
  for (; size < n_fitted; size += (size + 1) / 2) {
    solver.batch_size = size;
    if (decomposition::idle_share(batch_schedule(solver, scan), scan.tiling, scan.corner()) == 0)
      return size;
  }
  return 0;
}

/// @param solver one in whose batches ranks are idle
std::string remedy(const std::string& section, deck::Solver solver, const Scan& scan) {
  const bool is_compact = solver.batch_order == "compact";
  if (is_compact) solver.batch_order = "spread";
  const std::string order = is_compact ? section + ".batch_order = \"spread\" and " : "";
  const int size = busy_batch_size(solver, scan);
  if (size == 0) return text(order, section, ".batch_size = 0, the whole scan");
  const double coverage = size / decomposition::covered_windows(scan.grid.corner, scan.grid.window);
  return text(order, section, ".batch_size = ", size, " (a coverage of ",
              settings::number_text(std::round(100 * coverage) / 100), ")");
}

std::string suspects(const deck::Deck& deck, const Scan& scan) {
  const auto [n_trusted, n_recorded] = trust(scan);
  return text("Suspect the probe (probe.initial = \"", deck.probe.initial,
              "\" and its keys), the distance (experiment.distance_m and the detector's pixel, "
              "which make object pixels of ",
              scan.grid.pixel_m, " m), and the mask (", n_trusted, " of ", n_recorded,
              " pixels are trusted)");
}

/// The first of `n`, by name(i), and whether there are more.
template <class Name>
std::string first_of(std::size_t n, std::size_t most_named, const Name& name) {
  std::vector<std::string> names;
  names.reserve(std::min(n, most_named));
  for (std::size_t i = 0; i < std::min(n, most_named); ++i) names.push_back(name(i));
  return joined(names) + (n > most_named ? " ..." : "");
}

/// How many, and where the first of them lie in the file's images.
std::string pixels_text(const std::vector<std::int64_t>& pixels, const char* kind, int width) {
  if (pixels.empty()) return "";
  const auto place = [&](std::size_t i) {
    return text('(', pixels[i] / width, ", ", pixels[i] % width, ')');
  };
  return text(pixels.size(), ' ', kind, " at (y, x) = ", first_of(pixels.size(), 4, place));
}

}  // namespace

std::string doubt_of_pixels(const io::BadPixels& bad, Shape2 stored) {
  std::string found = pixels_text(bad.hot, "hot", stored.w);
  const auto add = [&](const std::string& more) {
    if (!found.empty() && !more.empty()) found += "; ";
    found += more;
  };
  add(pixels_text(bad.stuck, "stuck", stored.w));
  if (bad.n_flashes > 0)
    add(text("flashes, each in its pattern (", bad.n_flashes, " in the patterns looked at)"));
  if (found.empty()) return "";
  return text("pixels that no light explains are left out: ", found,
              ". data.find_bad_pixels = false trusts them");
}

std::string doubt_of_patterns(const std::vector<int>& bad) {
  return text("patterns that contradict those around them are left out from here on: ", bad.size(),
              ", at positions ",
              first_of(bad.size(), 8, [&](std::size_t i) { return text(bad[i]); }),
              ". data.find_bad_patterns = false keeps them");
}

std::vector<std::string> doubts_of_batches(const deck::Deck& deck, const Scan& scan) {
  constexpr double tolerable_share = 0.05;
  std::vector<std::string> doubts;
  if (scan.tiling.tiles.size() == 1) return doubts;  // spares it a second look at all batches
  for (std::size_t stage = 0; stage < scan.plan.solvers.size(); ++stage) {
    const deck::Solver& solver = scan.plan.solvers[stage];
    const double idle =
        decomposition::idle_share(batch_schedule(solver, scan), scan.tiling, scan.corner());
    if (idle < tolerable_share) continue;
    const std::string section = deck::solver_section(deck, stage);
    doubts.push_back(text(section, ": batches of ", solver.batch_size.value(), " positions leave ",
                          std::lround(100 * idle),
                          " % of the ranks without one: start fewer, or set ",
                          remedy(section, solver, scan), ", which leaves none idle"));
  }
  return doubts;
}

std::string doubt_of_mask(const Scan& scan) {
  const auto [n_trusted, n_recorded] = trust(scan);
  if (2 * n_trusted >= n_recorded) return "";
  return text("the mask trusts ", n_trusted, " of ", n_recorded,
              " pixels: in data.valid_pixels 1 means trust; one that marks bad pixels is not to be "
              "inverted but named in data.bad_pixels");
}

std::string doubt_of_start(const deck::Deck& deck, const Scan& scan, double first_error) {
  constexpr double tolerance = 0.2;
  if (deck.object.initial == "random_phase" || first_error <= scan.empty_error + tolerance)
    return "";
  return text("the first epoch's error of ", first_error, " is worse than ", scan.empty_error,
              ", that of an empty object under the right probe: the start does not fit the "
              "patterns. ",
              suspects(deck, scan));
}

std::string doubt_of_result(const deck::Deck& deck, const Scan& scan, double final_error) {
  if (final_error < scan.empty_error) return "";
  return text("the result's error of ", final_error, " is not below ", scan.empty_error,
              ", that of an empty object under the right probe: it says nothing of the sample. "
              "Give it more epochs or another solver.method than \"",
              deck.solvers.back().method, "\". ", suspects(deck, scan));
}

std::string doubt_of_model(const deck::Deck& deck, double final_error, double poisson_error) {
  constexpr double whole = 1.2;
  if (poisson_error == 0 || final_error < whole * poisson_error) return "";
  std::vector<std::string> missing;
  const auto add = [&](bool is_fitted, const char* what) {
    if (!is_fitted) missing.emplace_back(what);
  };
  add(deck.refine.positions.from_epoch >= 0, "positions (refine.positions_from_epoch)");
  add(deck.refine.intensity.from_epoch >= 0, "the beam's intensity (refine.intensity_from_epoch)");
  add(deck.refine.background.from_epoch >= 0 || deck.data.background,
      "a background (refine.background_from_epoch)");
  add(deck.probe.n_modes > 1, "a partly coherent beam (probe.n_modes)");
  add(deck.probe.opr_modes > 0 || deck.probe.opr_trial.from_epoch >= 0,
      "a beam that changes along the scan (probe.opr_modes)");
  return missing.empty() ? "" : text("often missing, and not in this deck: ", joined(missing));
}

}  // namespace tessera::run
