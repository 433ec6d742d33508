#include "bad_patterns.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace tessera::run {
namespace {

/// Times what is typical. The neighbours of a bad pattern are spoilt by it.
constexpr double of_scan_at_least = 18;
constexpr double of_neighbours_at_least = 8;
constexpr std::size_t n_neighbours = 8;  ///< around the middle of a raster
constexpr double most_bad = 0.1;         ///< of all that are fitted

/// Both must stand out: of noise alone the distance is the same for dark patterns and bright ones,
/// of what a model lacks the error is.
struct Typical {
  double distance = 0;
  double error = 0;
  bool is_exceeded(double times, double a_distance, double an_error) const {
    return a_distance > times * distance && an_error > times * error;
  }
};

/// Of all scan positions; 0: not looked at.
struct AllErrors {
  std::vector<double> distance;
  std::vector<double> error;
  bool has(std::size_t position) const { return error[position] > 0; }
};

/// Collective.
std::vector<double> of_all(const Scan& scan, std::span<const double> mine,
                           const comm::Communicator& comm) {
  std::vector<double> all(static_cast<std::size_t>(scan.n_positions()));
  for (std::size_t i = 0; i < mine.size(); ++i)
    all[static_cast<std::size_t>(scan.tile().positions[i])] = mine[i];
  comm.sum(std::span(all));
  return all;
}

double median_at(const std::vector<std::size_t>& positions, const std::vector<double>& values) {
  std::vector<double> there;
  there.reserve(positions.size());
  for (const std::size_t position : positions) there.push_back(values[position]);
  const auto middle = there.begin() + static_cast<std::ptrdiff_t>(there.size() / 2);
  std::ranges::nth_element(there, middle);
  return *middle;
}

/// Positions that were looked at, row by row.
class Neighbours {
 public:
  Neighbours(const Scan& scan, const AllErrors& all)
      : corner_(scan.corner()), window_(scan.grid.window) {
    for (std::size_t i = 0; i < corner_.size(); ++i)
      if (all.has(i)) by_row_.push_back(i);
    std::ranges::sort(by_row_, {}, [&](std::size_t i) { return std::pair(corner_[i].y, i); });
  }

  /// The nearest whose windows overlap that of `position`; none where there are too few.
  std::vector<std::size_t> nearest(std::size_t position) const {
    const Pixel at = corner_[position];
    std::vector<std::pair<double, std::size_t>> near;
    const auto row = [&](std::size_t i) { return corner_[i].y; };
    for (auto next = std::ranges::upper_bound(by_row_, at.y - window_.h, {}, row);
         next != by_row_.end() && row(*next) < at.y + window_.h; ++next) {
      const Vec2 away = as_vec2(corner_[*next]) - as_vec2(at);
      if (*next != position && std::abs(away.x) < window_.w)
        near.emplace_back(away.y * away.y + away.x * away.x, *next);
    }
    if (near.size() < n_neighbours) return {};
    std::ranges::nth_element(near, near.begin() + n_neighbours - 1);
    std::vector<std::size_t> nearest;
    nearest.reserve(n_neighbours);
    for (std::size_t k = 0; k < n_neighbours; ++k) nearest.push_back(near[k].second);
    return nearest;
  }

 private:
  std::span<const Pixel> corner_;
  Shape2 window_;
  std::vector<std::size_t> by_row_;
};

/// This rank's, of which both the scan and what is around them say so.
std::vector<int> standing_out_here(const Scan& scan, const Typical& of_scan, const AllErrors& all,
                                   const Neighbours& neighbours) {
  std::vector<int> found;
  for (const int position : scan.tile().positions) {
    const auto i = static_cast<std::size_t>(position);
    if (!of_scan.is_exceeded(of_scan_at_least, all.distance[i], all.error[i])) continue;
    const std::vector<std::size_t> near = neighbours.nearest(i);
    if (near.empty()) continue;
    const Typical around{median_at(near, all.distance), median_at(near, all.error)};
    if (around.is_exceeded(of_neighbours_at_least, all.distance[i], all.error[i]))
      found.push_back(position);
  }
  return found;
}

/// A bad pattern spoils the object under its neighbours, too: they wait for the next look.
bool is_spoilt_by_another(int position, const std::vector<int>& suspects, const AllErrors& all,
                          const Neighbours& neighbours) {
  const double distance = all.distance[static_cast<std::size_t>(position)];
  return std::ranges::any_of(neighbours.nearest(static_cast<std::size_t>(position)),
                             [&](std::size_t other) {
                               return all.distance[other] > 2 * distance &&
                                      std::ranges::binary_search(suspects, static_cast<int>(other));
                             });
}

/// Ascending. Collective.
std::vector<int> of_all_ranks(const std::vector<int>& mine, const comm::Communicator& comm) {
  std::vector<int> all = comm.all_gather(std::span<const int>(mine));
  std::ranges::sort(all);
  return all;
}

}  // namespace

/// Again and again, for what is bad hides behind what is worse, and behind a poor object. Fitted
/// positions have time to find their places first, those that are sent back too.
bool bad_patterns_are_due(const deck::Deck& deck, int n_epochs, int n_epochs_left) {
  constexpr int first = 10;  // and twice that, four times ...
  constexpr int first_with_positions = 55;
  constexpr int least_left = 5;  // to mend what they did
  const int from = deck.refine.positions.from_epoch;
  const int n = from < 0 ? n_epochs : n_epochs - from - first_with_positions + first;
  return deck.data.find_bad_patterns && n_epochs_left >= least_left && n > 0 && n % first == 0 &&
         std::has_single_bit(static_cast<unsigned>(n / first));
}

std::vector<int> find_bad_patterns(const Scan& scan, const PatternErrors& errors,
                                   const comm::Communicator& comm) {
  const AllErrors all{of_all(scan, errors.distances(), comm), of_all(scan, errors.errors(), comm)};
  const Neighbours neighbours(scan, all);
  const Typical of_scan{typical(errors.distances(), comm), typical(errors.errors(), comm)};
  std::vector<int> mine = standing_out_here(scan, of_scan, all, neighbours);
  const std::vector<int> suspects = of_all_ranks(mine, comm);
  if (static_cast<double>(suspects.size()) > most_bad * scan.n_fitted()) return {};
  std::erase_if(mine, [&](int position) {
    return is_spoilt_by_another(position, suspects, all, neighbours);
  });
  return of_all_ranks(mine, comm);
}

}  // namespace tessera::run
