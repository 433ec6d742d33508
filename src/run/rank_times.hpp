#pragma once
/// What a rank's time went into.

namespace tessera::run {

/// Where this rank's time went, and what it moved.
struct RankTimes {
  double compute_s = 0;
  double halo_s = 0;
  double reduce_s = 0;
  double io_s = 0;
  double halo_bytes = 0;
  double halo_messages = 0;
  double pattern_bytes_read = 0;
};

}  // namespace tessera::run
