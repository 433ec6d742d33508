#include "lost_positions.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "run/pattern_errors.hpp"

namespace tessera::run {
namespace {

/// About as far as a position finds its way by itself.
constexpr double spacing_px = 1.5;
constexpr int n_rings = 2;
/// Of the error where the scan has it: else that is where it starts. See
/// docs/methods/refinement.md.
constexpr double clearly_better = 0.5;

constexpr auto around() {
  std::array<Vec2, (2 * n_rings + 1) * (2 * n_rings + 1)> places{};
  std::size_t n = 1;
  for (int y = -n_rings; y <= n_rings; ++y)
    for (int x = -n_rings; x <= n_rings; ++x)
      if (y != 0 || x != 0) places[n++] = {spacing_px * y, spacing_px * x};
  return places;
}

constexpr auto places = around();

}  // namespace

std::vector<int> lost_positions(std::span<const double> errors, double ratio,
                                const comm::Communicator& comm) {
  const double bound = ratio * typical(errors, comm);
  std::vector<int> lost;
  for (std::size_t i = 0; i < errors.size(); ++i)
    if (errors[i] > bound) lost.push_back(static_cast<int>(i));
  return lost;
}

std::span<const Vec2> places_around() {
  return places;
}

PlaceSearch::PlaceSearch(std::span<const Vec2> left_px)
    : left_px_(left_px),
      best_px_(left_px.size()),
      least_error_(left_px.size(), std::numeric_limits<double>::infinity()) {}

void PlaceSearch::look(const Vec2& place_px, std::span<const double> errors) {
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const Vec2 away = place_px - left_px_[i];
    const double error = (place_px == Vec2{} ? clearly_better : 1) * errors[i];
    if (std::hypot(away.y, away.x) < spacing_px || error >= least_error_[i]) continue;
    least_error_[i] = error;
    best_px_[i] = place_px;
  }
}

}  // namespace tessera::run
