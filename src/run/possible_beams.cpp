#include "run/possible_beams.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tessera/base/text.hpp"

#include "optics/deck_optics.hpp"

namespace tessera::run {
namespace {

/// Less of the contrast that moves as one may be chance.
constexpr double least_correlation = 0.02;
constexpr double more_than_chance = 2;
/// A motion that explains the patterns hardly better than that of the deck's geometry is not better
/// known than it. Flat beams were found at 0.85 to 1; where little moves as one, behind diffusers,
/// at 0.5 to 1, and curved ones below 0.25.
constexpr double flat_enough = 0.8;
constexpr double flat_enough_of_little = 0.4;
constexpr double little = 0.1;
/// Shadows tell a defocus that well.
constexpr double roughly = 0.15;
/// Turned by 10 degrees or less the images agree nearly as well.
constexpr double much_better = 0.03;
/// The best of all turns is better than chance by chance.
constexpr double certain_turn = 0.2;

/// Nothing else explains the patterns half as well.
bool is_clear(const optics::FeatureMotion& shadows) {
  return shadows.correlation >= optics::least_shadow_correlation &&
         shadows.correlation >= more_than_chance * shadows.flat_correlation;
}

/// It is no chance, and says more than the deck does.
bool is_reliable(const optics::FeatureMotion& motion) {
  return motion.correlation >= least_correlation &&
         motion.correlation >= more_than_chance * motion.chance &&
         motion.flat_correlation <
             (motion.correlation < little ? flat_enough_of_little : flat_enough) *
                 motion.correlation;
}

/// As good as.
bool is_flat(const optics::FeatureMotion& motion) {
  constexpr double least = 0.005;
  return std::max({std::abs(motion.yy - 1), std::abs(motion.xx - 1), std::abs(motion.yx)}) < least;
}

double rounded(double value) {
  return std::round(1000 * value) / 1000;
}

ShownDefocus shown_by(const optics::FeatureMotion& shadows, const Scan& scan) {
  const geometry::Optics& optics = scan.plan.optics;
  return {.defocus_m =
              optics::defocus_m(shadows, scan.info.pattern.w, optics.pixel_m, optics.wavelength_m),
          .is_clear = is_clear(shadows)};
}

ShownDefocus shown_by(const optics::ScanParallax& parallax, const Scan& scan) {
  const geometry::Optics& optics = scan.plan.optics;
  const auto& [straight, turned, radius_px] = parallax;
  const int window = scan.info.pattern.w;
  const double px_rad = optics.wavelength_m / (window * optics.pixel_m);  // the detector's
  const double defocus_m = straight.shift_per_px * optics.pixel_m / px_rad;
  return {
      .defocus_m = defocus_m,
      .is_clear = straight.is_clear(),
      .is_near_focus = optics::is_near_focus(defocus_m, radius_px * px_rad, optics.wavelength_m),
      .is_of_parallax = true};
}

/// The first starts unless another's error is less than so many times its own: beams are mostly
/// what the deck says, or flat, above all in focus.
constexpr double mostly_below = 0.99;
constexpr double in_focus_below = 0.93;
/// Where a parallax is seen, if not for sure, next to nothing but electrons' noise is in an error.
constexpr double any_below = 0.995;

double first_unless_below(const deck::Probe& probe, const ShownDefocus& shown) {
  const bool in_focus = probe.defocus_m == 0;
  if (shown.is_of_parallax) return shown.is_clear || !in_focus ? 1 : any_below;
  return in_focus ? in_focus_below : mostly_below;
}

std::string shadows_line(const optics::FeatureMotion& shadows, double shown_m) {
  return text("start probe: shadows in the patterns move ", rounded(shadows.yy),
              " times as far as the sample, as with probe.defocus_m = ", shown_m,
              ", at a correlation of ", rounded(shadows.correlation), " where chance has ",
              rounded(shadows.flat_correlation));
}

std::string parallax_line(const optics::DiscParallax& parallax, double shown_m) {
  return text(
      "start probe: parts of the bright disc see the sample shifted as with "
      "probe.defocus_m = ",
      shown_m, ", at a correlation of ", rounded(parallax.correlation), " where chance has ",
      rounded(parallax.chance));
}

void take_motion(const optics::FeatureMotion& motion, const Log& log, Scan& scan) {
  log.info(curvature_line(motion, scan.plan.optics));
  for (const optics::FeatureMotion& possible : possible_motions(motion))
    scan.beams.push_back({.defocus_m = 0, .motion = possible});
  scan.beam = scan.beams.front();
  scan.first_unless_below = mostly_below;
}

/// Collective.
ShownDefocus shown_defocus(PatternSample& sample, const comm::Communicator& comm, const Log& log,
                           const Scan& scan) {
  const optics::FeatureMotion shadows = sample.motion(comm);
  const ShownDefocus by_shadows = shown_by(shadows, scan);
  log.info(shadows_line(shadows, by_shadows.defocus_m));
  // Shadows of a weak sample are lost in the noise of single patterns; all together show it.
  if (!sample.has_parallax() || shadows.correlation >= optics::least_shadow_correlation)
    return by_shadows;
  const optics::ScanParallax parallax = sample.parallax(comm);
  if (parallax.straight.correlation <= 0) return by_shadows;
  const ShownDefocus by_parallax = shown_by(parallax, scan);
  log.info(parallax_line(parallax.straight, by_parallax.defocus_m));
  if (const std::string doubt = doubt_of_turn(parallax); !doubt.empty()) log.warning(doubt);
  return by_parallax;
}

void take_defocus(const deck::Deck& deck, const ShownDefocus& shown, Scan& scan) {
  const auto is_too_wide = [&](double defocus_m) {
    deck::Probe probe = deck.probe;
    if (probe.defocus_m == defocus_m) return false;  // who gave it is told
    probe.defocus_m = defocus_m;
    return !optics::fits_window(probe, scan.info.pattern, scan.plan.optics);
  };
  for (const double possible_m : possible_defoci_m(deck.probe, shown))
    if (!is_too_wide(possible_m)) scan.beams.push_back({.defocus_m = possible_m, .motion = {}});
  if (!scan.beams.empty()) scan.beam = scan.beams.front();
  scan.first_unless_below = first_unless_below(deck.probe, shown);
}

}  // namespace

bool measures_curvature(const deck::Deck& deck, const Scan& scan) {
  const deck::Probe& probe = deck.probe;
  const bool may_be =
      scan.plan.optics.is_near_field()
          ? probe.is_image()
          : (probe.is_image() || probe.is_optic()) && scan.info.pattern.h == scan.info.pattern.w;
  return probe.measure_curvature && may_be && deck.run.resume.empty();
}

std::vector<optics::FeatureMotion> possible_motions(const optics::FeatureMotion& measured) {
  if (is_reliable(measured)) return {measured};
  if (is_flat(measured) || measured.correlation < more_than_chance * measured.chance) return {{}};
  return {{}, measured};
}

std::vector<double> possible_defoci_m(const deck::Probe& probe, const ShownDefocus& shown) {
  const double of_deck_m = probe.defocus_m;
  const double shown_m = shown.defocus_m;
  if (!probe.says_defocus() && shown.is_clear && !shown.is_near_focus) return {shown_m};
  const auto agree = [](double a_m, double b_m) {
    return a_m / b_m > 1 - roughly && a_m / b_m < 1 / (1 - roughly);
  };
  if (agree(of_deck_m, shown_m)) return {of_deck_m};
  std::vector<double> possible{of_deck_m, shown_m};
  // Near focus shadows move less than they seem to.
  if (!probe.says_defocus()) possible.push_back(shown_m / 2);
  // Conventions, and decks, differ in the sign of an underfocus.
  if (of_deck_m != 0 && !shown.is_clear && !agree(-of_deck_m, shown_m))
    possible.push_back(-of_deck_m);
  return possible;
}

std::string curvature_line(const optics::FeatureMotion& motion, const geometry::Optics& optics) {
  const std::string moved =
      text("start probe: patterns move ", rounded(motion.yy), " (y) and ", rounded(motion.xx),
           " (x) times as far as the sample, at a correlation of ", rounded(motion.correlation),
           " where one without further curvature has ", rounded(motion.flat_correlation),
           " and chance ", rounded(motion.chance));
  if (!is_reliable(motion)) return moved + ": too little to tell";
  const double mean = (motion.yy + motion.xx) / 2;
  const double source_per_m = (optics.source_distance_m > 0 ? 1 / optics.source_distance_m : 0) +
                              (mean - 1) / optics.propagation_m;
  std::string curved = moved + ": the beam starts curved accordingly";
  constexpr double remarkable = 0.1;
  if (std::abs(mean - 1) < remarkable || source_per_m <= 0) return curved;
  return text(curved, "; experiment.source_distance_m = ", 1 / source_per_m, " would say the same");
}

std::string doubt_of_turn(const optics::ScanParallax& parallax) {
  const auto& [straight, turned, radius_px] = parallax;
  if (!turned.is_clear() || turned.correlation < certain_turn ||
      turned.correlation < straight.correlation + much_better)
    return {};
  if (turned.is_exchanged)
    return "parts of the bright disc see the sample shifted as in a mirror: rows and columns of "
           "the detector are probably exchanged (data.transpose), or those of the scan";
  constexpr double in_degrees = 180 / std::numbers::pi;
  return text("parts of the bright disc see the sample shifted along a direction that is ",
              std::round(turned.rotation_rad * in_degrees),
              " degrees from that of the scan, or that plus 180: it is probably turned by so much "
              "more (data.raster_rotation_rad)");
}

void find_possible_beams(const deck::Deck& deck, PatternSample& sample,
                         const comm::Communicator& comm, const Log& log, Scan& scan) {
  if (scan.plan.optics.is_near_field())
    take_motion(sample.motion(comm), log, scan);
  else
    take_defocus(deck, shown_defocus(sample, comm, log, scan), scan);
}

}  // namespace tessera::run
