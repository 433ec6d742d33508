#include "run/beam_curvature.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tessera/base/text.hpp"

#include "scan_rows.hpp"

namespace tessera::run {
namespace {

/// Correlations and transforms of some hundred samples stay within a second and 200 MB. Shadows
/// are found as well in fewer pixels.
constexpr int max_image_px = 192;
constexpr int max_shadow_px = 64;
constexpr int max_disc_px = 32;

/// Less of the contrast that moves as one may be chance.
constexpr double least_correlation = 0.02;
constexpr double more_than_chance = 2;
/// A motion that explains the patterns hardly better than that of the deck's geometry is not better
/// known than it. Flat beams were found at 0.85 to 1; where little moves as one, behind diffusers,
/// at 0.5 to 1, and curved ones below 0.25.
constexpr double flat_enough = 0.8;
constexpr double flat_enough_of_little = 0.4;
constexpr double little = 0.1;
/// The same of shadows in a far field. Beams in focus, whose patterns change without moving, were
/// found at 1.2 times what means nothing and less.
constexpr double least_of_shadows = 0.04;
/// Shadows tell a defocus that well.
constexpr double roughly = 0.15;
/// Turned by 10 degrees or less the images agree nearly as well.
constexpr double much_better = 0.03;
/// The best of all turns is better than chance by chance.
constexpr double certain_turn = 0.2;

/// Of all positions. Collective.
std::vector<Vec2> window_positions_px(const Scan& scan, const comm::Communicator& comm) {
  const std::vector<Vec2> subpixel = subpixel_of_all(scan, comm);
  std::vector<Vec2> positions;
  positions.reserve(subpixel.size());
  for (std::size_t i = 0; i < subpixel.size(); ++i)
    positions.push_back(as_vec2(scan.grid.corner[i]) + subpixel[i]);
  return positions;
}

/// Up to 64 x 64 of a raster, ascending: what lies in one piece shows how images of the bright
/// disc's parts are shifted.
std::vector<int> nearest_to_middle(const std::vector<Vec2>& positions_px) {
  constexpr std::size_t most = 4096;
  Vec2 middle;
  for (const Vec2& at : positions_px)
    middle = middle + at / static_cast<double>(positions_px.size());
  std::vector<std::pair<double, int>> by_distance;
  by_distance.reserve(positions_px.size());
  for (std::size_t i = 0; i < positions_px.size(); ++i) {
    const Vec2 away = positions_px[i] - middle;
    by_distance.emplace_back(away.y * away.y + away.x * away.x, static_cast<int>(i));
  }
  const std::size_t n = std::min(most, by_distance.size());
  std::ranges::nth_element(by_distance, by_distance.begin() + static_cast<std::ptrdiff_t>(n));
  std::vector<int> nearest;
  nearest.reserve(n);
  for (std::size_t i = 0; i < n; ++i) nearest.push_back(by_distance[i].second);
  std::ranges::sort(nearest);
  return nearest;
}

std::vector<Vec2> chosen(const std::vector<int>& positions, const std::vector<Vec2>& of_all_px,
                         int bin) {
  std::vector<Vec2> of_chosen;
  of_chosen.reserve(positions.size());
  for (const int position : positions)
    of_chosen.push_back(of_all_px[static_cast<std::size_t>(position)] / bin);
  return of_chosen;
}

/// Nothing else explains the patterns half as well.
bool is_clear(const optics::FeatureMotion& shadows) {
  return shadows.correlation >= least_of_shadows &&
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

}  // namespace

bool measures_curvature(const deck::Deck& deck, const Scan& scan) {
  const deck::Probe& probe = deck.probe;
  const bool may_be =
      scan.plan.optics.is_near_field()
          ? probe.is_image()
          : (probe.is_image() || probe.is_optic()) && scan.info.pattern.h == scan.info.pattern.w;
  return probe.measure_curvature && may_be && deck.run.resume.empty();
}

PatternSample::PatternSample(const deck::Deck& deck, const Scan& scan,
                             const comm::Communicator& comm)
    : in_near_field_(scan.plan.optics.is_near_field()),
      mine_(scan.tile().positions),
      positions_px_(window_positions_px(scan, comm)),
      pairs_(optics::spread_pairs(
          positions_px_, scan.info.pattern,
          in_near_field_ ? optics::apart_in_images : optics::apart_in_shadows)),
      in_pairs_(optics::renumber(pairs_)),
      side_by_side_(deck.experiment.voltage_V && !in_near_field_ ? nearest_to_middle(positions_px_)
                                                                 : std::vector<int>{}),
      of_pairs_(scan, in_pairs_, in_near_field_ ? max_image_px : max_shadow_px),
      of_middle_(scan, side_by_side_, max_disc_px) {}

io::TakePatterns PatternSample::before(io::TakePatterns take) {
  return [this, take = std::move(take)](std::span<const int> places, const std::byte* patterns) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      const int position = mine_[static_cast<std::size_t>(places[i])];
      const std::byte* const pattern = patterns + i * of_pairs_.recorded_bytes();
      of_pairs_.keep(position, pattern);
      of_middle_.keep(position, pattern);
    }
    if (take) take(places, patterns);
  };
}

optics::FeatureMotion PatternSample::motion(const comm::Communicator& comm) {
  const ImageStack<double>& patterns = of_pairs_.gather(comm);
  optics::FeatureMotion found;
  comm.together([&] {
    if (!comm.is_root()) return;
    const int bin = of_pairs_.bin();
    const std::vector<Vec2> positions = chosen(in_pairs_, positions_px_, bin);
    found = in_near_field_ ? optics::feature_motion(patterns, positions, pairs_)
                           : optics::shadow_motion(patterns, positions, pairs_, bin);
  });
  comm.broadcast(std::span(&found, 1));
  return found;
}

bool PatternSample::asks_parallax(const optics::FeatureMotion& shadows) const {
  return !side_by_side_.empty() && shadows.correlation < least_of_shadows;
}

optics::ScanParallax PatternSample::parallax(const comm::Communicator& comm) {
  const ImageStack<double>& patterns = of_middle_.gather(comm);
  optics::ScanParallax found;
  comm.together([&] {
    if (!comm.is_root()) return;
    found =
        optics::scan_parallax(patterns, chosen(side_by_side_, positions_px_, 1), of_middle_.bin());
  });
  comm.broadcast(std::span(&found, 1));
  return found;
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
  const double depths_of_field = std::abs(straight.shift_per_px) * radius_px * radius_px / window;
  return {.defocus_m = straight.shift_per_px * window * optics.pixel_m * optics.pixel_m /
                       optics.wavelength_m,
          .is_clear = straight.is_clear(),
          .is_near_focus = depths_of_field < optics::near_focus_depths,
          .is_of_parallax = true};
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

double first_unless_below(const deck::Probe& probe, const ShownDefocus& shown) {
  constexpr double of_deck = 0.98;
  constexpr double in_focus = 0.93;
  if (shown.is_of_parallax && (shown.is_clear || probe.defocus_m != 0)) return 1;
  return probe.defocus_m == 0 ? in_focus : of_deck;
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

}  // namespace tessera::run
