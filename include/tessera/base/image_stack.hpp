#pragma once
/// A plain host array of images, (n, h, w), C order. For set-up, files, pictures and tests.

#include <complex>
#include <cstddef>
#include <vector>

#include "tessera/base/box.hpp"

namespace tessera {

template <class T>
class ImageStack {
 public:
  ImageStack() = default;
  ImageStack(int n, Shape2 shape, T value = T{})
      : n_(n), shape_(shape), data_(static_cast<std::size_t>(n) * shape.size(), value) {}

  int n() const { return n_; }
  int h() const { return shape_.h; }
  int w() const { return shape_.w; }
  Shape2 shape() const { return shape_; }
  std::size_t size() const { return data_.size(); }
  T* data() { return data_.data(); }
  const T* data() const { return data_.data(); }
  T* image(int i) { return data_.data() + i * shape_.size(); }
  const T* image(int i) const { return data_.data() + i * shape_.size(); }
  T& operator()(int i, int y, int x) { return data_[index(i, y, x)]; }
  const T& operator()(int i, int y, int x) const { return data_[index(i, y, x)]; }
  auto begin() { return data_.begin(); }
  auto end() { return data_.end(); }
  auto begin() const { return data_.begin(); }
  auto end() const { return data_.end(); }

 private:
  std::size_t index(int i, int y, int x) const {
    return (static_cast<std::size_t>(i) * shape_.h + y) * shape_.w + x;
  }
  int n_ = 0;
  Shape2 shape_;
  std::vector<T> data_;
};

/// Waves on the host are kept in double precision, whatever the program's Real.
using WaveStack = ImageStack<std::complex<double>>;

}  // namespace tessera
