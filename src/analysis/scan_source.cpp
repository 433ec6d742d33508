#include "scan_source.hpp"

#include <array>
#include <string>
#include <vector>

namespace tessera::analysis {
namespace {

Vec2 vec2(const std::vector<double>& yx, Vec2 otherwise) {
  return yx.empty() ? otherwise : Vec2{yx[0], yx[1]};
}

io::NegativeCounts negative_counts(const std::string& word) {
  if (word == "zero") return io::NegativeCounts::zero;
  return word == "ignore" ? io::NegativeCounts::ignore : io::NegativeCounts::refuse;
}

}  // namespace

/// Near-field images are kept as the detector sees them: nothing in them is at zero frequency.
io::ScanSource scan_source(const deck::Deck& deck) {
  const deck::Data& data = deck.data;
  const auto shape = [](const std::vector<int>& hw) {
    return hw.empty() ? Shape2{} : Shape2{hw[0], hw[1]};
  };
  io::ScanSource source{data.file, data.patterns, data.positions, data.valid_pixels,
                        data.zero_frequency == "centre"};
  source.in_near_field = deck.experiment.propagation != "far_field";
  source.format = data.format;
  source.raw = {data.raw_type.value_or(""), shape(data.raw_shape), data.raw_offset_bytes,
                data.raw_gap_bytes};
  source.links = io::links(data.follow_links);
  source.positions_file = data.positions_file;
  if (!data.positions_columns.empty())
    source.positions_columns = std::array{data.positions_columns[0], data.positions_columns[1]};
  source.positions_scale = vec2(data.positions_scale, {1, 1});
  source.bad_pixels = data.bad_pixels;
  source.mask_file = data.mask_file;
  source.background = data.background;
  source.background_file = data.background_file;
  source.turn = {data.transpose, data.flip_y, data.flip_x};
  if (!data.centre_px.empty()) source.centre_px = vec2(data.centre_px, {});
  source.crop = shape(data.crop);
  source.bin = data.bin;
  source.pad_to = shape(data.pad_to);
  if (data.saturation_counts > 0) source.saturation_counts = data.saturation_counts;
  source.negative_counts = negative_counts(data.negative_counts);
  source.beam_stop_radius_px = data.beam_stop_radius_px;
  return source;
}

}  // namespace tessera::analysis
