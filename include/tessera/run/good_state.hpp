#pragma once
/// What a run falls back on.

#include "tessera/solvers/solver.hpp"

namespace tessera::run {

/// A copy of what a run reconstructs, made while all of it is finite.
class GoodState {
 public:
  /// @param corner of the windows, and `displacement`: what moves with refined positions
  GoodState(const solvers::Unknowns& unknowns, const device::DeviceView<int* [2]>& corner,
            const device::DeviceView<double* [2]>& displacement);
  /// The present state from here on. Does not wait for the device.
  void keep(const device::Device& exec) const;
  void put_back(const device::Device& exec) const;

 private:
  struct State {
    solvers::Unknowns unknowns;
    device::DeviceView<int* [2]> corner;
    device::DeviceView<double* [2]> displacement;
  };
  static void copy(const device::Device& exec, const State& to, const State& from);

  State now_;
  State kept_;
};

}  // namespace tessera::run
