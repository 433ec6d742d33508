#include "tessera/solvers/sweep.hpp"

#include <algorithm>

namespace tessera::solvers {

Sweep::Sweep(decomposition::BatchSchedule schedule, std::span<const int> positions,
             const std::vector<bool>& on_border, int chunk_size,
             const device::DeviceView<int*>& order, comm::HaloExchange& halo,
             comm::Transport& transport)
    : schedule_(std::move(schedule)),
      on_border_(on_border),
      chunk_size_(chunk_size),
      order_(order),
      host_order_("tessera::solvers::order", order.extent(0)),
      halo_(halo),
      transport_(transport) {
  const int n_local = static_cast<int>(positions.size());
  const int n_scan = positions.empty() ? 0 : positions.back() + 1;
  local_of_position_.assign(static_cast<std::size_t>(n_scan), -1);
  for (int i = 0; i < n_local; ++i) local_of_position_[positions[i]] = i;
  // Room for the worst epoch, so that none allocates: every batch may end in a short border and a
  // short interior chunk.
  border_.reserve(positions.size());
  interior_.reserve(positions.size());
  const int most_chunks = n_local / chunk_size + 2 * schedule_.n_batches();
  chunks_.reserve(static_cast<std::size_t>(most_chunks));
  pass_.reserve(static_cast<std::size_t>(most_chunks));
  laid_out_.resize(static_cast<std::size_t>(schedule_.n_batches()));
  epoch_.resize(laid_out_.size());
}

std::span<const Batch> Sweep::start_epoch(const device::Device& exec, int epoch) {
  schedule_.start_epoch(epoch);
  if (chunks_.empty() || !schedule_.fixed_members()) {
    lay_out_batches();
    Kokkos::deep_copy(exec, order_, host_order_);
  }
  const std::span<const int> visits = schedule_.visiting_order();
  pass_.clear();
  for (std::size_t i = 0; i < epoch_.size(); ++i) {
    epoch_[i] = laid_out_[visits[i]];
    for (const auto& chunks : {epoch_[i].border, epoch_[i].interior})
      pass_.insert(pass_.end(), chunks.begin(), chunks.end());
  }
  return epoch_;
}

physics::Pass Sweep::pass() const {
  return {
      pass_, {host_order_.data(), static_cast<std::size_t>(n_ordered_)}, schedule_.fixed_members()};
}

void Sweep::lay_out_batches() {
  n_ordered_ = 0;
  chunks_.clear();
  for (int id = 0; id < schedule_.n_batches(); ++id) {
    border_.clear();
    interior_.clear();
    for (const int position : schedule_.batch(id)) {
      if (position >= static_cast<int>(local_of_position_.size())) continue;
      const int local = local_of_position_[position];
      if (local >= 0) (on_border_[local] ? border_ : interior_).push_back(local);
    }
    const std::size_t first = chunks_.size();
    append_chunks(border_);
    const std::size_t middle = chunks_.size();
    append_chunks(interior_);
    laid_out_[id] = {std::span(chunks_.data() + first, middle - first),
                     std::span(chunks_.data() + middle, chunks_.size() - middle)};
  }
}

void Sweep::append_chunks(std::span<const int> local_positions) {
  const int n = static_cast<int>(local_positions.size());
  for (int begin = 0; begin < n; begin += chunk_size_)
    chunks_.push_back({n_ordered_ + begin, std::min(chunk_size_, n - begin)});
  std::copy(local_positions.begin(), local_positions.end(), host_order_.data() + n_ordered_);
  n_ordered_ += n;
}

}  // namespace tessera::solvers
