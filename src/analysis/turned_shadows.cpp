#include "turned_shadows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <utility>

namespace tessera::analysis {
namespace {

constexpr int max_turned_side_px = 128;
/// Beams in focus pass neither this nor the least correlation.
constexpr double clearly_more = 1.5;
constexpr double more_than_other_turns = 1.3;
constexpr int step_degrees = 15;
constexpr int nearly_along_degrees = 6;

/// What the images do where the turned positions have them move against the beam.
struct Turn {
  bool is_mirrored = false;
  int degrees = 0;
  ShadowMotion motion() const {
    const double angle = degrees * std::numbers::pi / 180;
    const double cosine = degrees % 180 == 90 || degrees % 180 == -90 ? 0 : std::cos(angle);
    const double x = is_mirrored ? 1 : -1;
    return {-cosine, std::sin(angle), x * std::sin(angle), x * cosine};
  }
  Vec2 operator()(Vec2 at) const {
    const ShadowMotion m = motion();
    return {-m.yy * at.y - m.yx * at.x, -m.xy * at.y - m.xx * at.x};
  }
};

/// Between 0 and 90: half a turn more is the same but for the sign of the defocus.
int degrees_between(int a, int b) {
  const int apart = std::abs(a - b) % 180;
  return std::min(apart, 180 - apart);
}

/// The patterns of the pairs, cut and binned, each once.
class ShadowSample {
 public:
  ShadowSample(io::ScanReader& reader, const Survey& survey, const ImageStack<double>& trusted,
               const Cut& cut, const std::vector<Vec2>& positions_px)
      : pairs_(optics::spread_pairs(positions_px, {cut.n_pixels, cut.n_pixels},
                                    optics::apart_in_shadows)),
        bin_((cut.n_pixels + max_turned_side_px - 1) / max_turned_side_px) {
    const std::vector<int> chosen = optics::renumber(pairs_);
    const int side = cut.n_pixels / bin_;
    patterns_ = ImageStack<double>(static_cast<int>(chosen.size()), {side, side});
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      positions_.push_back(positions_px[static_cast<std::size_t>(chosen[i])] / bin_);
      read(reader, survey, trusted, cut, chosen[i], static_cast<int>(i));
    }
  }

  /// For each of the turns.
  std::vector<optics::FeatureMotion> shadows(const std::vector<Turn>& turns) const {
    std::vector<std::vector<Vec2>> turned;
    for (const Turn& turn : turns) {
      turned.emplace_back();
      std::ranges::transform(positions_, std::back_inserter(turned.back()), turn);
    }
    return optics::shadow_motions(patterns_, turned, pairs_, bin_);
  }

 private:
  /// Pixels that hold no count get the mean.
  void read(io::ScanReader& reader, const Survey& survey, const ImageStack<double>& trusted,
            const Cut& cut, int position, int i) {
    const io::RecordedPatterns recorded = reader.patterns();
    const int columns = recorded.raster.empty() ? 1 : recorded.raster[1];
    const auto [h, w] = recorded.shape;
    std::vector<float> pattern(static_cast<std::size_t>(recorded.shape.size()));
    reader.read_patterns(Box::at({position / columns, position % columns}, {1, 1}),
                         Box::at({0, 0}, recorded.shape),
                         reinterpret_cast<std::byte*>(pattern.data()));
    const int top = static_cast<int>(std::lround(cut.centre_px.y)) - cut.n_pixels / 2;
    const int left = static_cast<int>(std::lround(cut.centre_px.x)) - cut.n_pixels / 2;
    for (int y = 0; y < patterns_.h() * bin_; ++y)
      for (int x = 0; x < patterns_.w() * bin_; ++x) {
        const int row = std::clamp(top + y, 0, h - 1);
        const int column = std::clamp(left + x, 0, w - 1);
        const double value = pattern[static_cast<std::size_t>(row * w + column)];
        const bool counts = std::isfinite(value) && value >= 0 && value < survey.greatest &&
                            (trusted.n() == 0 || trusted(0, row, column) != 0);
        patterns_(i, y / bin_, x / bin_) += counts ? value : survey.mean(0, row, column);
      }
  }

  std::vector<optics::PatternPair> pairs_;
  int bin_;
  ImageStack<double> patterns_;
  std::vector<Vec2> positions_;
};

/// To a degree; a scan that stands nearly along the detector does.
std::pair<Turn, optics::FeatureMotion> finely(const ShadowSample& sample, const Turn& roughly) {
  std::vector<Turn> turns;
  for (int off = -step_degrees; off <= step_degrees; ++off)
    turns.push_back({roughly.is_mirrored, roughly.degrees + off});
  std::vector<optics::FeatureMotion> found = sample.shadows(turns);
  const auto best = std::ranges::max_element(found, {}, &optics::FeatureMotion::correlation);
  const Turn turn = turns[static_cast<std::size_t>(best - found.begin())];
  for (const int along : {-90, 0})
    if (degrees_between(turn.degrees, along) <= nearly_along_degrees) {
      const Turn straight{turn.is_mirrored, along};
      return {straight, sample.shadows({straight}).front()};
    }
  return {turn, *best};
}

}  // namespace

std::optional<TurnedShadows> find_turned_shadows(io::ScanReader& reader, const Survey& survey,
                                                 const ImageStack<double>& trusted, const Cut& cut,
                                                 const std::vector<Vec2>& positions_px) {
  const ShadowSample sample(reader, survey, trusted, cut, positions_px);
  std::vector<Turn> turns;
  for (const bool is_mirrored : {false, true})
    for (int degrees = -90; degrees < 90; degrees += step_degrees)
      turns.push_back({is_mirrored, degrees});
  const std::vector<optics::FeatureMotion> found = sample.shadows(turns);
  const auto best = std::ranges::max_element(found, {}, &optics::FeatureMotion::correlation);
  const Turn roughly = turns[static_cast<std::size_t>(best - found.begin())];
  const auto [turn, shadows] = finely(sample, roughly);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const bool is_another = turns[i].is_mirrored != turn.is_mirrored ||
                            degrees_between(turns[i].degrees, turn.degrees) > 3 * step_degrees;
    if (is_another && shadows.correlation < more_than_other_turns * found[i].correlation) return {};
  }
  if (shadows.correlation < optics::least_shadow_correlation ||
      shadows.correlation < clearly_more * shadows.flat_correlation)
    return {};
  return TurnedShadows{turn.motion(), shadows, !turn.is_mirrored && turn.degrees == 0};
}

}  // namespace tessera::analysis
