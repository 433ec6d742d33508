#pragma once
/// Moves nothing: what an epoch would take if communication were free. Its answer is wrong.

#include "tessera/halo/transport.hpp"

namespace tessera::scaling {

class NullTransport : public halo::Transport {
 public:
  std::string_view name() const override { return "none"; }
  void begin(const device::Device&, const std::vector<halo::Message>&, int) override {}
  bool needs_buffers() const override { return false; }
  void begin_in_place(const halo::TileFields&, std::span<const halo::PixelMessage>,
                      halo::Arrival) override {}
  void finish(const device::Device&) override {}
  bool recordable() const override { return true; }
  bool sums_beside() const override { return true; }
  void all_reduce(const device::Device&, const device::DeviceView<Real*>&) override {}
  void all_reduce_doubles(const device::Device&, const device::DeviceView<double*>&) override {}
  void broadcast(const device::Device&, const device::DeviceView<Real*>&) override {}
};

}  // namespace tessera::scaling
