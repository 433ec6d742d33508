#pragma once
/// An object that need not fit in memory.

#include <memory>
#include <string>
#include <variant>

#include "tessera/base/image_stack.hpp"
#include "tessera/io/hdf5.hpp"

namespace tessera::analysis {

/// Images of an object, in memory or in a file, of which boxes are read.
class ObjectSource {
 public:
  ObjectSource() = default;
  ObjectSource(WaveStack images)
      : shape_(images.shape()), n_(images.n()), from_(std::move(images)) {}
  /// (..., h, w), complex or real; leading axes are counted as one. @throws InputError
  ObjectSource(std::shared_ptr<const io::File> file, std::string dataset);
  int n() const { return n_; }
  Shape2 shape() const { return shape_; }
  /// The box of `n_images` from `first` on; dark outside the object. On the calling rank alone.
  WaveStack read(const Box& box, int first, int n_images) const;

 private:
  struct Dataset {
    std::shared_ptr<const io::File> file;
    std::string name;
    io::Extents extents;
    io::ElementType type = io::ElementType::other;
  };
  Shape2 shape_;
  int n_ = 0;
  std::variant<WaveStack, Dataset> from_;
};

}  // namespace tessera::analysis
