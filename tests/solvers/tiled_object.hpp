#pragma once
/// A random object on the tiles of all ranks, and as a whole on every rank.

#include <numeric>
#include <random>

#include "solvers/constraint_list.hpp"
#include "support/small_scan.hpp"
#include "support/world.hpp"

namespace tessera::testing {

class TiledObject {
 public:
  static constexpr Shape2 window{16, 14};
  static constexpr Shape2 shape{61, 54};
  static constexpr int n_scan = 40;

  /// The rightmost and lowest pixels are in no window.
  TiledObject(int n_planes, int n_probe_images)
      : whole(n_planes, shape), probe(random_waves(n_probe_images, window, 3)) {
    const WaveStack noise = random_waves(n_planes, shape, 1);
    for (std::size_t i = 0; i < whole.size(); ++i) whole.data()[i] = 1.0 + 0.5 * noise.data()[i];
    std::mt19937 random(2);
    for (int i = 0; i < n_scan; ++i)
      corner.push_back({static_cast<int>(random() % (shape.h - window.h - 8)),
                        static_cast<int>(random() % (shape.w - window.w - 8))});
    tiling_ = decomposition::make_tiling(shape, window, corner, world().size(), {}, 1);
    const auto n_mine = tile().positions.size();
    scan_tile_.order = device::DeviceView<int*>("order", n_mine);
    scan_tile_.slot = device::DeviceView<int*>("slot", n_mine);
    scan_tile_.slot_shift = device::DeviceView<Real* [2]>("slot_shift", n_mine);
    transport_ = halo::make_transport("host_mpi", world());
    halo_ = std::make_unique<halo::HaloExchange>(
        decomposition::make_halo_plan(tiling_, world().rank()), 2 * n_planes, *transport_);
    std::vector<int> all(n_scan);
    std::iota(all.begin(), all.end(), 0);
    const std::vector<Vec2> subpixel(n_mine);
    const decomposition::NearWindows near{window, all, corner,
                                          decomposition::tile_of_positions(tiling_, corner)};
    sweep_ = std::make_unique<solvers::Sweep>(
        decomposition::BatchSchedule(all, corner, 0, decomposition::BatchOrder::spread, 1),
        solvers::ScanShare{tile().positions, std::vector<bool>(n_mine), subpixel, near}, 4, 4,
        scan_tile_, *halo_, *transport_);
    upload();
  }

  const decomposition::Tile& tile() const {
    return tiling_.tiles[static_cast<std::size_t>(world().rank())];
  }
  solvers::ConstrainedTile constrained() const {
    return {.owned = tile().owned,
            .ghosted = tile().ghosted,
            .object = shape,
            .window = window,
            .n_slices = n_slices,
            .n_probe_modes = n_probe_modes,
            .n_probe_images = probe.n(),
            .counts_per_pattern = counts_per_pattern,
            .background = background,
            .trusted_by_far_field = trusted_by_far_field,
            .corner = corner};
  }
  /// `whole` and `probe` to the tiles.
  void upload() {
    const Box& held = tile().ghosted;
    WaveStack mine(whole.n(), held.shape());
    for (int i = 0; i < whole.n(); ++i)
      for (int y = 0; y < mine.h(); ++y)
        for (int x = 0; x < mine.w(); ++x)
          mine(i, y, x) = whole(i, held.begin.y + y, held.begin.x + x);
    unknowns = {on_device(mine), on_device(probe)};
  }
  /// Collective.
  void apply(const settings::Constraints& settings, int epoch = 0) {
    const fft::Plan plan(constrained().window, fft::Planning::reproducible);
    solvers::ConstraintList constraints(settings, constrained(), plan);
    constraints.apply({}, *sweep_, unknowns, epoch);
  }
  /// Greatest |held - expected|, ghosts too, over all ranks. Collective.
  double worst(const WaveStack& expected) const {
    const WaveStack mine = on_host(unknowns.object);
    const Pixel origin = tile().ghosted.begin;
    std::array<double, 1> worst{};
    for (int i = 0; i < mine.n(); ++i)
      for (int y = 0; y < mine.h(); ++y)
        for (int x = 0; x < mine.w(); ++x)
          worst[0] =
              std::max(worst[0], std::abs(mine(i, y, x) - expected(i, origin.y + y, origin.x + x)));
    world().maximum(worst);
    return worst[0];
  }
  /// The object as its owners hold it, on every rank. Collective.
  WaveStack gathered() const {
    WaveStack all(whole.n(), shape);
    const WaveStack mine = on_host(unknowns.object);
    const Pixel origin = tile().ghosted.begin;
    const Box& owned = tile().owned;
    for (int i = 0; i < all.n(); ++i)
      for (int y = owned.begin.y; y < owned.end.y; ++y)
        for (int x = owned.begin.x; x < owned.end.x; ++x)
          all(i, y, x) = mine(i, y - origin.y, x - origin.x);
    world().sum(std::span<double>(reinterpret_cast<double*>(all.data()), 2 * all.size()));
    return all;
  }
  /// Far-field intensities of this rank's positions, whole pixels, through the first plane.
  ImageStack<double> intensities() const {
    const WaveStack object = on_host(unknowns.object);
    const WaveStack modes = on_host(unknowns.probe);
    ImageStack<double> made(static_cast<int>(tile().positions.size()), window);
    for (int j = 0; j < made.n(); ++j) {
      const Pixel at = corner[static_cast<std::size_t>(tile().positions[j])];
      const Pixel in_tile = at - tile().ghosted.begin;
      const ImageStack<double> one = intensity(dft(exit_waves(object, modes, in_tile, {}), -1));
      std::copy(one.begin(), one.end(), made.image(j));
    }
    return made;
  }

  int n_slices = 1;
  int n_probe_modes = 1;
  double counts_per_pattern = 0;
  device::DeviceView<Real**> background;
  device::DeviceView<Real**> trusted_by_far_field;
  WaveStack whole;
  WaveStack probe;
  std::vector<Pixel> corner;
  solvers::Unknowns unknowns;

 private:
  decomposition::Tiling tiling_;
  physics::ScanTile scan_tile_;
  std::unique_ptr<halo::Transport> transport_;
  std::unique_ptr<halo::HaloExchange> halo_;
  std::unique_ptr<solvers::Sweep> sweep_;
};

}  // namespace tessera::testing
