#include "simulated_positions.hpp"

#include <algorithm>
#include <cmath>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "simulated_seeds.hpp"

namespace tessera::simulation {
namespace {

/// [scale_y, scale_x, rotation_rad, shear]: y grows by scale_y and by shear x, x by scale_x; then
/// all turns, positive from +x towards +y as in geometry::raster_scan.
void distort(std::vector<Vec2>& positions_m, const std::vector<double>& affine) {
  Vec2 middle;
  for (const Vec2& p : positions_m) middle = middle + p / static_cast<double>(positions_m.size());
  const double cosine = std::cos(affine[2]);
  const double sine = std::sin(affine[2]);
  for (Vec2& p : positions_m) {
    const Vec2 from = p - middle;
    const double y = (1 + affine[0]) * from.y + affine[3] * from.x;
    const double x = (1 + affine[1]) * from.x;
    p = middle + Vec2{x * sine + y * cosine, x * cosine - y * sine};
  }
}

/// The sample drifts, fast at first, and comes to rest with the scan's end; the file does not know.
void forget_drift(std::vector<Vec2>& positions_m, Vec2 drift_m) {
  const auto n = static_cast<double>(positions_m.size());
  for (std::size_t i = 0; i < positions_m.size(); ++i) {
    const double t = static_cast<double>(i) / std::max(1.0, n - 1);
    positions_m[i] = positions_m[i] - drift_m * (2 * t - t * t);
  }
}

}  // namespace

std::vector<Vec2> true_positions_m(const deck::Simulation& simulation) {
  const int n = simulation.n_positions;
  const double step_m = simulation.step_m;
  std::vector<Vec2> positions_m;
  if (simulation.scan == "raster") {
    const int rows = std::max(1, static_cast<int>(std::lround(std::sqrt(n))));
    const int columns = (n + rows / 2) / rows;
    positions_m = geometry::raster_scan(rows, columns, {step_m, step_m});
  } else if (simulation.scan == "fermat") {
    positions_m = geometry::fermat_scan(n, step_m);
  } else if (simulation.scan == "concentric") {
    positions_m = geometry::concentric_scan(n, step_m);
  } else {
    throw InputError(text("simulation.scan = '", simulation.scan,
                          "' is not known; use 'raster', 'fermat' or 'concentric'"));
  }
  geometry::jitter(positions_m, simulation.jitter * step_m, seed_for(Purpose::jitter, simulation));
  return positions_m;
}

std::vector<Vec2> recorded_positions_m(const deck::Simulation& simulation,
                                       std::vector<Vec2> positions_m, double pixel_m) {
  if (!simulation.position_affine.empty()) distort(positions_m, simulation.position_affine);
  if (const std::vector<double>& drift_px = simulation.position_drift_px; !drift_px.empty())
    forget_drift(positions_m, Vec2{drift_px[0], drift_px[1]} * pixel_m);
  // Uniform in +-a along both axes has a root mean square length of a sqrt(2 / 3).
  geometry::jitter(positions_m, std::sqrt(1.5) * simulation.position_error_px * pixel_m,
                   seed_for(Purpose::position_error, simulation));
  return positions_m;
}

std::vector<Vec2> fly_offsets_px(const deck::Experiment& experiment, double pixel_m) {
  const int n = experiment.fly_sub_positions;
  std::vector<Vec2> offsets(static_cast<std::size_t>(n));
  if (experiment.fly_travel_m.empty()) return offsets;
  for (int t = 0; t < n; ++t) {
    const double way = (t + 0.5) / n - 0.5;
    offsets[static_cast<std::size_t>(t)] = {way * experiment.fly_travel_m[0] / pixel_m,
                                            way * experiment.fly_travel_m[1] / pixel_m};
  }
  return offsets;
}

}  // namespace tessera::simulation
