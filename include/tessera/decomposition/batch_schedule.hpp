#pragma once
/// Which positions are updated together, and in which order. Batches are global: the same whatever
/// the number of ranks.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tessera/base/box.hpp"

namespace tessera::decomposition {

enum class BatchOrder {
  spread,  ///< neighbours dealt out, so that every batch covers the whole sample
  random,  ///< dealt out anew in every epoch
  compact  ///< neighbours together (k-d bisection of the window corners)
};

/// @throws InputError naming the allowed words
BatchOrder batch_order_from(std::string_view word);

/// The batches of one epoch after another. Before the first start_epoch it stands at epoch 0.
class BatchSchedule {
 public:
  /// @param positions the scan positions that take part (ascending)
  /// @param corner window corners of all scan positions
  /// @param batch_size positions in a batch, over all ranks; 0: the whole scan
  /// @param bin of all scan positions: spread batches have positions of few bins; empty: no matter
  /// @throws InputError if batch_size is negative
  BatchSchedule(std::vector<int> positions, std::span<const Pixel> corner, int batch_size,
                BatchOrder order, std::uint64_t seed, std::span<const std::uint16_t> bin = {});

  int n_batches() const { return static_cast<int>(begin_.size()) - 1; }
  /// True if batch(id) is the same in every epoch, so that a rank may prepare its share once.
  bool fixed_members() const { return order_ != BatchOrder::random; }
  /// Draw the batches and their order for `epoch` (from 0). Depends on seed and epoch alone: a
  /// resumed run continues alike. Allocates nothing.
  void start_epoch(int epoch);
  /// Batch ids in the order of this epoch; drawn anew in each, so that epochs do not sweep the
  /// sample alike.
  std::span<const int> visiting_order() const { return visiting_order_; }
  /// Positions of batch `id`, ascending. Sizes differ by at most one; the first is as large as any.
  std::span<const int> batch(int id) const;
  int max_in_batch() const { return n_batches() > 0 ? begin_[1] : 0; }
  /// Gives back the memory of fixed members, of which `batch` says nothing any more.
  void forget_fixed_members();

 private:
  std::vector<bool> takes_part_;  ///< by scan position; of random batches alone
  std::vector<int> members_;      ///< of batch 0, of batch 1, ...
  std::vector<int> begin_;        ///< of each batch in members_, and the end
  std::vector<int> visiting_order_;
  BatchOrder order_;
  std::uint64_t seed_;
};

}  // namespace tessera::decomposition
