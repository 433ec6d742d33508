#include "run/doubts.hpp"

#include <algorithm>

#include "tessera/base/text.hpp"

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
  return {std::count(scan.info.valid_pixels.begin(), scan.info.valid_pixels.end(), 1),
          recorded.size()};
}

}  // namespace

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
  const auto [n_trusted, n_recorded] = trust(scan);
  return text("the first epoch's error of ", first_error, " is worse than ", scan.empty_error,
              ", that of an empty object under the right probe: the start does not fit the "
              "patterns. Suspect the probe (probe.initial = \"",
              deck.probe.initial,
              "\" and its keys), the distance (experiment.distance_m and the detector's pixel, "
              "which make object pixels of ",
              scan.grid.pixel_m, " m), and the mask (", n_trusted, " of ", n_recorded,
              " pixels are trusted)");
}

}  // namespace tessera::run
