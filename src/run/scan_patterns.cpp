#include "scan_patterns.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tessera/physics/pattern_store.hpp"

#include "stop_signals.hpp"

namespace tessera::run {
namespace {

using decomposition::PatternsIn;
using physics::Patterns;

/// No patterns, of the type that `type` is kept in.
Patterns patterns_like(io::PatternType type) {
  switch (type) {
    case io::PatternType::u8:
      return device::DeviceView<std::uint8_t***>();
    case io::PatternType::u16:
      return device::DeviceView<std::uint16_t***>();
    case io::PatternType::u32:
      return device::DeviceView<std::uint32_t***>();
    case io::PatternType::f32:
      break;
  }
  return device::DeviceView<float***>();
}

Patterns allocated(const Patterns& like, std::size_t n, Shape2 window) {
  return std::visit(
      [&](const auto& view) -> Patterns {
        return std::decay_t<decltype(view)>(
            Kokkos::view_alloc("tessera::physics::patterns", Kokkos::WithoutInitializing), n,
            static_cast<std::size_t>(window.h), static_cast<std::size_t>(window.w));
      },
      like);
}

/// Copies what arrives to device memory, each run of neighbouring places at once.
io::TakePatterns to_device(std::uint8_t* device_memory, std::size_t n_bytes) {
  return [=](std::span<const int> places, const std::byte* patterns) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(patterns);
    for (std::size_t begin = 0, end = 0; begin < places.size(); begin = end) {
      for (end = begin + 1; end < places.size() && places[end] == places[end - 1] + 1;) ++end;
      const std::size_t bytes = (end - begin) * n_bytes;
      Kokkos::deep_copy(
          device::DeviceView<std::uint8_t*>(
              device_memory + static_cast<std::size_t>(places[begin]) * n_bytes, bytes),
          device::HostView<const std::uint8_t*>(from + begin * n_bytes, bytes));
    }
  };
}

io::TakePatterns to_host(std::byte* host_memory, std::size_t n_bytes) {
  return [=](std::span<const int> places, const std::byte* patterns) {
    for (std::size_t i = 0; i < places.size(); ++i)
      std::memcpy(host_memory + static_cast<std::size_t>(places[i]) * n_bytes,
                  patterns + i * n_bytes, n_bytes);
  };
}

/// Local positions as FilePatterns names them, from the file.
physics::FilePatterns::Read from_file(const io::ScanSource& source, const Scan& scan,
                                      int max_in_chunk) {
  const auto file = std::make_shared<io::PatternFile>(source, scan.info, max_in_chunk);
  std::vector<int> chosen(static_cast<std::size_t>(max_in_chunk));
  return [file, mine = scan.tile().positions, chosen](std::span<const int> positions,
                                                      std::byte* patterns) mutable {
    std::transform(positions.begin(), positions.end(), chosen.begin(),
                   [&](int local) { return mine[static_cast<std::size_t>(local)]; });
    file->read({chosen.data(), positions.size()}, patterns);
  };
}

}  // namespace

io::PatternTotals read_patterns(const io::ScanSource& source, int max_in_chunk,
                                const comm::Communicator& comm, PatternSample* sample, Scan& scan) {
  const Shape2 window = scan.info.pattern;
  const Patterns like = patterns_like(scan.info.type);
  const std::size_t n_bytes = physics::pattern_bytes(like, window);
  const std::size_t n = scan.tile().positions.size();
  std::shared_ptr<physics::PatternStore>& store = scan.on_device.patterns;
  const auto stream = [&](std::unique_ptr<physics::PatternSource> from) {
    store =
        std::make_shared<physics::StreamedPatterns>(like, window, max_in_chunk, std::move(from));
  };
  io::TakePatterns take;
  switch (scan.memory.patterns) {
    case PatternsIn::device: {
      const Patterns patterns = allocated(like, n, window);
      std::visit(
          [&](const auto& view) {
            take = to_device(reinterpret_cast<std::uint8_t*>(view.data()), n_bytes);
          },
          patterns);
      store = std::make_shared<physics::ResidentPatterns>(patterns);
      break;
    }
    case PatternsIn::host_memory: {
      device::PinnedBuffer patterns(n * n_bytes);
      take = to_host(patterns.data(), n_bytes);
      stream(std::make_unique<physics::PinnedPatterns>(std::move(patterns), n_bytes,
                                                       scan.on_device.order));
      break;
    }
    case PatternsIn::file:
      comm.together([&] {
        stream(std::make_unique<physics::FilePatterns>(from_file(source, scan, max_in_chunk),
                                                       n_bytes, max_in_chunk));
      });
      break;
  }
  if (sample) take = sample->before(std::move(take));
  const auto owner = [&](int position) {
    return scan.tiling.tile_of(position, scan.corner()[static_cast<std::size_t>(position)]);
  };
  return io::read_patterns(source, scan.info, owner, scan.tile().positions, comm, take,
                           io::pattern_piece_bytes, end_at_once);
}

}  // namespace tessera::run
