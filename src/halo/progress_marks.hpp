#pragma once
/// Whether the device gets on with work that waits for other ranks.

#include <array>
#include <functional>
#include <string>

#include "tessera/device/stream.hpp"

namespace tessera::halo {

/// Marks in the work of `exec`, one a batch. The deadline counts from one mark to the next, because
/// an epoch may well last longer.
class ProgressMarks {
 public:
  /// @param look while the host waits: throws where something has failed
  /// @param fail throws SystemError that says what it is given
  ProgressMarks(double timeout_s, std::function<void()> look,
                std::function<void(const std::string&)> fail);

  /// Waits only when there are many.
  void set(const device::Device& exec);
  /// Until all that `exec` has to do is done.
  void wait(const device::Device& exec);

 private:
  void wait_for_oldest();

  double timeout_s_;
  std::function<void()> look_;
  std::function<void(const std::string&)> fail_;
  std::array<device::Event, 64> marks_;  ///< a ring
  std::size_t oldest_ = 0;
  std::size_t n_marks_ = 0;
};

}  // namespace tessera::halo
