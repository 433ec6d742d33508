// What `tessera inspect` says of a scan.

#include <algorithm>
#include <cmath>
#include <limits>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "inspect_sections.hpp"
#include "io/bad_pixels.hpp"
#include "io/flashes.hpp"
#include "io/scan_format.hpp"

namespace tessera::analysis {
namespace {

/// 1 = trust; empty if the scan has no mask, or one for each pattern.
std::vector<double> read_mask(const io::File& file, const ScanContents& contents, Shape2 pattern) {
  if (!contents.valid_pixels) return {};
  if (file.info(*contents.valid_pixels).extents == file.info(contents.patterns).extents) return {};
  std::vector<double> mask = file.read_doubles(*contents.valid_pixels);
  if (static_cast<std::int64_t>(mask.size()) != pattern.size())
    throw InputError(text("dataset \"", *contents.valid_pixels, "\" of \"", contents.path,
                          "\" has ", mask.size(), " values, a pattern ", pattern.size(),
                          " pixels; the mask must have the patterns' shape"));
  return mask;
}

/// What is needed to judge the pixels of the whole detector.
struct Judged {
  Judged(const ScanContents& contents, Shape2 shape, const std::vector<double>& mask)
      : statistics(shape), trusted(1, shape, 1), in_beam(1, shape) {
    for (std::size_t i = 0; i < mask.size(); ++i) trusted.data()[i] = mask[i] != 0;
    const bool at_corner = contents.zero_frequency == "corner";
    for (int y = 0; y < shape.h; ++y)
      for (int x = 0; x < shape.w; ++x)
        in_beam(0, y, x) =
            (at_corner ? std::hypot(std::min(y, shape.h - y), std::min(x, shape.w - x))
                       : std::hypot(y - shape.h / 2, x - shape.w / 2)) <= io::sharpest_beam_px;
  }

  io::PixelStatistics statistics;
  ImageStack<std::uint8_t> trusted;
  ImageStack<std::uint8_t> in_beam;
};

/// Counts of the valid pixels of all patterns. Every n-th goes to `judged` as well.
Json dose_section(const io::File& file, const ScanContents& contents, const PatternExtents& extents,
                  Judged& judged) {
  const io::FlashFinder flashes(judged.trusted, judged.in_beam);
  const Shape2 pattern = extents.pattern;
  const std::int64_t step = std::max<std::int64_t>(1, extents.n / io::most_patterns_to_judge);
  double total = 0;
  double max = 0;
  double min = std::numeric_limits<double>::infinity();
  double brightest_pixel = 0;
  std::int64_t n = 0;
  std::int64_t n_empty = 0;
  std::int64_t n_unusable = 0;
  for_each_pattern(file, contents.patterns, [&](const double* counts) {
    double sum = 0;
    const bool is_judged = n % step == 0;
    for (std::int64_t r = 0; r < pattern.size(); ++r) {
      if (!judged.trusted.data()[r]) continue;
      if (!std::isfinite(counts[r]) || counts[r] < 0) {
        ++n_unusable;
        continue;
      }
      if (is_judged) judged.statistics.add(r, counts[r]);
      sum += counts[r];
      brightest_pixel = std::max(brightest_pixel, counts[r]);
    }
    if (is_judged)
      flashes.for_each(counts, nullptr, std::numeric_limits<double>::infinity(),
                       [&](std::int64_t r) { judged.statistics.add_flash(r); });
    ++n;
    n_empty += sum == 0;
    total += sum;
    max = std::max(max, sum);
    min = std::min(min, sum);
  });
  return {{"mean_counts_per_pattern", total / static_cast<double>(n)},
          {"least_counts_per_pattern", min},
          {"most_counts_per_pattern", max},
          {"most_counts_per_pixel", brightest_pixel},
          {"patterns_without_counts", n_empty},
          {"negative_or_not_finite_values", n_unusable}};
}

/// Pixels that no light explains, as a reconstruction looks for them.
Json bad_pixels_section(const Judged& judged) {
  const Shape2 shape = judged.statistics.shape();
  const io::BadPixels bad = io::find_bad_pixels(judged.statistics, judged.trusted, judged.in_beam);
  Json section;
  const auto add = [&](const std::string& kind, const std::vector<std::int64_t>& pixels) {
    constexpr std::size_t most_named = 8;
    section[kind] = pixels.size();
    for (std::size_t i = 0; i < std::min(pixels.size(), most_named); ++i)
      section["first_" + kind + "_yx"].push_back({pixels[i] / shape.w, pixels[i] % shape.w});
  };
  add("hot", bad.hot);
  add("stuck", bad.stuck);
  section["flashes"] = bad.n_flashes;
  return section;
}

/// What a deck knows and the file need not.
void add_experiment(Json& section, const deck::Experiment& experiment) {
  auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) section[name] = *value;
  };
  add("energy_eV", experiment.energy_eV);
  add("voltage_V", experiment.voltage_V);
  add("distance_m", experiment.distance_m);
  add("detector_pixel_m", experiment.detector_pixel_m);
  add("detector_pixel_rad", experiment.detector_pixel_rad);
}

/// Title, sample, instrument and time, where the file has places for them.
void add_words(const ScanContents& contents, Json& report) try {
  for (const io::Statement& statement :
       io::describe_scan(contents.path, contents.links).said.statements)
    if (statement.key.find('.') == std::string::npos && statement.value.size() > 2)
      report[statement.key] = statement.value.substr(1, statement.value.size() - 2);  // unquoted
} catch (const InputError&) {  // no format finds patterns by itself where they are small, say
}

}  // namespace

Json scan_report(const ScanContents& contents) {
  const io::File file = io::File::open(contents.path, contents.links);
  const PatternExtents extents = pattern_extents(file, contents.patterns);
  const std::vector<double> mask = read_mask(file, contents, extents.pattern);

  Json report;
  report["kind"] = file.has("truth/object") ? "simulated scan" : "scan";
  report["file"] = contents.path;
  add_words(contents, report);
  report["datasets"] = datasets_section(file);
  report["patterns"] = {{"dataset", contents.patterns},
                        {"count", extents.n},
                        {"shape_px", {extents.pattern.h, extents.pattern.w}}};
  if (contents.deck) report["patterns"]["zero_frequency"] = contents.zero_frequency;
  Json geometry = geometry_section(file);
  if (contents.deck) add_experiment(geometry, contents.deck->experiment);
  if (!geometry.empty()) report["geometry"] = geometry;
  if (contents.positions) {
    report["positions"] = positions_section(read_positions(file, contents));
    report["positions"]["dataset"] = *contents.positions;
  }
  Judged judged(contents, extents.pattern, mask);
  report["dose"] = dose_section(file, contents, extents, judged);
  report["masked_pixels"] = std::count(mask.begin(), mask.end(), 0.0);
  report["bad_pixels"] = bad_pixels_section(judged);
  return report;
}

}  // namespace tessera::analysis
