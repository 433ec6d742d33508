// What a link's latency costs when nothing else does: the interior is slept. Disabled, for figures
// by hand: cluster/test/hosts -d 10 2 mpirun --host n1:1,n2:1 -np 2 build/bin/test_halo
// --gtest_also_run_disabled_tests --gtest_filter=SlowLink.*

#include <array>
#include <chrono>
#include <cstdio>
#include <thread>

#include <gtest/gtest.h>

#include "tessera/halo/halo_exchange.hpp"

#include "tested_transports.hpp"

namespace tessera::halo {
namespace {

using testing::world;

/// Two tiles side by side, each with the same windows across the cut.
decomposition::HaloPlan wide_plan(int window_px) {
  std::vector<Pixel> corner;
  for (int y = 0; y < 256; y += 32)
    for (int x = 0; x + window_px <= 1024; x += 32) corner.push_back({y, x});
  const Shape2 window{window_px, window_px};
  return decomposition::make_halo_plan(
      decomposition::make_tiling({224 + window_px, 1024}, window, corner, world().size()),
      world().rank());
}

/// Milliseconds that this rank stands still in an accumulate and a fill, of the slowest rank.
std::array<double, 2> exposed_ms(HaloExchange& halo, std::span<const TileField> sums,
                                 std::span<const TileField> values, bool progresses) {
  constexpr int n_chunks = 48;
  const device::Device exec;
  world().barrier();
  const HaloExchange::Accumulation under_way = halo.begin_accumulate(exec, sums);
  for (int chunk = 0; chunk < n_chunks; ++chunk) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (progresses) under_way.progress();
  }
  std::array<double, 2> ms{};
  Kokkos::Timer timer;
  under_way.finish(exec);
  ms[0] = 1e3 * timer.seconds();
  world().barrier();
  timer.reset();
  halo.fill(exec, values);
  ms[1] = 1e3 * timer.seconds();
  world().maximum(ms);
  return ms;
}

TEST(SlowLink, DISABLED_AccumulateHidesBehindTheInterior) {
  const auto transport = make_transport("host_mpi", world());
  for (const int window_px : {48, 128}) {
    HaloExchange halo(wide_plan(window_px), 3, *transport);
    const Shape2 tile = halo.plan().ghosted.shape();
    const device::DeviceView<Real***> sum("sum", 3, tile.h, tile.w);
    const device::DeviceView<device::complex***> value("value", 1, tile.h, tile.w);
    const std::array sums{tile_field(sum)};
    const std::array values{tile_field(value)};
    for (const bool progresses : {false, true}) {
      std::array<double, 2> least{1e9, 1e9};
      for (int i = 0; i < 15; ++i) {
        const auto ms = exposed_ms(halo, sums, values, progresses);
        for (int k = 0; k < 2; ++k) least[k] = std::min(least[k], ms[k]);
      }
      if (world().is_root())
        std::printf("%lld ghosts, %s: accumulate %.1f ms, fill %.1f ms\n",
                    static_cast<long long>(halo.plan().ghost_pixels()),
                    progresses ? "asked after every chunk" : "left alone", least[0], least[1]);
    }
  }
}

}  // namespace
}  // namespace tessera::halo
