#pragma once
/// All patterns of this rank in one piece of memory, for tests.

#include <algorithm>

#include "io/scan_reader.hpp"

namespace tessera::io::testing {

struct AllPatterns : PatternTotals {
  std::vector<PatternMoments> moments_of_all;  ///< by scan position
  PatternType type = PatternType::f32;
  std::vector<std::byte> values;  ///< (positions.size(), h, w)
};

/// Collective.
inline AllPatterns read_all(const ScanSource& source, const ScanInfo& info,
                            std::span<const int> owner, std::span<const int> positions,
                            const comm::Communicator& comm,
                            std::int64_t piece_bytes = pattern_piece_bytes) {
  const std::size_t n_bytes = static_cast<std::size_t>(info.pattern.size()) * size_of(info.type);
  AllPatterns all;
  all.type = info.type;
  all.values.resize(positions.size() * n_bytes);
  const auto take = [&](std::span<const int> places, const std::byte* patterns) {
    for (const int place : places) {
      std::copy_n(patterns, n_bytes, all.values.data() + static_cast<std::size_t>(place) * n_bytes);
      patterns += n_bytes;
    }
  };
  static_cast<PatternTotals&>(all) = read_patterns(
      source, info, [&](int position) { return owner[position]; }, positions, comm, take,
      piece_bytes);
  all.moments_of_all = io::moments_of_all(all.moments, info.n_positions, comm);
  return all;
}

}  // namespace tessera::io::testing
