#include "synthetic_scan.hpp"

#include <algorithm>
#include <numeric>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/fft/plan.hpp"
#include "tessera/geometry/wavelength.hpp"
#include "tessera/optics/start_probe.hpp"
#include "tessera/physics/pattern_store.hpp"

#include "deck/parse.hpp"
#include "optics/deck_optics.hpp"
#include "physics/forward_model.hpp"
#include "physics/inner_product.hpp"
#include "run/memory.hpp"

namespace tessera::scaling {
namespace {

using device::complex;
using device::Device;
using device::DeviceView;
using Counts = DeviceView<std::uint16_t***>;

constexpr double energy_eV = 8800;
constexpr double detector_pixel_m = 75e-6;
constexpr double distance_m = 2;
constexpr double jitter_px = 1.5;
constexpr double start_defocus_error = 1.1;
constexpr double counts_per_lit_pixel = 1000;

KOKKOS_FUNCTION complex shift_factor(int k, int n, Real shift_px) {
  const int signed_k = k < (n + 1) / 2 ? k : k - n;
  const Real angle = Real(-2 * M_PI) * Real(signed_k) * shift_px / Real(n);
  return {device::math::cos(angle), device::math::sin(angle)};
}

struct FillObject {
  physics::ObjectView object;
  Pixel first;
  KOKKOS_FUNCTION void operator()(int, int y, int x) const {
    const Kokkos::complex<double> value = transmission(first.y + y, first.x + x);
    object(0, y, x) = complex(static_cast<Real>(value.real()), static_cast<Real>(value.imag()));
  }
};

/// waves[j, m] = spectrum of mode m, times the ramp that moves it to position first + j.
struct ShiftedSpectra {
  physics::WavesView waves;
  physics::ProbeView spectrum;
  DeviceView<Real* [2]> shift_px;
  int n_modes;
  int first;
  Real scale;
  KOKKOS_FUNCTION void operator()(int i, int y, int x) const {
    const int j = i / n_modes;
    const int m = i % n_modes;
    const complex ramp =
        shift_factor(y, static_cast<int>(waves.extent(2)), shift_px(first + j, 0)) *
        shift_factor(x, static_cast<int>(waves.extent(3)), shift_px(first + j, 1));
    waves(j, m, y, x) = spectrum(m, y, x) * ramp * scale;
  }
};

struct PassThrough {
  physics::WavesView waves;
  physics::ObjectView object;
  DeviceView<int* [2]> corner;
  int n_modes;
  int first;
  Real scale;
  KOKKOS_FUNCTION void operator()(int i, int y, int x) const {
    const int j = i / n_modes;
    waves(j, i % n_modes, y, x) *=
        object(0, corner(first + j, 0) + y, corner(first + j, 1) + x) * scale;
  }
};

struct Count {
  physics::WavesView waves;
  Counts counts;
  DeviceView<Real**> valid;
  int n_modes;
  KOKKOS_FUNCTION void operator()(int j, int y, int x) const {
    Real intensity = 0;
    for (int m = 0; m < n_modes; ++m) intensity += physics::squared_magnitude(waves(j, m, y, x));
    intensity = intensity * valid(y, x) + Real(0.5);
    counts(j, y, x) = static_cast<std::uint16_t>(intensity < Real(65535) ? intensity : Real(65535));
  }
};

struct AddCounts {
  const std::uint16_t* counts;
  KOKKOS_FUNCTION void operator()(const std::int64_t i, double& sum) const { sum += counts[i]; }
};

physics::ProbeView on_device(const WaveStack& probe) {
  std::vector<complex> values;
  for (const std::complex<double>& value : probe)
    values.emplace_back(static_cast<Real>(value.real()), static_cast<Real>(value.imag()));
  return device::to_device<physics::ProbeView>(
      "tessera::scaling::probe", values.data(),
      physics::ProbeView::array_layout(probe.n(), probe.h(), probe.w()));
}

physics::ObjectView sample(const Device& exec, const Box& ghosted) {
  physics::ObjectView object("tessera::scaling::sample", 1, ghosted.height(), ghosted.width());
  device::for_each_pixel(exec, "tessera::scaling::sample", 1, ghosted.shape(),
                         FillObject{object, ghosted.begin});
  return object;
}

/// What the window of each of this rank's positions lies beyond its corner: exact, however finely
/// the reconstruction takes it.
DeviceView<Real* [2]> exact_shifts(const run::Scan& scan) {
  const geometry::WindowGrid& grid = scan.grid;
  std::vector<Real> shift_px;
  for (const int position : scan.tile().positions) {
    const auto i = static_cast<std::size_t>(position);
    const Vec2& at_m = scan.info.positions_m[i];
    shift_px.push_back(
        static_cast<Real>((at_m.y - grid.origin_m.y) / grid.pixel_m - grid.corner[i].y));
    shift_px.push_back(
        static_cast<Real>((at_m.x - grid.origin_m.x) / grid.pixel_m - grid.corner[i].x));
  }
  return device::to_device<DeviceView<Real* [2]>>(
      "tessera::scaling::shift_px", shift_px.data(),
      DeviceView<Real* [2]>::array_layout(shift_px.size() / 2, 2));
}

/// Computes the patterns of this rank's positions, a bounded number of waves at a time.
class PatternMaker {
 public:
  PatternMaker(const Device& exec, const run::Scan& scan, const WaveStack& probe)
      : tile_(scan.on_device),
        n_modes_(probe.n()),
        piece_(static_cast<int>(std::clamp<std::int64_t>(
            (1 << 24) / (tile_.window.size() * n_modes_), 1,
            std::max<std::int64_t>(1, std::ssize(scan.tile().positions))))),
        plan_(tile_.window, fft::Planning::reproducible),
        object_(sample(exec, scan.tile().ghosted)),
        spectrum_(on_device(probe)),
        shift_px_(exact_shifts(scan)),
        waves_("tessera::scaling::waves", piece_, n_modes_, tile_.window.h, tile_.window.w),
        counts_("tessera::scaling::counts", piece_, tile_.window.h, tile_.window.w) {
    plan_.forward(exec, spectrum_.data(), n_modes_);
  }
  /// Most positions at a time.
  int piece() const { return piece_; }
  /// (piece(), h, w), of which the first n are those of local positions first ... first + n - 1.
  const Counts& make(const Device& exec, int first, int n) const {
    const Real scale = plan_.unitary_scale();
    device::for_each_pixel(
        exec, "tessera::scaling::shift", n * n_modes_, tile_.window,
        ShiftedSpectra{waves_, spectrum_, shift_px_, n_modes_, first, scale * scale});
    plan_.inverse(exec, waves_.data(), n * n_modes_);
    device::for_each_pixel(exec, "tessera::scaling::pass", n * n_modes_, tile_.window,
                           PassThrough{waves_, object_, tile_.corner, n_modes_, first, scale});
    plan_.forward(exec, waves_.data(), n * n_modes_);
    device::for_each_pixel(exec, "tessera::scaling::count", n, tile_.window,
                           Count{waves_, counts_, tile_.valid_pixels, n_modes_});
    return counts_;
  }

 private:
  const physics::ScanTile& tile_;
  int n_modes_;
  int piece_;
  fft::Plan plan_;
  physics::ObjectView object_;
  physics::ProbeView spectrum_;
  DeviceView<Real* [2]> shift_px_;
  physics::WavesView waves_;
  Counts counts_;
};

double total(const Device& exec, const Counts& counts, int n) {
  double sum = 0;
  const std::int64_t size = n * static_cast<std::int64_t>(counts.stride(0));
  Kokkos::parallel_reduce(
      device::kernel_name("tessera::scaling::total"),
      Kokkos::RangePolicy<Device, Kokkos::IndexType<std::int64_t>>(exec, 0, size),
      AddCounts{counts.data()}, sum);
  return sum;
}

/// Writes the patterns of all local positions to device or pinned memory. Returns their counts.
double compute_patterns(const run::Scan& scan, const WaveStack& probe, std::byte* patterns) {
  const Device exec;
  const PatternMaker maker(exec, scan, probe);
  const auto n_positions = static_cast<int>(scan.tile().positions.size());
  const std::size_t n_bytes = scan.on_device.window.size() * sizeof(std::uint16_t);
  double counts = 0;
  for (int first = 0; first < n_positions; first += maker.piece()) {
    const int n = std::min(maker.piece(), n_positions - first);
    const Counts& made = maker.make(exec, first, n);
    device::copy_async(exec, patterns + first * n_bytes, made.data(), n * n_bytes);
    counts += total(exec, made, n);
  }
  exec.fence();  // the maker's arrays go out of scope
  return counts;
}

/// Where the memory plan wants them. Returns their counts.
double make_patterns(const WaveStack& probe, run::Scan& scan) {
  const Shape2 window = scan.on_device.window;
  const std::size_t n = scan.tile().positions.size();
  const std::size_t n_bytes = window.size() * sizeof(std::uint16_t);
  if (scan.memory.patterns == decomposition::PatternsIn::device) {
    const Counts patterns(
        Kokkos::view_alloc("tessera::physics::patterns", Kokkos::WithoutInitializing), n, window.h,
        window.w);
    scan.on_device.patterns = std::make_shared<physics::ResidentPatterns>(patterns);
    return compute_patterns(scan, probe, reinterpret_cast<std::byte*>(patterns.data()));
  }
  device::PinnedBuffer patterns(n * n_bytes);
  const double counts = compute_patterns(scan, probe, patterns.data());
  scan.on_device.patterns = std::make_shared<physics::StreamedPatterns>(
      Counts(), window, scan.plan.max_in_chunk(n),
      std::make_unique<physics::PinnedPatterns>(std::move(patterns), n_bytes,
                                                scan.on_device.order));
  return counts;
}

io::ScanInfo scan_info(const SyntheticCase& wanted, const geometry::Optics& optics) {
  io::ScanInfo info;
  info.pattern = {wanted.window_px, wanted.window_px};
  info.frame = geometry::whole_detector(info.pattern);
  info.type = io::PatternType::u16;
  const double step_m = wanted.step_px * optics.pixel_m;
  info.positions_m = geometry::raster_scan(wanted.raster.h, wanted.raster.w, {step_m, step_m});
  geometry::jitter(info.positions_m, jitter_px * optics.pixel_m, 1);
  info.n_positions = static_cast<int>(info.positions_m.size());
  info.valid_pixels = ImageStack<std::uint8_t>(1, info.pattern, 1);
  for (std::int64_t pixel = 7; pixel < info.pattern.size(); pixel += 997)
    info.valid_pixels.data()[pixel] = 0;
  return info;
}

}  // namespace

deck::Deck synthetic_deck(const SyntheticCase& wanted, const std::vector<std::string>& overrides) {
  if (wanted.window_px < 8 || wanted.step_px < 1 || wanted.raster.h < 1 || wanted.raster.w < 1)
    throw InputError(text("a case of ", wanted.raster.h, " x ", wanted.raster.w,
                          " positions, step ", wanted.step_px, " px, window ", wanted.window_px,
                          " px: the window must be >= 8 px, the others >= 1"));
  const double wavelength_m = geometry::photon_wavelength_m(energy_eV);
  // An aperture of a quarter of the detector, and a probe of 0.4 of the window, at any size.
  const double pixel_m = wavelength_m * distance_m / (wanted.window_px * detector_pixel_m);
  const double semi_angle_rad = wavelength_m / (8 * pixel_m);
  const double defocus_m = 0.2 * wanted.window_px * pixel_m / semi_angle_rad * start_defocus_error;
  const std::string toml =
      text("[data]\nfile = \"none.h5\"\n[experiment]\nenergy_eV = ", energy_eV,
           "\ndistance_m = ", distance_m, "\ndetector_pixel_m = ", detector_pixel_m,
           "\n[probe]\ninitial = \"aperture\"\nsemi_angle_rad = ", semi_angle_rad,
           "\ndefocus_m = ", defocus_m,
           "\n[solver]\nbatch_size = 256\nbatch_order = \"compact\"\nepochs = 1000\n");
  return deck::parse(toml, "synthetic.toml", overrides);
}

WaveStack true_probe(const deck::Deck& deck, const geometry::Optics& optics, int window_px) {
  deck::Probe optic = deck.probe;
  optic.defocus_m /= start_defocus_error;
  const Shape2 window{window_px, window_px};
  WaveStack probe = optics::with_extra_modes(optics::optical_probe(optic, window, optics),
                                             optic.n_modes, optic.extra_mode_power);
  const double lit_px = M_PI * static_cast<double>(window.size()) / 64;
  optics::scale_to_counts(probe, counts_per_lit_pixel * lit_px);
  return probe;
}

run::Scan lay_out_synthetic_scan(const deck::Deck& deck, const SyntheticCase& wanted,
                                 const comm::Communicator& comm) {
  io::ScanInfo info;
  comm.together([&] {
    info =
        scan_info(wanted, optics::optics_of(deck.experiment, {wanted.window_px, wanted.window_px}));
  });
  const std::vector<Vec2> positions_m = info.positions_m;
  run::Scan scan = run::lay_out_scan(deck, std::move(info), comm);
  scan.info.positions_m = positions_m;  // the patterns are computed where they exactly are
  return scan;
}

run::Scan make_synthetic_scan(const deck::Deck& deck, const SyntheticCase& wanted,
                              const comm::Communicator& comm) {
  run::Scan scan = lay_out_synthetic_scan(deck, wanted, comm);
  scan.memory = run::agreed_memory_plan(deck, scan, comm);
  double counts = 0;
  comm.together(
      [&] { counts = make_patterns(true_probe(deck, scan.plan.optics, wanted.window_px), scan); });
  comm.sum(std::span<double>(&counts, 1));
  scan.counts_per_pattern = counts / scan.n_positions();
  scan.lit_pixels = static_cast<double>(scan.info.n_trusted());
  return scan;
}

}  // namespace tessera::scaling
