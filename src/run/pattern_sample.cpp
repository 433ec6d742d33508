#include "run/pattern_sample.hpp"

#include <algorithm>
#include <utility>

#include "scan_rows.hpp"

namespace tessera::run {
namespace {

/// Correlations and transforms of some hundred samples stay within a second and 200 MB. Shadows
/// are found as well in fewer pixels.
constexpr int max_image_px = 192;
constexpr int max_shadow_px = 64;
constexpr int max_disc_px = 32;

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

}  // namespace

PatternSample::PatternSample(const deck::Deck& deck, const Scan& scan,
                             const comm::Communicator& comm)
    : PatternSample(deck, scan, window_positions_px(scan, comm)) {}

PatternSample::PatternSample(const deck::Deck& deck, const Scan& scan,
                             const std::vector<Vec2>& positions_px)
    : in_near_field_(scan.plan.optics.is_near_field()),
      mine_(scan.tile().positions),
      pairs_(optics::spread_pairs(
          positions_px, scan.info.pattern,
          in_near_field_ ? optics::apart_in_images : optics::apart_in_shadows)),
      of_pairs_(scan, optics::renumber(pairs_), in_near_field_ ? max_image_px : max_shadow_px),
      pairs_px_(chosen(of_pairs_.chosen(), positions_px, of_pairs_.bin())),
      of_middle_(scan,
                 deck.experiment.voltage_V && !in_near_field_ ? nearest_to_middle(positions_px)
                                                              : std::vector<int>{},
                 max_disc_px),
      middle_px_(chosen(of_middle_.chosen(), positions_px, 1)) {}

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
    found = in_near_field_ ? optics::feature_motion(patterns, pairs_px_, pairs_)
                           : optics::shadow_motion(patterns, pairs_px_, pairs_, of_pairs_.bin());
  });
  comm.broadcast(std::span(&found, 1));
  return found;
}

optics::ScanParallax PatternSample::parallax(const comm::Communicator& comm) {
  const ImageStack<double>& patterns = of_middle_.gather(comm);
  optics::ScanParallax found;
  comm.together([&] {
    if (comm.is_root()) found = optics::scan_parallax(patterns, middle_px_, of_middle_.bin());
  });
  comm.broadcast(std::span(&found, 1));
  return found;
}

}  // namespace tessera::run
