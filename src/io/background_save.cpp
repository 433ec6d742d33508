#include "io/background_save.hpp"

#include <filesystem>

#include "tessera/base/progress.hpp"

#include "base/thread.hpp"
#include "save_steps.hpp"

namespace tessera::io {

BackgroundSave::BackgroundSave(const std::string& path, std::int64_t needed_bytes, bool keeps_older,
                               const comm::Communicator& comm, CopyMemory& memory)
    : path_(path),
      keeps_older_(keeps_older),
      comm_(comm),
      atomic_(path, needed_bytes, comm),
      file_(atomic_.partial_path(), comm, memory),
      agreement_(comm) {}

BackgroundSave::~BackgroundSave() {
  if (thread_.joinable()) thread_.join();
}

void BackgroundSave::start() {
  start_ = std::chrono::steady_clock::now();
  begin_step(Step::values);
}

void BackgroundSave::begin_step(Step step) {
  step_ = step;
  part_ = 0;
  if (step == Step::over) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    seconds_ = passed.count();
    return;
  }
  has_worked_ = false;
  thread_ = start_thread([this] {
    try {
      part_ = work();
    } catch (...) {
      error_ = std::current_exception();
    }
    has_worked_.store(true, std::memory_order_release);
  });
}

/// Of the present step, on this rank. @return its part of what is added up
std::int64_t BackgroundSave::work() const {
  const std::string& partial = atomic_.partial_path();
  const auto n_bytes = [&] {
    return static_cast<std::uint64_t>(std::filesystem::file_size(partial));
  };
  if (step_ == Step::values) file_.write_values();
  if (step_ == Step::checksum)
    return static_cast<std::int64_t>(share_of_sum(partial, n_bytes(), comm_.rank(), comm_.size()));
  if (step_ == Step::name && comm_.is_root()) {
    append_checksum(partial, n_bytes(), static_cast<std::uint64_t>(checksum_));
    replace_save(partial, path_, keeps_older_);
  }
  return 0;
}

void BackgroundSave::advance() {
  if (is_over() || !has_worked_.load(std::memory_order_acquire)) return;
  if (thread_.joinable()) {
    thread_.join();
    agreement_.start({error_ ? 1 : 0, part_});
  }
  if (!agreement_.has_arrived()) return;
  const auto [n_failed, sum] = agreement_.values();
  if (n_failed > 0) return begin_step(Step::over);
  if (step_ == Step::checksum) checksum_ = sum;
  begin_step(static_cast<Step>(static_cast<int>(step_) + 1));
}

void BackgroundSave::finish() {
  const Doing doing("the end of a write");
  while (!is_over()) {
    advance();
    if (!is_over()) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  comm_.together([&] {
    if (error_) std::rethrow_exception(error_);
  });
}

}  // namespace tessera::io
