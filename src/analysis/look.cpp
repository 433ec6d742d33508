#include "look.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <numeric>

#include "tessera/base/error.hpp"
#include "tessera/base/naming.hpp"
#include "tessera/base/text.hpp"

#include "io/framing.hpp"
#include "io/png.hpp"
#include "io/stored_patterns.hpp"
#include "look_images.hpp"
#include "scan_orientation.hpp"
#include "survey.hpp"

namespace tessera::analysis {
namespace {

/// Seen on the way through all patterns. Images have the zero frequency at [0, 0].
struct Seen {
  io::ScanInfo info;
  Vec2 beam_px;        ///< from the zero frequency
  double disc_px = 0;  ///< radius of the bright disc
  io::PatternTotals totals;
  std::vector<io::PatternMoments> moments;  ///< by scan position
  std::vector<double> max;                  ///< greatest pattern
  std::vector<double> bright;               ///< counts in the disc, by scan position
  std::vector<std::uint8_t> in_disc;        ///< by pixel
};

/// Rank 0 looks for the beam, to all. Collective.
void find_disc(io::DescribedScan& scan, const comm::Communicator& comm, Seen& seen) {
  std::array<double, 6> found{};
  comm.together([&] {
    if (!comm.is_root()) return;
    const auto reader = scan.format->open(scan.source, nullptr);
    ImageStack<double> trusted = reader->valid_pixels();
    const Survey survey = survey_patterns(*reader, enough_patterns);
    const bool is_turned = leaves_out_the_beam(trusted, survey);
    if (is_turned)
      for (double& trust : trusted) trust = trust == 0;
    const BeamOnDetector beam = find_beam(survey, trusted);
    const bool is_cornered = scan.said.is_cornered || beam.is_in_corners;
    const Vec2 middle{std::floor(survey.mean.h() / 2.0), std::floor(survey.mean.w() / 2.0)};
    const Vec2 off = is_cornered ? Vec2{} : beam.centre_px - middle;
    found = {off.y,           off.x,
             beam.radius_px,  is_cornered ? 1.0 : 0.0,
             survey.greatest, is_turned ? 1.0 : 0.0};
  });
  comm.broadcast(std::span<double>(found));
  seen.beam_px = {found[0], found[1]};
  seen.disc_px = found[2];
  scan.source.zero_frequency_centred = found[3] == 0;
  scan.source.saturation_counts = found[4];
  if (found[5] != 0) std::swap(scan.source.valid_pixels, scan.source.bad_pixels);
}

void mark_disc(Seen& seen) {
  const Shape2 shape = seen.info.pattern;
  for (int y = 0; y < shape.h; ++y)
    for (int x = 0; x < shape.w; ++x)
      seen.in_disc.push_back(std::hypot(io::frequency_index(y, shape.h) - seen.beam_px.y,
                                        io::frequency_index(x, shape.w) - seen.beam_px.x) <=
                             seen.disc_px);
}

/// One pattern's share of what is seen.
template <class T>
void look_at_pattern(const T* counts, int position, Seen& seen) {
  const double saturation = seen.info.saturation;
  const std::uint8_t* in_disc = seen.in_disc.data();
  double* max = seen.max.data();
  double bright = 0;
  for (std::size_t i = 0; i < seen.max.size(); ++i) {
    const auto found = static_cast<double>(counts[i]);
    const double value = found < saturation ? found : 0;  // without a branch: this loop is long
    max[i] = std::max(max[i], value);
    bright += in_disc[i] ? value : 0;
  }
  seen.bright[static_cast<std::size_t>(position)] = bright;
}

/// Pixels that are in the mask already are no news.
void leave_out_masked(const io::ScanInfo& info, std::vector<Pixel>& centred) {
  const auto [h, w] = info.pattern;
  std::erase_if(centred, [&, h = h, w = w](Pixel at) {
    return info.valid_pixels(0, (at.y + h - h / 2) % h, (at.x + w - w / 2) % w) == 0;
  });
}

/// Every rank its share, which it keeps. Collective.
Seen see(io::DescribedScan& scan, const comm::Communicator& comm) {
  Seen seen;
  find_disc(scan, comm, seen);
  seen.info = io::read_scan_info(scan.source, comm);
  const int n = seen.info.n_positions;
  seen.max.resize(static_cast<std::size_t>(seen.info.pattern.size()));
  seen.bright.resize(static_cast<std::size_t>(n));
  mark_disc(seen);
  const auto owner = [&](int p) { return static_cast<int>(std::int64_t{p} * comm.size() / n); };
  std::vector<int> mine;
  for (int p = 0; p < n; ++p)
    if (owner(p) == comm.rank()) mine.push_back(p);
  const std::size_t bytes =
      static_cast<std::size_t>(seen.info.pattern.size()) * io::size_of(seen.info.type);
  seen.totals = io::read_patterns(
      scan.source, seen.info, owner, mine, comm,
      [&](std::span<const int> places, const std::byte* patterns) {
        io::with_type(seen.info.type, [&](auto zero) {
          for (std::size_t i = 0; i < places.size(); ++i)
            look_at_pattern(reinterpret_cast<const decltype(zero)*>(patterns + i * bytes),
                            mine[static_cast<std::size_t>(places[i])], seen);
        });
      });
  seen.moments = io::moments_of_all(seen.totals.moments, n, comm);
  comm.sum(std::span(seen.bright));
  comm.maximum(std::span(seen.max));
  return seen;
}

/// As (rows, columns); a scan without a raster that is not a square is one column.
Shape2 raster_of(const io::ScanInfo& info) {
  if (!info.raster.empty()) return {info.raster[0], info.raster[1]};
  const auto side = static_cast<int>(std::lround(std::sqrt(info.n_positions)));
  return side * side == info.n_positions ? Shape2{side, side} : Shape2{info.n_positions, 1};
}

std::vector<double> of_positions(const Seen& seen, const auto& value) {
  std::vector<double> values;
  values.reserve(seen.moments.size());
  for (std::size_t p = 0; p < seen.moments.size(); ++p) values.push_back(value(p));
  return values;
}

/// A raster as it is; else spots where the scan went.
void draw_scan(const Seen& seen, const std::vector<double>& values, const std::string& path) {
  if (seen.info.positions_m.empty() || !seen.info.raster.empty()) {
    io::write_grey_png(path, raster_of(seen.info), values);
    return;
  }
  const ImageStack<double> spots = spots_at(seen.info.positions_m, values);
  io::write_grey_png(path, spots.shape(), {spots.data(), spots.size()});
}

void draw(const Seen& seen, const std::string& folder) {
  std::filesystem::create_directories(folder);
  const auto file = [&](const char* name) {
    return (std::filesystem::path(folder) / name).string();
  };
  const Shape2 shape = seen.info.pattern;
  const auto pattern = [&](const auto& values, const char* name) {
    const std::vector<double> image = centred_logarithm(values, shape);
    io::write_grey_png(file(name), shape, image);
  };
  pattern(std::vector<double>(seen.totals.sum.begin(), seen.totals.sum.end()), "sum.png");
  pattern(seen.max, "max.png");
  const auto& moments = seen.moments;
  draw_scan(seen, of_positions(seen, [&](std::size_t p) { return moments[p].counts; }),
            file("counts.png"));
  draw_scan(seen, seen.bright, file("bright_field.png"));
  draw_scan(seen,
            of_positions(seen, [&](std::size_t p) { return moments[p].counts - seen.bright[p]; }),
            file("dark_field.png"));
  draw_scan(seen, of_positions(seen, [&](std::size_t p) { return moments[p].centre_px.y; }),
            file("centre_of_mass_y.png"));
  draw_scan(seen, of_positions(seen, [&](std::size_t p) { return moments[p].centre_px.x; }),
            file("centre_of_mass_x.png"));
  const Shape2 raster = raster_of(seen.info);
  if (!seen.info.positions_m.empty() || std::min(raster.h, raster.w) < 3) return;
  const std::vector<Vec2> field = scan_field(moments, raster);
  io::write_grey_png(file("divergence.png"), raster, divergence(field, raster));
  io::write_grey_png(file("potential.png"), raster, potential(field, raster));
}

std::string report(const io::DescribedScan& scan, const Seen& seen) {
  const auto& moments = seen.moments;
  std::vector<double> counts = of_positions(seen, [&](std::size_t p) { return moments[p].counts; });
  std::ranges::sort(counts);
  const auto quantile = [&](double q) {
    return counts[static_cast<std::size_t>(q * static_cast<double>(counts.size() - 1))];
  };
  std::string all = text("file        ", scan.source.path, ": ", scan.said.what, '\n');
  all += text("patterns    ", seen.info.n_positions, " of ", seen.info.pattern.h, " x ",
              seen.info.pattern.w, " pixels\n");
  all += text("counts      in a pattern: least ", quantile(0), ", half below ", quantile(0.5),
              ", most ", quantile(1), "; ", seen.totals.all_zero.size(), " patterns are empty\n");
  all += text(
      "beam        ", seen.beam_px.y, ", ", seen.beam_px.x,
      " px off the middle, bright disc of radius ", seen.disc_px, " px, ",
      100 * std::accumulate(seen.bright.begin(), seen.bright.end(), 0.0) / seen.totals.total_counts,
      " % of the counts in it\n");
  const std::vector<double> sum(seen.totals.sum.begin(), seen.totals.sum.end());
  for (auto [what, pixels] : {std::pair{"hot", hot_pixels(sum, seen.info.pattern)},
                              std::pair{"dead", dead_pixels(sum, seen.info.pattern)}}) {
    leave_out_masked(seen.info, pixels);
    if (!pixels.empty())
      all += text("warning     ", pixels.size(), ' ', what, " pixels, the first at (",
                  pixels.front().y, ", ", pixels.front().x, "): they belong in the mask\n");
  }
  const Shape2 raster = raster_of(seen.info);
  if (!seen.info.positions_m.empty() || std::min(raster.h, raster.w) < 3) return all;
  const ScanOrientation found = find_scan_orientation(centres_of(moments), raster);
  return all + text("orientation the scan is turned by ",
                    found.rotation_rad * 180 / std::numbers::pi, " degrees (or that plus 180)",
                    found.transpose ? ", rows and columns exchanged" : "", "; ",
                    100 * found.curl_share, " % of curl is left (0: clear, 50: nothing known)\n");
}

}  // namespace

std::string look(const std::string& path, const std::string& folder, const comm::Communicator& comm,
                 io::Links links) {
  io::DescribedScan scan;
  comm.together([&] { scan = io::describe_scan(path, links); });
  const Seen seen = naming_file(path, [&] { return see(scan, comm); });
  std::string lines;
  comm.together([&] {
    if (!comm.is_root()) return;
    lines = report(scan, seen);
    if (!folder.empty()) draw(seen, folder);
  });
  return lines;
}

}  // namespace tessera::analysis
