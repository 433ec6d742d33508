#pragma once
/// What a run falls back on.

#include <vector>

#include "solvers/fields.hpp"

namespace tessera::run {

/// Copies of what a run reconstructs: of its best state, and of the last, which may be found to be
/// better. Nothing here waits for the device.
class GoodState {
 public:
  /// Allocates twice as much as the fields take. The present state, after `n_epochs`, is the best.
  GoodState(solvers::Fields fields, const device::Device& exec, int n_epochs);

  /// Looks at the present state from here on.
  void keep(const device::Device& exec, int n_epochs);
  /// What `keep` has seen last is the best, unless another had a lower cost.
  void judge(double cost);
  /// Costs of what comes do not compare with those before.
  void forget_cost();

  /// The present state = the best one. Returns the epochs that it has seen.
  int put_back(const device::Device& exec);

 private:
  struct Copy {
    solvers::Fields fields;
    int n_epochs;
  };
  Copy room();

  solvers::Fields now_;
  std::vector<device::DeviceView<char*>> device_memory_;
  std::vector<device::HostView<char*>> host_memory_;
  Copy best_;
  Copy last_;
  double least_cost_;
};

}  // namespace tessera::run
