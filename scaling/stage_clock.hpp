#pragma once
/// Where the time goes: listens to Kokkos as a profiling tool does, and waits for the device at the
/// beginning and end of every kernel, copy and region.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tessera/device/device.hpp"

namespace tessera::scaling {

struct Stage {
  std::int64_t n_calls = 0;
  double seconds = 0;  ///< without what runs inside of it under a name of its own
};

/// Listens as long as it lives; one at a time. What overlaps without it does not with it.
class StageClock {
 public:
  StageClock();
  ~StageClock();
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;

  void begin(const std::string& name);
  void end();
  const std::map<std::string, Stage>& stages() const { return stages_; }

 private:
  void charge();

  std::map<std::string, Stage> stages_;
  std::vector<Stage*> open_;
  Kokkos::Timer timer_;
};

}  // namespace tessera::scaling
