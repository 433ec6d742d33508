#include "run/binned_patterns.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "io/stored_patterns.hpp"

namespace tessera::run {

BinnedPatterns::BinnedPatterns(const Scan& scan, std::vector<int> chosen, int max_px)
    : type_(scan.info.type),
      recorded_(scan.info.pattern),
      middle_(scan.plan.optics.is_near_field() ? Pixel{} : Pixel{recorded_.h / 2, recorded_.w / 2}),
      ignored_(scan.info.saturation),
      bin_((std::max(recorded_.h, recorded_.w) + max_px - 1) / max_px),
      chosen_(std::move(chosen)),
      patterns_(static_cast<int>(chosen_.size()), {recorded_.h / bin_, recorded_.w / bin_}) {}

std::size_t BinnedPatterns::recorded_bytes() const {
  return static_cast<std::size_t>(recorded_.size()) * io::size_of(type_);
}

void BinnedPatterns::keep(int position, const std::byte* pattern) {
  const auto found = std::ranges::lower_bound(chosen_, position);
  if (found == chosen_.end() || *found != position) return;
  const int i = static_cast<int>(found - chosen_.begin());
  io::with_type(type_, [&](auto like) {
    const auto* const counts = reinterpret_cast<const decltype(like)*>(pattern);
    double last = 0;  // in place of a pixel that is ignored
    for (int y = 0; y < recorded_.h; ++y)
      for (int x = 0; x < recorded_.w; ++x) {
        const auto count = static_cast<double>(counts[std::int64_t{y} * recorded_.w + x]);
        if (count < ignored_) last = count;
        const int row = (y + middle_.y) % recorded_.h / bin_;
        const int column = (x + middle_.x) % recorded_.w / bin_;
        if (row < patterns_.h() && column < patterns_.w()) patterns_(i, row, column) += last;
      }
  });
}

const ImageStack<double>& BinnedPatterns::gather(const comm::Communicator& comm) {
  comm.sum(std::span(patterns_.data(), patterns_.size()));
  return patterns_;
}

}  // namespace tessera::run
