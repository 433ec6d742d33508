#include "turned_shadows.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::analysis {
namespace {

constexpr int max_side_px = 128;
/// Beams in focus, whose patterns change without moving, pass neither.
constexpr double least_correlation = 0.04;
constexpr double clearly_more = 1.5;
constexpr double more_than_other_turns = 1.3;

/// The patterns of the pairs, cut and binned, each once.
class Sample {
 public:
  Sample(io::ScanReader& reader, const Survey& survey, const ImageStack<double>& trusted,
         const Cut& cut, const std::vector<Vec2>& positions_px)
      : pairs_(optics::spread_pairs(positions_px, {cut.n_pixels, cut.n_pixels})),
        bin_((cut.n_pixels + max_side_px - 1) / max_side_px) {
    const std::vector<int> chosen = optics::renumber(pairs_);
    const int side = cut.n_pixels / bin_;
    patterns_ = ImageStack<double>(static_cast<int>(chosen.size()), {side, side});
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      positions_.push_back(positions_px[static_cast<std::size_t>(chosen[i])] / bin_);
      read(reader, survey, trusted, cut, chosen[i], static_cast<int>(i));
    }
  }

  optics::FeatureMotion shadows(const auto& turn) const {
    std::vector<Vec2> turned;
    std::ranges::transform(positions_, std::back_inserter(turned), turn);
    return optics::shadow_motion(patterns_, turned, pairs_, bin_);
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

}  // namespace

std::optional<TurnedShadows> find_turned_shadows(io::ScanReader& reader, const Survey& survey,
                                                 const ImageStack<double>& trusted, const Cut& cut,
                                                 const std::vector<Vec2>& positions_px) {
  const Sample sample(reader, survey, trusted, cut, positions_px);
  // What the images do where the turned positions have them move against the beam.
  struct Turn {
    ShadowMotion motion;
    Vec2 operator()(Vec2 at) const {
      return {-motion.yy * at.y - motion.yx * at.x, -motion.xy * at.y - motion.xx * at.x};
    }
  };
  constexpr std::array turns{Turn{{-1, 0, 0, -1}}, Turn{{-1, 0, 0, 1}}, Turn{{0, -1, -1, 0}},
                             Turn{{0, -1, 1, 0}}};
  std::array<optics::FeatureMotion, turns.size()> found;
  std::ranges::transform(turns, found.begin(),
                         [&](const Turn& turn) { return sample.shadows(turn); });
  const auto best = std::ranges::max_element(found, {}, &optics::FeatureMotion::correlation);
  for (auto other = found.begin(); other != found.end(); ++other)
    if (other != best && best->correlation < more_than_other_turns * other->correlation) return {};
  if (best->correlation < least_correlation ||
      best->correlation < clearly_more * best->flat_correlation)
    return {};
  return TurnedShadows{turns[static_cast<std::size_t>(best - found.begin())].motion, *best,
                       best == found.begin()};
}

}  // namespace tessera::analysis
