#include "run/beam_curvature.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "tessera/base/text.hpp"

#include "io/stored_patterns.hpp"
#include "scan_rows.hpp"

namespace tessera::run {
namespace {

/// Correlations and transforms of some hundred samples stay within a second and 200 MB. Shadows
/// are found as well in fewer pixels.
constexpr int max_image_px = 192;
constexpr int max_shadow_px = 64;

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

/// Of all positions. Collective.
std::vector<Vec2> window_positions_px(const Scan& scan, const comm::Communicator& comm) {
  const std::vector<Vec2> subpixel = subpixel_of_all(scan, comm);
  std::vector<Vec2> positions;
  positions.reserve(subpixel.size());
  for (std::size_t i = 0; i < subpixel.size(); ++i)
    positions.push_back(as_vec2(scan.grid.corner[i]) + subpixel[i]);
  return positions;
}

int bin_to(int max_px, Shape2 shape) {
  return (std::max(shape.h, shape.w) + max_px - 1) / max_px;
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

PatternSample::PatternSample(const Scan& scan, const comm::Communicator& comm)
    : type_(scan.info.type),
      recorded_(scan.info.pattern),
      // Far fields are kept with zero frequency at their first pixel.
      middle_(scan.plan.optics.is_near_field() ? Pixel{} : Pixel{recorded_.h / 2, recorded_.w / 2}),
      ignored_(scan.info.saturation),
      bin_(bin_to(scan.plan.optics.is_near_field() ? max_image_px : max_shadow_px, recorded_)),
      mine_(scan.tile().positions) {
  const std::vector<Vec2> all = window_positions_px(scan, comm);
  pairs_ = optics::spread_pairs(
      all, recorded_,
      scan.plan.optics.is_near_field() ? optics::apart_in_images : optics::apart_in_shadows);
  chosen_ = optics::renumber(pairs_);
  for (const int position : chosen_)
    positions_px_.push_back(all[static_cast<std::size_t>(position)] / bin_);
  patterns_ = ImageStack<double>(static_cast<int>(chosen_.size()),
                                 {recorded_.h / bin_, recorded_.w / bin_});
}

io::TakePatterns PatternSample::before(io::TakePatterns take) {
  return [this, take = std::move(take)](std::span<const int> places, const std::byte* patterns) {
    const std::size_t bytes = static_cast<std::size_t>(recorded_.size()) * io::size_of(type_);
    for (std::size_t i = 0; i < places.size(); ++i)
      keep(mine_[static_cast<std::size_t>(places[i])], patterns + i * bytes);
    if (take) take(places, patterns);
  };
}

void PatternSample::keep(int position, const std::byte* pattern) {
  const auto found = std::ranges::lower_bound(chosen_, position);
  if (found == chosen_.end() || *found != position) return;
  const int i = static_cast<int>(found - chosen_.begin());
  io::with_type(type_, [&](auto like) {
    const auto* const counts = reinterpret_cast<const decltype(like)*>(pattern);
    double last = 0;  // in place of a pixel that is ignored
    for (int y = 0; y < recorded_.h; ++y)
      for (int x = 0; x < recorded_.w; ++x) {
        const auto count = static_cast<double>(counts[std::int64_t{y} * recorded_.w + x]);
        if (count < ignored_) last = count;
        const int row = (y + middle_.y) % recorded_.h / bin_;
        const int column = (x + middle_.x) % recorded_.w / bin_;
        if (row < patterns_.h() && column < patterns_.w()) patterns_(i, row, column) += last;
      }
  });
}

optics::FeatureMotion PatternSample::motion(const comm::Communicator& comm) {
  comm.sum(std::span(patterns_.data(), patterns_.size()));
  std::array<double, 6> found{};
  comm.together([&] {
    if (!comm.is_root()) return;
    const auto [yy, yx, xx, correlation, flat, chance] =
        middle_ == Pixel{} ? optics::feature_motion(patterns_, positions_px_, pairs_)
                           : optics::shadow_motion(patterns_, positions_px_, pairs_, bin_);
    found = {yy, yx, xx, correlation, flat, chance};
  });
  comm.broadcast(std::span<double>(found));
  return {found[0], found[1], found[2], found[3], found[4], found[5]};
}

std::vector<optics::FeatureMotion> possible_motions(const optics::FeatureMotion& measured) {
  if (is_reliable(measured)) return {measured};
  if (is_flat(measured) || measured.correlation < more_than_chance * measured.chance) return {{}};
  return {{}, measured};
}

std::vector<double> possible_defoci_m(const deck::Probe& probe,
                                      const optics::FeatureMotion& shadows, double shown_m) {
  const double of_deck_m = probe.defocus_m;
  if (!probe.says_defocus() && is_clear(shadows)) return {shown_m};
  const auto agree = [](double a_m, double b_m) {
    return a_m / b_m > 1 - roughly && a_m / b_m < 1 / (1 - roughly);
  };
  if (agree(of_deck_m, shown_m)) return {of_deck_m};
  std::vector<double> possible{of_deck_m, shown_m};
  // Near focus shadows move less than they seem to.
  if (!probe.says_defocus()) possible.push_back(shown_m / 2);
  // Conventions, and decks, differ in the sign of an underfocus.
  if (of_deck_m != 0 && !is_clear(shadows) && !agree(-of_deck_m, shown_m))
    possible.push_back(-of_deck_m);
  return possible;
}

std::string shadows_line(const optics::FeatureMotion& shadows, double shown_m) {
  return text("start probe: shadows in the patterns move ", rounded(shadows.yy),
              " times as far as the sample, as with probe.defocus_m = ", shown_m,
              ", at a correlation of ", rounded(shadows.correlation), " where chance has ",
              rounded(shadows.flat_correlation));
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
