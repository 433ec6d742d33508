#include "tessera/decomposition/batch_schedule.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/random.hpp"
#include "tessera/base/text.hpp"
#include "tessera/decomposition/position_split.hpp"

namespace tessera::decomposition {
namespace {

int count_batches(std::size_t n_positions, int batch_size);
void deal_out(std::span<int> positions, std::span<const int> begin, std::span<const Pixel> corner,
              std::span<const std::uint16_t> bin);
void group_neighbours(std::span<int> positions, std::span<const int> begin,
                      std::span<const Pixel> corner, PositionSplit& split);
void shuffle(std::span<int> values, std::mt19937_64& random);

}  // namespace

BatchOrder batch_order_from(std::string_view word) {
  if (word == "spread") return BatchOrder::spread;
  if (word == "random") return BatchOrder::random;
  if (word == "compact") return BatchOrder::compact;
  const std::vector<std::string> allowed{"spread", "random", "compact"};
  const std::string nearest = nearest_name(word, allowed);
  throw InputError(text("solver.batch_order = \"", word, "\" is not one of ", joined(allowed),
                        nearest.empty() ? "" : text("; did you mean \"", nearest, "\"?")));
}

BatchSchedule::BatchSchedule(std::vector<int> positions, std::span<const Pixel> corner,
                             int batch_size, BatchOrder order, std::uint64_t seed,
                             std::span<const std::uint16_t> bin)
    : members_(std::move(positions)),
      visiting_order_(count_batches(members_.size(), batch_size)),
      order_(order),
      seed_(seed) {
  const int n_positions = static_cast<int>(members_.size());
  const int n = static_cast<int>(visiting_order_.size());
  begin_.assign(n + 1, 0);
  // The first n_positions % n batches hold one position more than the others.
  for (int b = 0; b < n; ++b) begin_[b + 1] = begin_[b] + n_positions / n + (b < n_positions % n);
  if (order == BatchOrder::random) {
    takes_part_.resize(members_.empty() ? 0 : static_cast<std::size_t>(members_.back()) + 1);
    for (const int position : members_) takes_part_[static_cast<std::size_t>(position)] = true;
  }
  if (order == BatchOrder::spread) deal_out(members_, begin_, corner, bin);
  PositionSplit split;
  if (order == BatchOrder::compact) group_neighbours(members_, begin_, corner, split);
  start_epoch(0);
}

void BatchSchedule::start_epoch(int epoch) {
  std::mt19937_64 random(random_bits(seed_, static_cast<std::uint64_t>(epoch)));
  std::iota(visiting_order_.begin(), visiting_order_.end(), 0);
  shuffle(visiting_order_, random);
  if (fixed_members()) return;
  auto next = members_.begin();
  for (std::size_t position = 0; position < takes_part_.size(); ++position)
    if (takes_part_[position]) *next++ = static_cast<int>(position);
  shuffle(members_, random);
  for (int b = 0; b < n_batches(); ++b) {
    std::sort(members_.begin() + begin_[b], members_.begin() + begin_[b + 1]);
  }
}

void BatchSchedule::forget_fixed_members() {
  if (fixed_members()) members_ = std::vector<int>();
}

std::span<const int> BatchSchedule::batch(int id) const {
  return std::span(members_).subspan(begin_[id], begin_[id + 1] - begin_[id]);
}

namespace {

int count_batches(std::size_t n_positions, int batch_size) {
  if (batch_size < 0) {
    throw InputError(text("solver.batch_size = ", batch_size,
                          " must not be negative; use 0 for the whole scan at once"));
  }
  const int n = static_cast<int>(n_positions);
  if (n == 0) return 0;
  return batch_size == 0 ? 1 : (n - 1) / batch_size + 1;
}

/// Every neighbourhood of `n_batches` positions gives one to each batch, in which they ascend.
/// (Dealing in scan order would make a batch of a raster's column whenever n_batches is the row
/// length.) Where there are bins, several neighbourhoods give as many together, sorted by bins, so
/// that a batch has positions of few.
void deal_out(std::span<int> positions, std::span<const int> begin, std::span<const Pixel> corner,
              std::span<const std::uint16_t> bin) {
  const int n_batches = static_cast<int>(begin.size()) - 1;
  if (n_batches < 2) return;
  const int n_positions = static_cast<int>(positions.size());
  std::vector<int> neighbourhood_begin;
  for (int i = 0; i < n_positions; i += n_batches) neighbourhood_begin.push_back(i);
  // More gain little (decision 10), and leave what ranks have of a batch uneven.
  constexpr int most_together = 8;
  constexpr int fewest_groups = 64;
  const int n_neighbourhoods = static_cast<int>(neighbourhood_begin.size());
  const int n_together =
      bin.empty() ? 1 : std::clamp(n_neighbourhoods / fewest_groups, 1, most_together);
  neighbourhood_begin.push_back(n_positions);
  std::vector<int> batch_of(static_cast<std::size_t>(positions.back()) + 1, -1);
  PositionSplit split;
  group_neighbours(positions, neighbourhood_begin, corner, split);

  std::vector<int> order;
  for (int first = 0; first < n_positions; first += n_together * n_batches) {
    const int n = std::min(n_together * n_batches, n_positions - first);
    order.resize(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), first);
    // Of equal bins a batch has one of each neighbourhood.
    std::ranges::sort(order, {}, [&](const int i) {
      return std::tuple(bin.empty() ? 0 : bin[positions[i]], i % n_batches, i / n_batches);
    });
    auto next = order.begin();
    for (int batch = 0; batch < n_batches; ++batch)
      for (int left = n / n_batches + (batch < n % n_batches); left > 0; --left)
        batch_of[positions[*next++]] = batch;
  }
  std::vector<int> next(begin.begin(), begin.end());
  for (std::size_t position = 0; position < batch_of.size(); ++position)
    if (const int batch = batch_of[position]; batch >= 0)
      positions[next[batch]++] = static_cast<int>(position);
}

/// k-d bisection of the window corners: batch b becomes positions[begin[b] .. begin[b + 1]), like
/// `positions` ascending.
void group_neighbours(std::span<int> positions, std::span<const int> begin,
                      std::span<const Pixel> corner, PositionSplit& split) {
  const std::size_t n_batches = begin.size() - 1;
  if (n_batches < 2) return;
  Pixel min = corner[positions.front()];
  Pixel max = min;
  for (const int i : positions) {
    min = {std::min(min.y, corner[i].y), std::min(min.x, corner[i].x)};
    max = {std::max(max.y, corner[i].y), std::max(max.x, corner[i].x)};
  }
  const bool along_y = max.y - min.y >= max.x - min.x;
  const std::size_t middle_batch = n_batches / 2;
  const auto middle = static_cast<std::size_t>(begin[middle_batch] - begin[0]);
  split.split(positions, middle, corner, along_y);
  group_neighbours(positions.first(middle), begin.first(middle_batch + 1), corner, split);
  group_neighbours(positions.subspan(middle), begin.subspan(middle_batch), corner, split);
}

/// Uniform in [0, n). The standard's distributions differ between libraries; its engines do not.
std::size_t draw_below(std::size_t n, std::mt19937_64& random) {
  constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t unfair = max - max % n;  // a remainder above it would come up too often
  std::uint64_t drawn = random();
  while (drawn >= unfair) drawn = random();
  return drawn % n;
}

/// Fisher & Yates.
void shuffle(std::span<int> values, std::mt19937_64& random) {
  for (std::size_t n = values.size(); n > 1; --n) {
    std::swap(values[n - 1], values[draw_below(n, random)]);
  }
}

}  // namespace
}  // namespace tessera::decomposition
