#pragma once
/// What decides how many bytes the arrays of a rank take. Every class that allocates says its own
/// from it, beside its constructor: `bytes`, of device memory.

#include <cstdint>

#include "tessera/base/box.hpp"
#include "tessera/device/device.hpp"
#include "tessera/physics/model_options.hpp"

namespace tessera::physics {

/// Of an array of `n` values.
template <class T>
constexpr std::int64_t bytes_of(std::int64_t n) {
  return n * static_cast<std::int64_t>(sizeof(T));
}

struct Sizes {
  ModelOptions model;
  Shape2 window;
  Shape2 ghosted;                ///< of the rank's tile, object pixels
  int n_positions = 0;           ///< of this rank
  bool has_subpixel = false;     ///< positions are not on whole pixels
  bool has_background = false;   ///< given, or fitted
  bool moves_positions = false;  ///< they are fitted

  int n_planes() const { return model.n_object_modes * model.n_slices; }
  int n_probe_images() const { return model.n_modes + model.n_opr_modes; }
  bool has_slots() const { return has_subpixel || model.own_probes; }
  /// Shifted probes that are kept.
  int n_slots() const {
    return model.own_probes ? model.chunk_size * model.n_sub_positions : model.max_slots;
  }

  /// Complex, as the object.
  std::int64_t object_bytes() const {
    return bytes_of<device::complex>(n_planes() * ghosted.size());
  }
  /// Complex, as the probe with its OPR modes.
  std::int64_t probe_bytes() const {
    return bytes_of<device::complex>(n_probe_images() * window.size());
  }
  /// Of one position.
  std::int64_t waves_bytes() const {
    return bytes_of<device::complex>(model.n_waves() * window.size());
  }
};

}  // namespace tessera::physics
