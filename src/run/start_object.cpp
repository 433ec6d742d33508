#include "start_object.hpp"

#include <cmath>
#include <functional>
#include <numbers>

#include "tessera/base/naming.hpp"
#include "tessera/base/random.hpp"
#include "tessera/io/hdf5.hpp"

#include "optics/coarse_map.hpp"
#include "scan_rows.hpp"

namespace tessera::run {
namespace {

using device::complex;
using optics::CoarseMap;

/// What a pixel of the object does to the wave.
struct Transmission {
  double amplitude = 1;
  double phase_rad = 0;
};

/// Of an object pixel; all slices of one mode together.
using Transmissions = std::function<Transmission(Pixel)>;

/// Streams of random bits of solver.seed, one more for each object mode.
constexpr std::uint64_t for_start_object = 17;

/// In [-1, 1), the same on any tile.
double random_at(std::uint64_t seed, int mode, Pixel pixel, Shape2 object) {
  const std::uint64_t stream =
      random_bits(seed, for_start_object + static_cast<std::uint64_t>(mode));
  const auto index = static_cast<std::uint64_t>(pixel.y) * static_cast<std::uint64_t>(object.w) +
                     static_cast<std::uint64_t>(pixel.x);
  return 2 * random_unit(stream, index) - 1;
}

complex share_of(Transmission whole, int n_slices) {
  if (n_slices > 1) whole = {std::pow(whole.amplitude, 1.0 / n_slices), whole.phase_rad / n_slices};
  return {static_cast<Real>(whole.amplitude * std::cos(whole.phase_rad)),
          static_cast<Real>(whole.amplitude * std::sin(whole.phase_rad))};
}

/// Modes that are quite alike would stay so.
void fill_planes(const deck::Deck& deck, const Scan& scan, const Transmissions& transmission,
                 const physics::ObjectView& object) {
  constexpr double difference_rad = 1e-3;
  const double mode_amplitude = 1 / std::sqrt(static_cast<double>(deck.object.n_modes));
  const Box& ghosted = scan.tile().ghosted;
  const auto host = Kokkos::create_mirror_view(object);
  for (int plane = 0; plane < static_cast<int>(object.extent(0)); ++plane) {
    const int mode = plane / deck.object.n_slices;
    for (int y = 0; y < ghosted.height(); ++y)
      for (int x = 0; x < ghosted.width(); ++x) {
        const Pixel pixel{ghosted.begin.y + y, ghosted.begin.x + x};
        Transmission whole = transmission(pixel);
        whole.amplitude *= mode_amplitude;
        if (mode > 0)
          whole.phase_rad +=
              difference_rad * random_at(deck.solvers.front().seed, mode, pixel, scan.grid.object);
        host(plane, y, x) = share_of(whole, deck.object.n_slices);
      }
  }
  Kokkos::deep_copy(object, host);
}

/// Pixel (0, 0) of the object in the file, on this scan's grid.
Pixel file_origin(const io::File& file, const Scan& scan) {
  const auto pixel_m = file.positive_attribute("/", "object_pixel_m");
  const std::vector<double> origin_m = file.read_doubles("object_origin_m");
  if (!pixel_m || std::abs(*pixel_m / scan.grid.pixel_m - 1) > 1e-6)
    throw InputError(text("the object in '", file.path(), "' has pixels of ", pixel_m.value_or(0),
                          " m but this scan's are ", scan.grid.pixel_m,
                          " m; start from object.initial = 'ones'"));
  if (origin_m.size() != 2)
    throw InputError(text("'object_origin_m' in '", file.path(), "' holds ", origin_m.size(),
                          " values, not y and x"));
  const Vec2 origin_px{(origin_m[0] - scan.grid.origin_m.y) / scan.grid.pixel_m,
                       (origin_m[1] - scan.grid.origin_m.x) / scan.grid.pixel_m};
  constexpr double max_px = 1 << 30;
  if (!(std::abs(origin_px.y) < max_px && std::abs(origin_px.x) < max_px))
    throw InputError(text("the object in '", file.path(), "' begins ", origin_px.y, " and ",
                          origin_px.x,
                          " pixels away from this scan's ('object_origin_m'); start from "
                          "object.initial = 'ones'"));
  return {static_cast<int>(std::lround(origin_px.y)), static_cast<int>(std::lround(origin_px.x))};
}

/// The planes of a result in this rank's ghosted box.
struct ReadObject {
  Box here;  ///< the part that the file has
  int n_planes = 1;
  std::vector<complex> values;  ///< (n_planes, here)

  complex at(int plane, Pixel pixel) const {
    const std::int64_t row = plane * std::int64_t{here.height()} + pixel.y - here.begin.y;
    return values[static_cast<std::size_t>(row * here.width() + pixel.x - here.begin.x)];
  }
};

/// Collective.
ReadObject read_object(const std::string& key, const std::string& path, const deck::Object& wanted,
                       const Scan& scan, const comm::Communicator& comm) {
  const io::File file = naming(key, [&] { return io::File::open(path, comm); });
  const int n_planes = wanted.n_modes * wanted.n_slices;
  ReadObject read;
  Pixel origin;
  comm.together([&] {
    const io::Extents extents = file.info("object").extents;
    if (extents.size() != 3 || (extents[0] != 1 && extents[0] != n_planes))
      throw InputError(text(key, ": 'object' in '", path, "' must be (1, H, W), or (", n_planes,
                            ", H, W) for object.n_modes = ", wanted.n_modes,
                            " and object.n_slices = ", wanted.n_slices));
    read.n_planes = static_cast<int>(extents[0]);
    origin = naming(key, [&] { return file_origin(file, scan); });
    const Box in_file =
        Box::at(origin, {static_cast<int>(extents[1]), static_cast<int>(extents[2])});
    if (intersection(in_file, Box::at({0, 0}, scan.grid.object)).empty())
      throw InputError(text(key, ": the object in '", path,
                            "' lies elsewhere: no pixel of it is one of "
                            "this scan's; start from object.initial = 'ones'"));
    read.here = intersection(scan.tile().ghosted, in_file);
  });
  const Box& here = read.here;
  read.values.resize(static_cast<std::size_t>(read.n_planes * here.area()));
  const io::Extents begin = here.empty()
                                ? io::Extents{0, 0, 0}
                                : io::Extents{0, here.begin.y - origin.y, here.begin.x - origin.x};
  file.read_slab("object", begin, {here.empty() ? 0 : read.n_planes, here.height(), here.width()},
                 sizeof(Real) == 4 ? io::ElementType::complex64 : io::ElementType::complex128,
                 read.values.data());
  return read;
}

/// 1 outside the file's object. One plane is what all slices together do. Collective.
void fill_from_file(const deck::Deck& deck, const Scan& scan, const comm::Communicator& comm,
                    const physics::ObjectView& object) {
  const bool resumed = !deck.run.resume.empty();
  const ReadObject read =
      read_object(resumed ? "run.resume" : "object.file",
                  resumed ? deck.run.resume : deck.object.file, deck.object, scan, comm);
  const auto n_planes = static_cast<int>(object.extent(0));
  if (read.n_planes < n_planes) {
    fill_planes(
        deck, scan,
        [&](Pixel pixel) {
          if (!read.here.contains(pixel)) return Transmission{};
          const complex value = read.at(0, pixel);
          return Transmission{std::hypot(value.real(), value.imag()),
                              std::atan2(value.imag(), value.real())};
        },
        object);
    return;
  }
  const auto host = Kokkos::create_mirror_view(object);
  const Box& ghosted = scan.tile().ghosted;
  for (int plane = 0; plane < n_planes; ++plane)
    for (int y = 0; y < ghosted.height(); ++y)
      for (int x = 0; x < ghosted.width(); ++x) {
        const Pixel pixel{ghosted.begin.y + y, ghosted.begin.x + x};
        host(plane, y, x) = read.here.contains(pixel) ? read.at(plane, pixel) : complex(1);
      }
  Kokkos::deep_copy(object, host);
}

/// What the start object is told by the fitted patterns, all of them.
struct FittedPatterns {
  std::vector<Vec2> beam_px;  ///< where the beam meets the object, object pixels
  std::vector<io::PatternMoments> moments;
};

/// Collective.
FittedPatterns fitted_patterns(const Scan& scan, const WaveStack& probe,
                               const comm::Communicator& comm) {
  const Vec2 centre = optics::illumination_centre_px(probe);
  const std::vector<Vec2> subpixel = subpixel_of_all(scan, comm);
  const auto moments = io::moments_of_all(scan.moments, scan.n_positions(), comm);
  FittedPatterns fitted;
  for (const int position : scan.fitted()) {
    const auto i = static_cast<std::size_t>(position);
    fitted.beam_px.push_back({scan.grid.corner[i].y + subpixel[i].y + centre.y,
                              scan.grid.corner[i].x + subpixel[i].x + centre.x});
    fitted.moments.push_back(moments[i]);
  }
  return fitted;
}

/// A phase whose gradient displaces the pattern: an exit wave of `g` radians per pixel lies
/// n g / (2 pi) of the detector's n pixels from where the probe's own pattern is.
CoarseMap phase_from_centres(const Scan& scan, const WaveStack& probe,
                             const FittedPatterns& fitted) {
  const Vec2 undisplaced = optics::pattern_centre_px(probe, scan.info.valid_pixels);
  std::vector<Vec2> gradients;
  for (const io::PatternMoments& moments : fitted.moments) {
    const Vec2 centre = moments.centre_px;
    gradients.push_back({2 * std::numbers::pi / scan.info.pattern.h * (centre.y - undisplaced.y),
                         2 * std::numbers::pi / scan.info.pattern.w * (centre.x - undisplaced.x)});
  }
  return optics::phase_of_gradients(scan.grid.object, optics::coarse_step_px(fitted.beam_px),
                                    fitted.beam_px, gradients);
}

/// The root of what a pattern holds of the probe's counts.
CoarseMap amplitude_from_counts(const Scan& scan, const WaveStack& probe,
                                const FittedPatterns& fitted) {
  double probe_counts = 0;
  for (const std::complex<double>& value : probe) probe_counts += std::norm(value);
  std::vector<double> amplitudes;
  amplitudes.reserve(fitted.moments.size());
  for (const io::PatternMoments& moments : fitted.moments)
    amplitudes.push_back(std::sqrt(moments.counts / probe_counts));
  return optics::spread(scan.grid.object, optics::coarse_step_px(fitted.beam_px), fitted.beam_px,
                        amplitudes, 1);
}

}  // namespace

void fill_start_object(const deck::Deck& deck, const Scan& scan, const WaveStack& probe,
                       const comm::Communicator& comm, const physics::ObjectView& object) {
  const std::string& initial = deck.object.initial;
  if (!deck.run.resume.empty() || initial == "file") {
    fill_from_file(deck, scan, comm, object);
  } else if (initial == "random_phase") {
    const auto random = [&](Pixel pixel) {
      return Transmission{1, deck.object.random_phase_rad *
                                 random_at(deck.solvers.front().seed, 0, pixel, scan.grid.object)};
    };
    fill_planes(deck, scan, random, object);
  } else if (initial == "centre_of_mass") {
    const CoarseMap phase = phase_from_centres(scan, probe, fitted_patterns(scan, probe, comm));
    fill_planes(deck, scan, [&](Pixel pixel) { return Transmission{1, phase.at(pixel)}; }, object);
  } else if (initial == "stxm") {
    const CoarseMap amplitude =
        amplitude_from_counts(scan, probe, fitted_patterns(scan, probe, comm));
    fill_planes(
        deck, scan, [&](Pixel pixel) { return Transmission{amplitude.at(pixel), 0}; }, object);
  } else {
    fill_planes(deck, scan, [](Pixel) { return Transmission{}; }, object);
  }
}

}  // namespace tessera::run
