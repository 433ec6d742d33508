#pragma once
/// What is done with exit waves that are kept, and along a line, in plain loops in double
/// precision.

#include <algorithm>

#include "physics/hot_path_device.cuh"
#include "physics/hot_path_problem.hpp"

namespace tessera::physics::testing {

using Waves = std::vector<WaveStack>;  ///< by position, (mode, y, x)

constexpr int begin = 1;  // a chunk starts anywhere in the order

inline Waves random_waves(const Problem& p) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-6, 6);
  Waves waves(p.n_positions, WaveStack(p.n_modes, {p.n, p.n}));
  for (auto& of_position : waves)
    for (auto& value : of_position) value = {uniform(random), uniform(random)};
  return waves;
}

/// Both maps of solvers/projection_solver.hpp, in the words of LinearMap.
struct Map {
  const char* name;
  double of_overlap;
  double of_kept;
  bool from_overlap;
  double of_residual;
  double keeps_new;
  double keeps_base;
  bool keeps_another = false;
};
constexpr Map difference_map{"difference map", 2, -1, true, 1, 1, 0};
/// Than which many of a problem's pixels are darker.
constexpr double dark = 3;
constexpr Map raar{"RAAR", 0.75, 1, false, 2, -0.25, 0.5, true};

/// r, then what its modulus constraint misses.
struct Reflection {
  WaveStack base;
  WaveStack residual;
  double distance = 0;
};

/// @param slopes as those of missing_at_detector
inline Reflection reflect(const Problem& p, int k, const Map& map, const WaveStack& kept,
                          double* slopes) {
  const Window window(p, k);
  const WaveStack overlap = window.exit_waves(p.probes, p.object);
  WaveStack r = overlap;
  for (std::size_t i = 0; i < r.size(); ++i)
    r.data()[i] = map.of_overlap * overlap.data()[i] + map.of_kept * kept.data()[i];
  const WaveStack detector = tessera::testing::dft(r, -1);
  double unused[5] = {};
  const WaveStack missing = missing_at_detector(window, detector, unused, slopes);
  return {map.from_overlap ? overlap : r, tessera::testing::dft(missing, 1),
          std::pow(tessera::testing::norm(missing), 2)};
}

/// What a step of `map` makes of every place behind the first, from `kept`.
struct Projected {
  Waves next;  ///< by position; places before the chunk stay
  Waves kept;
  std::vector<double> distances;  ///< by place of the chunk
  double bound;                   ///< 0, or one is within and the others are not
  std::vector<double> slopes;     ///< of the background, (n, n, 2)
  double figures[5] = {};
};

inline Projected plain_projection(const Problem& p, const Map& map, const Waves& before,
                                  bool bounded = true) {
  Projected out{before, before, {}, 0, std::vector<double>(2 * p.area(), 0.5)};
  std::vector<Reflection> reflections;
  for (int k = begin; k < p.n_positions; ++k) {
    reflections.push_back(reflect(p, k, map, before[p.order[k]], out.slopes.data()));
    out.distances.push_back(reflections.back().distance);
    missing_waves(p, k, out.figures);
  }
  if (bounded) out.bound = 1.001 * *std::min_element(out.distances.begin(), out.distances.end());
  for (int k = begin; k < p.n_positions; ++k) {
    const double distance = out.distances[k - begin];
    const double share = distance <= out.bound ? 0 : 1 - std::sqrt(out.bound / distance);
    const Reflection& reflection = reflections[k - begin];
    for (std::size_t i = 0; i < reflection.base.size(); ++i) {
      const auto base = reflection.base.data()[i];
      const auto now = base + map.of_residual * share * reflection.residual.data()[i];
      out.next[p.order[k]].data()[i] = now;
      out.kept[p.order[k]].data()[i] = map.keeps_new * now + map.keeps_base * base;
    }
  }
  return out;
}

/// Of place k, of the exit waves `waves`.
inline double cost(const Problem& p, int k, const WaveStack& waves) {
  double figures[5] = {};
  missing_at_detector(Window(p, k), tessera::testing::dft(waves, -1), figures);
  return figures[4];
}

/// a + t b
template <class T>
std::vector<T> along(const std::vector<T>& a, float t, const std::vector<T>& b) {
  std::vector<T> sum = a;
  for (std::size_t i = 0; i < a.size(); ++i) sum[i] += t * b[i];
  return sum;
}

/// Of the places of a chunk, at `times` of the line, less that at t = 0.
/// @param direction of the same shapes
inline std::vector<double> plain_costs(const Problem& p, const Problem& direction,
                                       const std::vector<float>& times) {
  std::vector<double> costs(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto object = along(p.object, times[i], direction.object);
    const auto probes = along(p.probes, times[i], direction.probes);
    for (int k = begin; k < p.n_positions; ++k) {
      const Window window(p, k);
      costs[i] += cost(p, k, window.exit_waves(probes, object)) -
                  cost(p, k, window.exit_waves(p.probes, p.object));
    }
  }
  return costs;
}

/// By t, at t = 0, of the same.
inline double plain_slope(const Problem& p, const Problem& direction) {
  double slope = 0;
  for (int k = begin; k < p.n_positions; ++k) {
    const Window window(p, k);
    const auto at = [&](float t) {
      return tessera::testing::dft(window.exit_waves(along(p.probes, t, direction.probes),
                                                     along(p.object, t, direction.object)),
                                   -1);
    };
    const WaveStack ahead = at(1);
    const WaveStack behind = at(-1);
    double figures[5] = {};
    const WaveStack downhill = missing_at_detector(window, at(0), figures);
    for (std::size_t i = 0; i < downhill.size(); ++i)
      slope -= (std::conj(downhill.data()[i]) * (ahead.data()[i] - behind.data()[i])).real();
  }
  return slope;
}

inline Sums empty_sums(const Problem& p) {
  return {Numbers(p.object.size(), {0.5, -0.5}), std::vector<double>(p.object.size(), 0.5),
          Numbers(p.probes.size(), {0.5, -0.5}), std::vector<double>(p.area(), 0.5)};
}

/// `waves` of place k without those of object and probe.
inline WaveStack besides_exit_wave(const Problem& p, int k, WaveStack waves) {
  const WaveStack exit = Window(p, k).exit_waves(p.probes, p.object);
  for (std::size_t i = 0; i < waves.size(); ++i) waves.data()[i] -= exit.data()[i];
  return waves;
}

/// The probe's sums of kept waves.
/// @param add(scan, chunk) of them
template <class Add>
void expect_probe_gradients_of(const Problem& p, const Waves& kept, const Add& add) {
  Sums expected = empty_sums(p);
  for (int k = begin; k < p.n_positions; ++k)
    add_waves(p, k, besides_exit_wave(p, k, kept[p.order[k]]), expected);
  const OnGpu gpu{p};
  const OnDevice slot_sums(filled(p.probes.size(), 0.5F));
  const OnDevice overlap(std::vector<float>(p.area(), 0.5F));
  hot_path::ChunkArrays chunk = gpu.chunk(begin);
  chunk.slot_sums = slot_sums.data();
  chunk.overlap = overlap.data();
  add(gpu.scan(), chunk);
  check(cudaDeviceSynchronize());
  EXPECT_LT(distance(host(slot_sums), expected.slots), tolerance);
  EXPECT_LT(distance(host(overlap), expected.overlap), tolerance);
}

/// Sums of kept waves, of object and probe in turn.
/// @param add(scan, chunk) of them
template <class Add>
void expect_gradients_of(const Problem& p, const Waves& kept, const Add& add) {
  Sums expected = empty_sums(p);
  for (int k = begin; k < p.n_positions; ++k) add_waves(p, k, kept[p.order[k]], expected);
  const OnGpu gpu{p};
  const OnDevice object_sum(filled(p.object.size(), 0.5F));
  const OnDevice dose(std::vector<float>(p.object.size(), 0.5F));
  hot_path::ChunkArrays chunk = gpu.chunk(begin);
  chunk.object_sum = object_sum.data();
  chunk.dose = dose.data();
  add(gpu.scan(), chunk);
  check(cudaDeviceSynchronize());
  EXPECT_LT(distance(host(object_sum), expected.object), tolerance);
  EXPECT_LT(distance(host(dose), expected.dose), tolerance);
  expect_probe_gradients_of(p, kept, add);
}

}  // namespace tessera::physics::testing
