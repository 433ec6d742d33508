// Cuts a narrow object between the ranks and lets a solver's sweep fill the ghosts.

#include <cstdio>
#include <vector>

#include "tessera/comm/communicator.hpp"
#include "tessera/decomposition/halo_plan.hpp"
#include "tessera/device/runtime.hpp"
#include "tessera/halo/halo_exchange.hpp"
#include "tessera/solvers/sweep.hpp"

int main(int argc, char** argv) {
  using namespace tessera;
  const comm::Environment environment(argc, argv);
  const comm::Communicator world(MPI_COMM_WORLD);
  const device::Runtime runtime(world.local_rank());

  const std::vector<Pixel> corner = {{0, 0}, {0, 10}, {0, 20}, {0, 30}};
  const auto tiling = decomposition::make_tiling({8, 38}, {8, 8}, corner, world.size());
  const auto plan = decomposition::make_halo_plan(tiling, world.rank());
  const Box held = plan.ghosted;
  device::DeviceView<Real***> object("consumer::object", 1, static_cast<std::size_t>(held.height()),
                                     static_cast<std::size_t>(held.width()));
  // 1 in the owned pixels, 0 in the ghosts.
  const auto here = Kokkos::create_mirror_view(object);
  for (int y = 0; y < held.height(); ++y)
    for (int x = 0; x < held.width(); ++x)
      here(0, y, x) = plan.owned.contains(Pixel{held.begin.y + y, held.begin.x + x}) ? 1 : 0;
  Kokkos::deep_copy(object, here);
  const auto transport = halo::make_transport("host_mpi", world);
  halo::HaloExchange halo(plan, 1, *transport);
  const std::vector<int>& positions =
      tiling.tiles[static_cast<std::size_t>(world.rank())].positions;
  const std::vector<int> all = {0, 1, 2, 3};
  const std::vector<Vec2> subpixel(positions.size());
  const decomposition::NearWindows near{{8, 8},
                                        all,
                                        {corner.begin(), corner.end()},
                                        decomposition::tile_of_positions(tiling, corner)};
  const solvers::ScanShare share{
      .positions = positions,
      .on_border = decomposition::touches_ghosts(tiling, world.rank(), corner),
      .subpixel = subpixel,
      .near = near,
  };
  physics::ScanTile tile;
  tile.order = device::DeviceView<int*>("consumer::order", positions.size());
  tile.slot = device::DeviceView<int*>("consumer::slot", positions.size());
  tile.slot_shift = device::DeviceView<Real* [2]>("consumer::slot_shift", positions.size());
  solvers::Sweep sweep({all, corner, 2, decomposition::BatchOrder::spread, 1}, share, 1, 1, tile,
                       halo, *transport);
  const halo::TileField field = halo::tile_field(object);
  sweep.fill(device::Device(), field);

  Kokkos::deep_copy(here, object);
  double filled = 0;
  for (std::size_t pixel = 0; pixel < here.size(); ++pixel) filled += here.data()[pixel];
  std::printf("rank %d holds %lld pixels\n", world.rank(), static_cast<long long>(held.area()));
  return world.any(filled != static_cast<double>(held.area())) ? 1 : 0;
}
