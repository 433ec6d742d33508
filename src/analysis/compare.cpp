#include "analysis/compare.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"

#include "compare_columns.hpp"
#include "compare_slices.hpp"
#include "file_contents.hpp"
#include "optics/illuminated_region.hpp"

namespace tessera::analysis {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Median, for refined positions wander, of every from - to.
Vec2 median_difference(const std::vector<Vec2>& from, const std::vector<Vec2>& to,
                       double to_scale) {
  std::vector<double> y, x;
  for (std::size_t i = 0; i < from.size(); ++i) {
    y.push_back(from[i].y - to_scale * to[i].y);
    x.push_back(from[i].x - to_scale * to[i].x);
  }
  return {median(std::move(y)), median(std::move(x))};
}

std::optional<Vec2> read_origin_m(const io::File& file, const std::string& at,
                                  const Reconstruction& made) {
  if (file.has(at + "object_origin_m")) return read_points(file, at + "object_origin_m").at(0);
  const auto positions =
      positions_dataset(file, static_cast<std::int64_t>(made.window_corner_px.size()));
  if (!positions || !made.pixel_m) return {};
  return median_difference(read_points(file, *positions), made.window_corner_px, *made.pixel_m);
}

void check_comparable(const Reconstruction& a, const Reconstruction& b) {
  if (a.pixel_m && b.pixel_m && std::abs(*a.pixel_m / *b.pixel_m - 1) > 1e-5)
    throw InputError(text("object_pixel_m is ", *a.pixel_m, " in the first file and ", *b.pixel_m,
                          " in the second; only reconstructions on equal pixels can be compared"));
  if (a.probe.shape() != b.probe.shape())
    throw InputError(text("the probe is ", a.probe.h(), " x ", a.probe.w(),
                          " in the first file and ", b.probe.h(), " x ", b.probe.w(),
                          " in the second; both must come from equally large patterns"));
  if (a.object.n() != b.object.n())
    throw InputError(text("the object has ", a.object.n(), " slices in the first file and ",
                          b.object.n(), " in the second; reconstruct both with as many"));
}

/// Pixel (0, 0) of a on the grid of b. Without metres, the same scan in both gives it away.
Vec2 grid_offset_px(const Reconstruction& a, const Reconstruction& b) {
  Vec2 offset;
  if (a.origin_m && b.origin_m) {
    const double pixel_m = a.pixel_m ? *a.pixel_m : b.pixel_m.value_or(0);
    if (pixel_m > 0)
      offset = {(a.origin_m->y - b.origin_m->y) / pixel_m,
                (a.origin_m->x - b.origin_m->x) / pixel_m};
  } else if (!a.window_corner_px.empty() &&
             a.window_corner_px.size() == b.window_corner_px.size()) {
    offset = median_difference(b.window_corner_px, a.window_corner_px, 1);
  }
  // Nearer than positions are known: the grids coincide.
  constexpr double coincident_px = 1e-3;
  auto snapped = [](double value) {
    const auto whole = static_cast<double>(std::lround(value));
    return std::abs(value - whole) < coincident_px ? whole : value;
  };
  return {snapped(offset.y), snapped(offset.x)};
}

std::optional<double> position_error_px(const std::vector<Vec2>& a, const std::vector<Vec2>& b) {
  if (a.empty() || a.size() != b.size()) return {};
  const auto n = static_cast<double>(a.size());
  Vec2 mean;
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Vec2 way = a[i] - b[i];
    mean = mean + way / n;
    squares += (way.y * way.y + way.x * way.x) / n;
  }
  return std::sqrt(std::max(0.0, squares - mean.y * mean.y - mean.x * mean.x));
}

/// Those of the box about the beam's positions.
ColumnComparison compare_scanned_columns(const ObjectPair& aligned, const Reconstruction& b) {
  const Vec2 to_middle{0.5 * b.probe.h(), 0.5 * b.probe.w()};
  Vec2 begin = b.window_corner_px.at(0);
  Vec2 end = begin;
  for (const Vec2& corner : b.window_corner_px) {
    begin = {std::min(begin.y, corner.y), std::min(begin.x, corner.x)};
    end = {std::max(end.y, corner.y), std::max(end.x, corner.x)};
  }
  return compare_columns(aligned, *b.columns, begin + to_middle, end + to_middle);
}

}  // namespace

Reconstruction read_reconstruction(const std::string& path) {
  const auto opened = std::make_shared<const io::File>(io::File::open(path));
  const io::File& file = *opened;
  const std::string at = file.has("truth/object") ? "truth/" : "";
  if (at.empty() && !(file.has("object") && file.has("probe")))
    throw InputError(text('"', path,
                          "\" is neither a result (datasets object, probe) nor a simulated "
                          "scan (truth/object, truth/probe)"));
  Reconstruction made;
  made.object = ObjectSource(opened, at + "object");
  made.probe = file.read_waves(at + "probe");
  made.window_corner_px = read_points(file, at + "window_corner_px");
  made.pixel_m = file.positive_attribute("/", "object_pixel_m");
  made.origin_m = read_origin_m(file, at, made);
  made.columns = read_columns(file);
  return made;
}

Comparison compare(const Reconstruction& a, const Reconstruction& b, const comm::Communicator& comm,
                   BlockLimits limits) {
  check_comparable(a, b);
  Comparison result;
  result.pixel_m = b.pixel_m ? b.pixel_m : a.pixel_m;
  result.grid_offset_px = grid_offset_px(a, b);
  const optics::Illumination light(b.object.shape(), b.window_corner_px, b.probe);
  const ObjectPair pair(a.object, b.object, result.grid_offset_px, light, comm, limits);
  result.compared_pixels = pair.n_counted();
  if (result.compared_pixels == 0)
    throw InputError(
        text("the objects do not overlap where they are illuminated: pixel (0, 0) of the "
             "first lies at (",
             result.grid_offset_px.y, ", ", result.grid_offset_px.x,
             ") of the second; are they of one scan?"));

  result.before = {relative_difference(pair), relative_difference(a.probe, b.probe)};
  result.removed = find_ambiguity(pair, a.probe, b.probe);
  const ObjectPair aligned = pair.without(result.removed);
  const WaveStack probe_reference = shifted_like(result.removed, b.probe);
  const WaveStack probe = modes_mixed_like(probe_reference, probe_without(result.removed, a.probe));
  result.after = {relative_difference(aligned), relative_difference(probe, probe_reference)};
  result.rings = ring_correlation(aligned);
  result.one_bit_fraction = resolved_fraction(result.rings, result.rings.one_bit);
  result.half_bit_fraction = resolved_fraction(result.rings, result.rings.half_bit);
  if (pair.n_images() > 1) result.slices = compare_slices(aligned, b.probe);
  if (b.columns) result.columns = compare_scanned_columns(aligned, b);
  result.position_error_px = position_error_px(a.window_corner_px, b.window_corner_px);
  return result;
}

Comparison compare_files(const std::string& a, const std::string& b,
                         const comm::Communicator& comm) {
  Reconstruction first;
  Reconstruction second;
  comm.together([&] {
    first = read_reconstruction(a);
    second = read_reconstruction(b);
  });
  Comparison comparison;
  comm.together([&] { comparison = compare(first, second, comm); });
  return comparison;
}

}  // namespace tessera::analysis
