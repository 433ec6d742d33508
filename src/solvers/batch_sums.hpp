#pragma once
/// The sums that a batch makes for the updates of object and probe, and how they travel.

#include <array>
#include <span>

#include "tessera/physics/sizes.hpp"

#include "physics/gradient_sums.hpp"
#include "physics/update_weight.hpp"
#include "solvers/solver.hpp"

namespace tessera::solvers {

/// What the sums of a batch are measured by, on the device.
struct Maxima {
  device::DeviceView<Real> power{"tessera::solvers::max_power"};      ///< max_x sum_m |P_m|^2
  device::DeviceView<Real> overlap{"tessera::solvers::max_overlap"};  ///< max_x sum_j |O_j|^2
};

/// The object beside the sums that move it, for `update_touched_pixels`.
struct ObjectAndSums {
  physics::ObjectView object;
  physics::GradientSums sums;

  struct Pixel {
    device::complex object;
    device::complex sum;
    Real dose;
  };
  KOKKOS_FUNCTION Pixel read(int plane, int y, int x) const {
    return {object(plane, y, x), sums.object(plane, y, x), sums.dose(plane, y, x)};
  }
  KOKKOS_FUNCTION void clear_sums(int plane, int y, int x) const {
    sums.object(plane, y, x) = device::complex(0);
    sums.dose(plane, y, x) = 0;
  }
};

class BatchSums {
 public:
  explicit BatchSums(const Unknowns& unknowns);
  static std::int64_t bytes(const physics::Sizes& sizes) {
    return sizes.object_bytes() + sizes.object_bytes() / 2 + sizes.probe_bytes() +
           sizes.window.size() * static_cast<std::int64_t>(sizeof(Real));
  }

  const physics::GradientSums& sums() const { return sums_; }
  void clear_shared(const device::Device& exec) const { device::set_zero(exec, shared_); }

  /// add(chunk) for every chunk of the batch, which writes sums(); afterwards owners hold the
  /// complete object sums and every rank the complete probe sums. Per batch 3 Reals per ghost
  /// pixel and plane travel to owners, and 2 n_modes + 1 Reals per probe pixel are all-reduced.
  /// Collective.
  /// @param beside where the probe's sums are completed; else in `exec`
  template <class Add>
  void add_up(const device::Device& exec, Sweep& sweep, const Batch& batch, const Add& add,
              device::Beside* beside = nullptr) const {
    const std::array object_sums{halo::tile_field(sums_.object), halo::tile_field(sums_.dose)};
    sweep.sum(exec, batch, object_sums, shared_, add, beside);
  }
  /// The object's sums alone: nothing is all-reduced.
  template <class Add>
  void add_up_object(const device::Device& exec, Sweep& sweep, const Batch& batch,
                     const Add& add) const {
    const std::array object_sums{halo::tile_field(sums_.object), halo::tile_field(sums_.dose)};
    sweep.sum(exec, batch, object_sums, {}, add);
  }
  /// The probe's sums alone, of `chunks`, from sums().of_probe(): nothing travels to owners.
  template <class Add>
  void add_up_probe(const device::Device& exec, Sweep& sweep,
                    std::span<const physics::Chunk> chunks, const Add& add) const {
    for (const physics::Chunk& chunk : chunks) add(chunk);
    sweep.all_reduce_reals(exec, shared_);
  }

 private:
  device::DeviceView<Real*> shared_;  ///< sums_.probe and .overlap in one piece: one all-reduce
  physics::GradientSums sums_;
};

/// A complex view as Reals, one after another.
inline device::DeviceView<Real*> as_reals(const device::DeviceView<device::complex***>& view) {
  return device::DeviceView<Real*>(reinterpret_cast<Real*>(view.data()), 2 * view.size());
}

/// steps(0) = object, steps(1) = probe. Does not wait.
void set_steps(const device::Device& exec, const device::DeviceView<Real[2]>& steps, double object,
               double probe);

}  // namespace tessera::solvers
