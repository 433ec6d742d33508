#include "cost/cost_model.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace tessera::cost {

std::string_view EpochCost::limit() const {
  const std::array<std::pair<double, std::string_view>, 5> terms{
      {{border_s + interior_s, "the positions"},
       {exchange_s, "the exchange between tiles"},
       {probe_s, "the all-reduce of the probe"},
       {updates_s, "the updates"},
       {rest_s, "starts of batches"}}};
  const auto largest = std::ranges::max_element(terms);
  if (largest == terms.begin() && waits_s > total_s() / 2) return "uneven batches";
  return largest->second;
}

CostModel::CostModel(const Machine& machine, const RunShape& run)
    : run_(run),
      rates_(rates_for(machine, run.window_px, run.n_ranks)),
      link_(link_for(machine, run.n_ranks)),
      on_gpu_(machine.on_gpu),
      shape_{.n_modes = run.n_modes,
             .n_planes = run.n_planes,
             .at_once = rates_.at_once,
             .at_least = rates_.at_least,
             .cached_px = cached_px(machine)},
      copy_bytes_per_s_(machine.copy_bytes_per_s),
      real_bytes_(machine.real_bytes) {}

void CostModel::add_rank(std::span<const BatchWork> batches) {
  batches_.resize(std::max(batches_.size(), batches.size()));
  ++n_added_;
  const double further_s = run_.n_modes * run_.more_transforms * rates_.transform_s;
  for (std::size_t id = 0; id < batches.size(); ++id) {
    const BatchWork& work = batches[id];
    const BatchAmounts amounts = amounts_of(work, shape_);
    const auto of_method = [&](const Amounts& some) {
      return run_.method.factor * seconds(some, rates_);
    };
    const Batch mine{.border_s = of_method(amounts.border) + work.border * further_s,
                     .interior_s = of_method(amounts.interior) + work.interior * further_s,
                     .updates_s = of_method(amounts.updates)};
    Batch& slowest = batches_[id];
    const double mean_s = slowest.mean_s + mine.compute_s();
    const double exchange = std::max(slowest.exchange_s, exchange_s(work, mine.interior_s));
    if (mine.compute_s() > slowest.compute_s()) slowest = mine;
    slowest.mean_s = mean_s;
    slowest.exchange_s = exchange;
  }
}

/// Sums travel behind the interior, on a host as far as they wait: there processors copy them.
/// Values, which come last, are waited for. Both are packed and unpacked: two reads, two writes.
double CostModel::exchange_s(const BatchWork& work, double interior_s) const {
  const auto bytes = [](std::int64_t n) { return static_cast<double>(n); };
  const double pack_s = 4 * bytes(work.sum_bytes + work.value_bytes) / copy_bytes_per_s_;
  double exposed_s = pack_s;
  if (work.sum_bytes > 0) {
    const double moves_s = bytes(work.sum_bytes) / link_.bytes_per_s;
    const double hidden_s = on_gpu_ ? link_.latency_s + moves_s : link_.latency_s;
    exposed_s += std::max(0.0, hidden_s - interior_s) + (on_gpu_ ? 0 : moves_s);
  }
  if (work.value_bytes > 0)
    exposed_s += link_.latency_s + bytes(work.value_bytes) / link_.bytes_per_s;
  return exposed_s;
}

double CostModel::probe_s() const {
  if (run_.n_ranks == 1) return 0;
  const int steps = std::bit_width(static_cast<unsigned>(run_.n_ranks - 1));
  const double moved = 2 * (1 - 1.0 / run_.n_ranks) * static_cast<double>(run_.shared_bytes);
  return steps * link_.all_reduce_step_s + moved / link_.all_reduce_bytes_per_s;
}

EpochCost CostModel::epoch() const {
  EpochCost epoch;
  for (const Batch& batch : batches_) {
    epoch.border_s += batch.border_s;
    epoch.interior_s += batch.interior_s;
    epoch.updates_s += batch.updates_s;
    epoch.exchange_s += batch.exchange_s;
    epoch.waits_s += batch.compute_s() - batch.mean_s / n_added_;
  }
  const auto n_batches = static_cast<double>(batches_.size());
  epoch.probe_s = n_batches * probe_s();
  // The last good state is kept: each plane read and written.
  const double kept_bytes =
      2.0 * 2 * real_bytes_ * run_.n_planes * static_cast<double>(run_.tile_px);
  epoch.rest_s = n_batches * (rates_.batch_s + run_.method.batch_s) + rates_.epoch_s +
                 kept_bytes / copy_bytes_per_s_;
  return epoch;
}

int CostModel::least_batch() const {
  const EpochCost cost = epoch();
  const auto n_batches = static_cast<double>(std::max<std::size_t>(1, batches_.size()));
  const double besides_s =
      (cost.exchange_s + cost.probe_s) / n_batches + rates_.batch_s + run_.method.batch_s;
  const double position_s = run_.method.factor * (rates_.position_s + run_.n_modes * rates_.wave_s);
  return std::max(run_.n_ranks, static_cast<int>(std::ceil(run_.n_ranks * besides_s / position_s)));
}

}  // namespace tessera::cost
