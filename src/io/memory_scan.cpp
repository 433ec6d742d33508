#include "tessera/io/memory_scan.hpp"

#include <algorithm>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "scan_format.hpp"

namespace tessera::io {
namespace {

class MemoryScanReader final : public ScanReader {
 public:
  explicit MemoryScanReader(const MemoryScan& scan) : scan_(scan) {}

  RecordedPatterns patterns() const override {
    if (!scan_.read || scan_.positions_m.empty() || scan_.shape.size() <= 0)
      throw InputError(text("a scan in memory of ", scan_.positions_m.size(), " positions, ",
                            scan_.shape.h, " x ", scan_.shape.w,
                            " pixels: it needs positions, pixels and a function that reads them"));
    RecordedPatterns patterns;
    patterns.n_positions = static_cast<int>(scan_.positions_m.size());
    patterns.shape = scan_.shape;
    return patterns;
  }
  std::vector<Vec2> positions_m() const override { return scan_.positions_m; }
  bool has_own_masks() const override { return false; }
  ImageStack<double> valid_pixels() const override { return scan_.valid_pixels; }
  ImageStack<double> background() const override { return {}; }
  ImageStack<double> detector_images(const std::string& name) const override { refuse(name); }
  WaveStack start_probe(const std::string& name) const override { refuse(name); }

  void start_reading(PatternType) override {
    whole_.resize(static_cast<std::size_t>(scan_.shape.size()));
  }
  void read_patterns(const Box& positions, const Box& pixels, std::byte* patterns) override {
    auto* counts = reinterpret_cast<float*>(patterns);
    if (pixels.shape() == scan_.shape)
      return scan_.read(positions.begin.y, positions.height(), counts);
    for (int position = positions.begin.y; position < positions.end.y; ++position) {
      scan_.read(position, 1, whole_.data());
      for (int y = pixels.begin.y; y < pixels.end.y; ++y)
        counts = std::copy_n(whole_.begin() + y * scan_.shape.w + pixels.begin.x, pixels.width(),
                             counts);
    }
  }
  void read_masks(const Box&, const Box&, std::uint8_t*) override {}
  std::int64_t bytes() const override { return 0; }

 private:
  [[noreturn]] static void refuse(const std::string& name) {
    throw InputError(
        text("\"", name, "\" is looked for in the scan, which lies in memory and has no datasets; ",
             "give probe.initial = \"file\", \"aperture\" or \"zone_plate\""));
  }

  const MemoryScan& scan_;
  std::vector<float> whole_;  ///< a pattern of which a part is wanted
};

}  // namespace

ScanFormat memory_scans() {
  return {"memory", "a scan in the program's memory", nullptr,
          [](const ScanSource& source, const comm::Communicator*) {
            if (!source.memory)
              throw InputError(
                  "data.format = \"memory\" is a scan that another program hands over; leave "
                  "data.format out");
            return std::unique_ptr<ScanReader>(std::make_unique<MemoryScanReader>(*source.memory));
          }};
}

}  // namespace tessera::io
