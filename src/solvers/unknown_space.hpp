#pragma once
/// Object and probe as one vector, for methods that move both along one direction.

#include "physics/inner_product.hpp"
#include "solvers/owned_tile.hpp"
#include "solvers/solver.hpp"

namespace tessera::solvers {

/// Zeros of the shapes of `unknowns`.
Unknowns make_like(const Unknowns& unknowns);

/// Both parts: name_object and name_probe.
Fields fields_of(const std::string& name, const Unknowns& vector);

/// What a linear combination multiplies by: sign, times a number on the device if there is one.
struct Factor {
  const double* value = nullptr;
  double sign = 1;
  KOKKOS_FUNCTION Real operator()() const {
    return static_cast<Real>(value ? sign * *value : sign);
  }
};

/// to = from + factor * direction, ghosts too; `to` may be `from`.
void move_along(const device::Device& exec, const Unknowns& from, const Unknowns& direction,
                const Factor& factor, const Unknowns& to);

/// Vectors are Unknowns; of their objects only owned pixels count. Nothing here waits for the
/// device.
class UnknownSpace {
 public:
  /// @param counts_probe true on one rank: inner products count the probe once
  UnknownSpace(const OwnedTile& tile, bool counts_probe)
      : tile_(tile), counts_probe_(counts_probe) {}

  /// product(0) += this rank's part of Re <a, b>, in double; product(1) is scratch.
  void add_product(const device::Device& exec, const Unknowns& a, const Unknowns& b,
                   const device::DeviceView<double*>& product) const;
  /// to = a * from + b * to
  void combine(const device::Device& exec, const Unknowns& to, const Factor& a,
               const Unknowns& from, const Factor& b = {}) const;

 private:
  OwnedTile tile_;
  bool counts_probe_;
  physics::InnerProduct inner_product_;
};

}  // namespace tessera::solvers
