#include "transposed_reader.hpp"

#include <cstring>
#include <utility>

namespace tessera::analysis {
namespace {

Shape2 transposed(Shape2 shape) {
  return {shape.w, shape.h};
}

Box transposed(const Box& pixels) {
  return {{pixels.begin.x, pixels.begin.y}, {pixels.end.x, pixels.end.y}};
}

/// @param shape of the images that are written
void transpose(const std::byte* from, std::size_t value_bytes, std::int64_t n, Shape2 shape,
               std::byte* to) {
  for (std::int64_t image = 0; image < n; ++image)
    for (int y = 0; y < shape.h; ++y)
      for (int x = 0; x < shape.w; ++x, to += value_bytes) {
        const std::int64_t pixel = image * shape.size() + std::int64_t{x} * shape.h + y;
        std::memcpy(to, from + static_cast<std::size_t>(pixel) * value_bytes, value_bytes);
      }
}

ImageStack<double> transposed(const ImageStack<double>& images) {
  ImageStack<double> turned(images.n(), transposed(images.shape()));
  transpose(reinterpret_cast<const std::byte*>(images.data()), sizeof(double), images.n(),
            turned.shape(), reinterpret_cast<std::byte*>(turned.data()));
  return turned;
}

class TransposedReader final : public io::ScanReader {
 public:
  explicit TransposedReader(std::unique_ptr<io::ScanReader> recorded)
      : recorded_(std::move(recorded)) {}

  io::RecordedPatterns patterns() const override {
    io::RecordedPatterns patterns = recorded_->patterns();
    patterns.shape = transposed(patterns.shape);
    return patterns;
  }
  std::vector<Vec2> positions_m() const override { return recorded_->positions_m(); }
  bool has_own_masks() const override { return recorded_->has_own_masks(); }
  ImageStack<double> valid_pixels() const override { return transposed(recorded_->valid_pixels()); }
  ImageStack<double> background() const override { return transposed(recorded_->background()); }
  ImageStack<double> detector_images(const std::string& name) const override {
    return transposed(recorded_->detector_images(name));
  }
  WaveStack start_probe(const std::string& name) const override {
    return recorded_->start_probe(name);
  }
  void start_reading(io::PatternType as) override {
    value_bytes_ = io::size_of(as);
    recorded_->start_reading(as);
  }
  void read_patterns(const Box& positions, const Box& pixels, std::byte* patterns) override {
    read_.resize(static_cast<std::size_t>(positions.area() * pixels.area()) * value_bytes_);
    recorded_->read_patterns(positions, transposed(pixels), read_.data());
    transpose(read_.data(), value_bytes_, positions.area(), pixels.shape(), patterns);
  }
  void read_masks(const Box& positions, const Box& pixels, std::uint8_t* valid) override {
    read_.resize(static_cast<std::size_t>(positions.area() * pixels.area()));
    recorded_->read_masks(positions, transposed(pixels),
                          reinterpret_cast<std::uint8_t*>(read_.data()));
    transpose(read_.data(), 1, positions.area(), pixels.shape(),
              reinterpret_cast<std::byte*>(valid));
  }
  std::int64_t bytes() const override { return recorded_->bytes(); }

 private:
  std::unique_ptr<io::ScanReader> recorded_;
  std::size_t value_bytes_ = 0;
  std::vector<std::byte> read_;
};

}  // namespace

std::unique_ptr<io::ScanReader> transposed(std::unique_ptr<io::ScanReader> recorded) {
  return std::make_unique<TransposedReader>(std::move(recorded));
}

}  // namespace tessera::analysis
