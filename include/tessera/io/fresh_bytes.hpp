#pragma once
/// Memory for what is written once.

#include <cstddef>
#include <memory>

namespace tessera::io {

/// Not cleared, and in huge pages where the system has them: of 4 kB each, the first touch of a
/// page takes longer than the copy to it.
class FreshBytes {
 public:
  /// @throws std::bad_alloc
  explicit FreshBytes(std::size_t size);

  char* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  /// Those in front stay.
  void shrink(std::size_t size) { size_ = size; }

 private:
  struct Free {
    void operator()(char* bytes) const;
  };
  std::unique_ptr<char[], Free> bytes_;
  std::size_t size_;
};

}  // namespace tessera::io
