#pragma once
/// What decides how many bytes the arrays of a rank take. Every class that allocates says its own
/// from it, beside its constructor.

#include <cstdint>

#include "tessera/base/box.hpp"
#include "tessera/device/device.hpp"
#include "tessera/physics/model_options.hpp"

namespace tessera::physics {

struct Sizes {
  ModelOptions model;
  Shape2 window;
  Shape2 ghosted;       ///< of the rank's tile, object pixels
  int n_positions = 0;  ///< of this rank

  int n_planes() const { return model.n_object_modes * model.n_slices; }
  int n_probe_images() const { return model.n_modes + model.n_opr_modes; }
  /// Complex, as the object.
  std::int64_t object_bytes() const { return n_planes() * ghosted.size() * complex_bytes; }
  /// Complex, as the probe with its OPR modes.
  std::int64_t probe_bytes() const { return n_probe_images() * window.size() * complex_bytes; }
  /// Of one position.
  std::int64_t waves_bytes() const { return model.n_waves() * window.size() * complex_bytes; }

  static constexpr auto complex_bytes = static_cast<std::int64_t>(sizeof(device::complex));
};

}  // namespace tessera::physics
