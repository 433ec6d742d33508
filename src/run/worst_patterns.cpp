#include "worst_patterns.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

namespace tessera::run {
namespace {

using physics::FigureSums;

int bin_of(Shape2 window) {
  return (std::max(window.h, window.w) + WorstPatterns::max_px - 1) / WorstPatterns::max_px;
}

Shape2 stored_shape(Shape2 window) {
  const int bin = bin_of(window);
  return {(window.h + bin - 1) / bin, (window.w + bin - 1) / bin};
}

}  // namespace

WorstPatterns::WorstPatterns(Shape2 window, int chunk_size, bool centres)
    : window_(window),
      centres_(centres),
      bin_(bin_of(window)),
      figures_(chunk_size),
      images_("tessera::run::worst_pattern", 2, window.h, window.w),
      host_images_(Kokkos::create_mirror_view(images_)) {}

std::int64_t WorstPatterns::bytes(const physics::Sizes& sizes) {
  return ChunkFigures::bytes(sizes) + physics::bytes_of<Real>(2 * sizes.window.size());
}

std::int64_t WorstPatterns::stored_bytes(Shape2 window) {
  return max_kept * (2 * stored_shape(window).size() * std::int64_t{sizeof(float)} +
                     3 * std::int64_t{sizeof(double)});
}

bool WorstPatterns::belongs(double cost) const {
  return cost > 0 && (std::ssize(kept_) < max_kept || cost > kept_.back().cost);
}

void WorstPatterns::look(const device::Device& exec, const physics::ForwardModel& model,
                         const physics::Chunk& chunk, std::span<const int> positions) {
  const physics::Detector& detector = model.detector();
  const ChunkFigures::Sums& sums = figures_.of(exec, model, chunk);
  for (int j = 0; j < chunk.count; ++j) {
    const double cost = sums(j, FigureSums::cost);
    if (!belongs(cost)) continue;
    detector.show(exec, model.waves(), chunk, j, images_);
    Kokkos::deep_copy(exec, host_images_, images_);
    exec.fence();
    const double counts = sums(j, FigureSums::intensity);
    if (std::ssize(kept_) == max_kept) kept_.pop_back();
    const Kept found{positions[static_cast<std::size_t>(j)], cost,
                     sums(j, FigureSums::squared_difference) / counts, picture(0), picture(1)};
    kept_.insert(std::ranges::upper_bound(kept_, cost, std::greater<>(), &Kept::cost), found);
  }
}

/// NaN where no pixel is trusted; others are left out on both sides.
std::vector<float> WorstPatterns::picture(int image) const {
  const Shape2 stored = stored_shape(window_);
  std::vector<double> sums(static_cast<std::size_t>(stored.size()),
                           std::numeric_limits<double>::quiet_NaN());
  for (int y = 0; y < window_.h; ++y)
    for (int x = 0; x < window_.w; ++x) {
      if (host_images_(0, y, x) < 0) continue;  // not trusted
      const int to_y = centres_ ? (y + window_.h / 2) % window_.h : y;
      const int to_x = centres_ ? (x + window_.w / 2) % window_.w : x;
      double& sum = sums[static_cast<std::size_t>(to_y / bin_ * stored.w + to_x / bin_)];
      sum = (std::isnan(sum) ? 0 : sum) + static_cast<double>(host_images_(image, y, x));
    }
  return {sums.begin(), sums.end()};
}

void WorstPatterns::agree(const comm::Communicator& comm) {
  std::vector<Entry> mine;
  mine.reserve(kept_.size());
  for (const Kept& kept : kept_)
    mine.push_back({kept.cost, static_cast<double>(kept.position), kept.error});
  agreed_ = comm.all_gather(std::span<const Entry>(mine));
  std::ranges::sort(agreed_, std::less<>());
  if (agreed_.size() > max_kept) agreed_.erase(agreed_.begin() + max_kept, agreed_.end());
}

void WorstPatterns::write(io::StagedFile& file) const {
  if (agreed_.empty()) return;
  const std::string group = "worst_patterns/";
  const Shape2 shape = stored_shape(window_);
  const auto n = std::ssize(agreed_);
  const auto column = [&](const char* name, auto field) {
    std::vector<double> values;
    values.reserve(agreed_.size());
    for (const Entry& entry : agreed_) values.push_back(entry.*field);
    file.write_doubles(group + name, {n}, std::move(values));
  };
  column("position", &Entry::position);
  column("cost", &Entry::cost);
  column("error", &Entry::error);
  const auto pictures = [&](const char* name, auto field) {
    file.create_dataset(group + name, {n, shape.h, shape.w}, io::ElementType::f32);
    for (std::int64_t i = 0; i < n; ++i)
      for (const Kept& kept : kept_)
        if (kept.position == static_cast<int>(agreed_[static_cast<std::size_t>(i)].position))
          file.write_slab(group + name, {i, 0, 0}, {1, shape.h, shape.w}, (kept.*field).data());
  };
  pictures("measured", &Kept::measured);
  pictures("expected", &Kept::expected);
}

}  // namespace tessera::run
