#pragma once
/// Batches that launch the same work in every epoch, recorded once (docs/decisions/0012).

#include <vector>

#include "tessera/halo/halo_exchange.hpp"

#include "device/graph.hpp"

namespace tessera::run {

class RecordedBatches {
 public:
  /// @param n_batches of a sweep whose exchanges can be recorded; 0: nothing is
  RecordedBatches(int n_batches, halo::HaloExchange& halo)
      : halo_(halo), batches_(static_cast<std::size_t>(n_batches)) {}

  /// Runs work(), which is that of batch `id`. The first time its kernels are launched one by one,
  /// which may allocate, and then recorded; from then on it is one launch.
  /// @param repeats it launches the same from now on
  template <class Work>
  void run(const device::Device& exec, int id, bool repeats, const Work& work) {
    if (batches_.empty() || !device::graphs_pay()) return work();
    Recorded& recorded = batches_[static_cast<std::size_t>(id)];
    const halo::HaloStatistics before = halo_.statistics();
    if (recorded.work.recorded()) {
      recorded.work.launch(exec);
      halo_.restore(before + recorded.traffic);
      return;
    }
    work();
    if (!repeats) return;
    const halo::HaloStatistics after = halo_.statistics();
    recorded.work.record(exec, work);
    recorded.traffic = {0, after.bytes_sent - before.bytes_sent,
                        after.messages_sent - before.messages_sent};
    halo_.restore(after);
  }

 private:
  struct Recorded {
    device::Graph work;
    halo::HaloStatistics traffic;
  };
  halo::HaloExchange& halo_;
  std::vector<Recorded> batches_;  ///< by id
};

}  // namespace tessera::run
