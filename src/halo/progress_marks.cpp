#include "progress_marks.hpp"

#include <thread>

#include "tessera/base/text.hpp"

namespace tessera::halo {

ProgressMarks::ProgressMarks(double timeout_s, std::function<void()> look,
                             std::function<void(const std::string&)> fail)
    : timeout_s_(timeout_s), look_(std::move(look)), fail_(std::move(fail)) {}

void ProgressMarks::set(const device::Device& exec) {
  look_();
  if (n_marks_ == marks_.size()) wait_for_oldest();
  marks_[(oldest_ + n_marks_) % marks_.size()].record(exec);
  ++n_marks_;
}

void ProgressMarks::wait(const device::Device& exec) {
  set(exec);
  while (n_marks_ > 0) wait_for_oldest();
}

void ProgressMarks::wait_for_oldest() {
  const Kokkos::Timer timer;
  while (!marks_[oldest_].passed()) {
    look_();
    if (timer.seconds() > timeout_s_)
      fail_(text("no batch ended for ", timeout_s_,
                 " s (decomposition.transport_timeout_s): another rank has ended or is stuck"));
    std::this_thread::yield();
  }
  oldest_ = (oldest_ + 1) % marks_.size();
  --n_marks_;
}

}  // namespace tessera::halo
