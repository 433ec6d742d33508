#pragma once
/// Memory for what is read, and for copies of what is written.

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace tessera::io {

/// Not cleared, and in huge pages where the system has them: of 4 kB each, the first touch of a
/// page takes longer than the copy to it.
class FreshBytes {
 public:
  /// @throws std::bad_alloc
  explicit FreshBytes(std::size_t size = 0);

  char* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  /// Within the capacity; those in front stay.
  void resize(std::size_t size) { size_ = size; }
  /// Room for so many, of which none has to stay. Allocates beyond the capacity alone.
  /// @throws std::bad_alloc
  void renew(std::size_t size) {
    if (size > capacity_) *this = FreshBytes();  // first, so that both never are there
    if (size > capacity_) *this = FreshBytes(size);
    size_ = size;
  }

 private:
  struct Free {
    void operator()(char* bytes) const;
  };
  std::unique_ptr<char[], Free> bytes_;
  std::size_t size_;
  std::size_t capacity_;
};

/// Keeps the memory of large copies for the next ones: to get memory and touch it can take the
/// system many times as long as the copy, huge pages or not (docs/decisions/0022).
class CopyMemory {
 public:
  CopyMemory() = default;
  ~CopyMemory();
  CopyMemory(const CopyMemory&) = delete;
  CopyMemory& operator=(const CopyMemory&) = delete;

  /// A thread gets memory for copies of these sizes, and touches it.
  /// @throws SystemError: no thread
  void prepare(std::vector<std::size_t> sizes);
  /// Waits for that thread. @throws std::bad_alloc
  FreshBytes take(std::size_t size);
  void give_back(FreshBytes bytes);

 private:
  std::vector<FreshBytes> kept_;
  std::thread thread_;
};

}  // namespace tessera::io
