#pragma once
/// Sums over all ranks that nobody waits for.

#include <array>
#include <cstdint>

#include "tessera/comm/communicator.hpp"

namespace tessera::comm {

/// On a communicator of its own, so that it mixes with nothing else that the ranks exchange.
class LaterSum {
 public:
  using Values = std::array<std::int64_t, 2>;

  /// Collective.
  explicit LaterSum(const Communicator& comm) : comm_(comm.handle()) {}
  LaterSum(const LaterSum&) = delete;
  LaterSum& operator=(const LaterSum&) = delete;

  /// All ranks start one after another in the same order, each when it likes.
  void start(const Values& mine);
  /// Whether all ranks have come; does not wait.
  bool has_arrived();
  const Values& values() const { return sums_; }

 private:
  Communicator comm_;
  Values mine_{};
  Values sums_{};
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace tessera::comm
