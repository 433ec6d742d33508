#include "tessera/solvers/wave_store.hpp"

namespace tessera::solvers {
namespace {

using physics::WavesView;

/// `to_store`, or from it; image i of the chunk is image i % n_images of its position.
template <bool to_store>
struct CopyWaves {
  WavesView chunk_waves;
  WavesView stored;
  device::DeviceView<int*> order;
  int chunk_begin;
  int n_images;

  struct Row {
    const Real* from;
    Real* to;
    KOKKOS_FUNCTION void operator()(const int x) const { to[x] = from[x]; }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int j = i / n_images;
    const int image = i - j * n_images;
    Real* in_chunk = device::reals(&chunk_waves(j, image, y, 0));
    Real* in_store = device::reals(&stored(order(chunk_begin + j), image, y, 0));
    return to_store ? Row{in_chunk, in_store} : Row{in_store, in_chunk};
  }
};

template <bool to_store>
void copy(const device::Device& exec, const physics::ForwardModel& model,
          const physics::Chunk& chunk, const WavesView& stored) {
  const auto n_images = static_cast<int>(stored.extent(1));
  const Shape2 window = model.scan().window;
  device::for_each_row_pixel(
      exec, "tessera::solvers::copy_waves", chunk.count * n_images, {window.h, 2 * window.w},
      CopyWaves<to_store>{model.waves(), stored, model.scan().order, chunk.begin, n_images});
}

}  // namespace

WaveStore::WaveStore(const physics::ForwardModel& model)
    : waves("tessera::solvers::stored_waves", model.scan().corner.extent(0),
            model.waves().extent(1), model.waves().extent(2), model.waves().extent(3)) {}

void WaveStore::copy_in(const device::Device& exec, const physics::ForwardModel& model,
                        const physics::Chunk& chunk) const {
  copy<true>(exec, model, chunk, waves);
}

void WaveStore::copy_out(const device::Device& exec, const physics::ForwardModel& model,
                         const physics::Chunk& chunk) const {
  copy<false>(exec, model, chunk, waves);
}

}  // namespace tessera::solvers
