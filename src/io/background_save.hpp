#pragma once
/// A save that is written while its program goes on.

#include <atomic>
#include <chrono>
#include <exception>
#include <string>
#include <thread>

#include "tessera/comm/later_sum.hpp"
#include "tessera/io/staged_file.hpp"

namespace tessera::io {

/// Written to a partial file by a thread of every rank, summed, and given its name by rank 0's. The
/// threads know neither MPI nor HDF5; between their steps the ranks agree, when they happen to
/// look.
class BackgroundSave {
 public:
  /// Collective; `comm` and `memory` must outlive it.
  /// @param keeps_older what is at `path` becomes the older save; else there is none afterwards
  /// @throws AgreedError as AtomicFile
  BackgroundSave(const std::string& path, std::int64_t needed_bytes, bool keeps_older,
                 const comm::Communicator& comm, CopyMemory& memory);
  /// Waits for the thread's present step. What has no name yet is removed.
  ~BackgroundSave();
  BackgroundSave(const BackgroundSave&) = delete;
  BackgroundSave& operator=(const BackgroundSave&) = delete;

  StagedFile& file() { return file_; }
  /// After file().make_structure(): the thread begins.
  void start();
  /// Looks whether the next step can begin; does not wait. On every rank as often as it likes.
  void advance();
  /// Written, or given up; not at the same moment on all ranks.
  bool is_over() const { return step_ == Step::over; }
  /// Waits until it is over. Collective. @throws AgreedError: it is not written, and why
  void finish();
  /// From start() until it was over.
  double seconds() const { return seconds_; }

 private:
  enum class Step { values, checksum, name, over };
  void begin_step(Step step);
  std::int64_t work() const;

  std::string path_;
  bool keeps_older_;
  const comm::Communicator& comm_;
  AtomicFile atomic_;
  StagedFile file_;
  comm::LaterSum agreement_;
  Step step_ = Step::values;
  std::int64_t checksum_ = 0;
  std::chrono::steady_clock::time_point start_;
  double seconds_ = 0;
  // Of the thread, until it says that it has worked.
  std::thread thread_;
  std::atomic<bool> has_worked_ = false;
  std::int64_t part_ = 0;
  std::exception_ptr error_;
};

}  // namespace tessera::io
