#pragma once
/// Copies and libraries' work beside the kernels: queues of their own, marks in them, pinned
/// memory. On a host build all of it happens at once, in the order of the calls.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "tessera/device/device.hpp"

namespace tessera::device {

class Stream;

/// A mark in the work of an execution space or of a stream. One that was never set has passed.
class Event {
 public:
  Event();
  ~Event();  // NOLINT(performance-trivially-destructible): only on hosts
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  Event(Event&& other) noexcept;

  /// Set the mark behind everything that was started there so far; it forgets where it was.
  void record(const Device& exec);
  void record(const Stream& stream);
  /// What is started there later waits for the mark; the host does not.
  void hold(const Device& exec) const;
  void hold(const Stream& stream) const;
  /// Has everything before the mark ended?
  /// @throws SystemError if it failed
  bool passed() const;
  /// The host waits until everything before the mark has ended.
  void wait() const;

 private:
  [[maybe_unused]] void* event_ = nullptr;
};

/// A queue of work on this rank's device, beside those of execution spaces.
class Stream {
 public:
  enum class Priority { normal, high };
  explicit Stream(Priority priority = Priority::normal);
  ~Stream();  // NOLINT(performance-trivially-destructible): only on hosts
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// The host waits until everything in it has ended.
  void wait() const;
  /// cudaStream_t; null on a host build.
  void* handle() const { return stream_; }

 private:
  void* stream_ = nullptr;
};

/// Host memory that the device copies from and to by itself; not initialised.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  /// @throws SystemError naming the bytes
  explicit PinnedBuffer(std::size_t n_bytes);
  ~PinnedBuffer();
  PinnedBuffer(PinnedBuffer&& other) noexcept { *this = std::move(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(n_bytes_, other.n_bytes_);
    return *this;
  }

  std::byte* data() const { return data_; }
  std::size_t n_bytes() const { return n_bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t n_bytes_ = 0;
};

/// Copy between device and pinned memory, either way, behind what the stream holds.
void copy_async(const Stream& stream, void* to, const void* from, std::size_t n_bytes);
void copy_async(const Device& exec, void* to, const void* from, std::size_t n_bytes);

/// cudaStream_t of an execution space; null on a host build.
void* stream_handle(const Device& exec);

/// An execution space whose work goes to `stream`, which must outlive it.
Device device_of(const Stream& stream);

/// A second queue, for what need not wait for the work of an execution space, nor it for that.
class Beside {
 public:
  /// @param apart false: both are one queue
  explicit Beside(bool apart) : queue_(apart ? std::make_unique<Queue>() : nullptr) {}

  bool is_apart() const { return queue_ != nullptr; }
  /// What is started in the result runs behind all that `exec` holds now, and beside what is
  /// started there later.
  Device fork(const Device& exec) {
    if (!queue_) return exec;
    queue_->mark.record(exec);
    queue_->mark.hold(queue_->stream);
    forked_ = true;
    return queue_->exec;
  }
  /// Where what `fork` began goes on; `exec` where nothing is beside it.
  Device forked(const Device& exec) const { return forked_ ? queue_->exec : exec; }
  /// Later work of `exec` runs behind all that was started beside it.
  void join(const Device& exec) {
    if (!forked_) return;
    queue_->mark.record(queue_->stream);
    queue_->mark.hold(exec);
    forked_ = false;
  }

 private:
  struct Queue {
    Stream stream;
    Event mark;
    Device exec = device_of(stream);
  };
  std::unique_ptr<Queue> queue_;
  bool forked_ = false;
};

/// Names this rank's GPU, the same for all ranks that use it and for no other; empty on a host
/// build.
std::string gpu_identity();

}  // namespace tessera::device
