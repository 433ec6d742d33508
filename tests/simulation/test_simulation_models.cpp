// Thick samples, the near field and fly scans, against plain sums over the truth in the file.

#include "support/simulated_file.hpp"

namespace tessera::simulation {
namespace {

using namespace testing;

deck::Deck thick_simulation(const std::string& path, int n_slices, double thickness_m) {
  deck::Deck deck = small_simulation(path);
  deck.probe.n_modes = 1;
  deck.object.n_slices = n_slices;
  deck.object.slice_thickness_m = thickness_m;
  return deck;
}

TEST(ThickSample, SlicesThatTouchAreTheirProduct) {
  ScratchFile scratch("touching");
  simulate_quietly(thick_simulation(scratch.path, 3, 1e-15));
  if (!world().is_root()) return;
  const Truth truth(scratch.path);
  ASSERT_EQ(truth.object.n(), 3);
  WaveStack product(1, truth.object.shape());
  for (std::int64_t i = 0; i < product.shape().size(); ++i)
    product.data()[i] =
        truth.object.image(0)[i] * truth.object.image(1)[i] * truth.object.image(2)[i];
  for (const int position : {0, 7})
    expect_pattern(scratch.path, position,
                   plain_intensity(truth.probe, product, truth.corner_px[position]));
}

TEST(ThickSample, WavesSpreadAndLeanBetweenSlices) {
  ScratchFile scratch("leaning");
  constexpr double thickness_m = 3e-5;
  deck::Deck deck = thick_simulation(scratch.path, 3, thickness_m);
  deck.experiment.beam_tilt_rad = {-4e-4, 1.2e-3};  // half a pixel up, 1.5 pixels to the right
  simulate_quietly(deck);
  if (!world().is_root()) return;
  const Truth truth(scratch.path);
  const Vec2 shift_px{-thickness_m * std::tan(4e-4) / truth.pixel_m,
                      thickness_m * std::tan(1.2e-3) / truth.pixel_m};
  const double q = 1 / truth.wavelength_m;
  const Filter to_next_slice = [&](double fy, double fx) {
    const double k2 = (fy * fy + fx * fx) / (truth.pixel_m * truth.pixel_m);
    return std::polar(1.0, 2 * pi * thickness_m * (std::sqrt(q * q - k2) - q)) *
           shift_by(shift_px)(fy, fx);
  };
  for (const int position : {0, 7})
    expect_pattern(
        scratch.path, position,
        plain_intensity(truth.probe, truth.object, truth.corner_px[position], to_next_slice));
}

/// |<a, b>| / (||a|| ||b||) of what differs from the mean.
double correlation(const WaveStack& object, int a, int b) {
  const auto n = static_cast<double>(object.shape().size());
  Complex mean_a, mean_b, product;
  double power_a = 0, power_b = 0;
  for (std::int64_t i = 0; i < object.shape().size(); ++i) {
    mean_a += object.image(a)[i] / n;
    mean_b += object.image(b)[i] / n;
  }
  for (std::int64_t i = 0; i < object.shape().size(); ++i) {
    const Complex in_a = object.image(a)[i] - mean_a;
    const Complex in_b = object.image(b)[i] - mean_b;
    product += std::conj(in_a) * in_b;
    power_a += std::norm(in_a);
    power_b += std::norm(in_b);
  }
  return std::abs(product) / std::sqrt(power_a * power_b);
}

TEST(ThickSample, NoSliceLooksLikeAnother) {
  ScratchFile scratch("slices");
  for (const char* sample : {"siemens_star", "atoms"}) {
    deck::Deck deck = thick_simulation(scratch.path, 6, 1e-6);
    deck.simulation.object = sample;
    deck.simulation.n_positions = 100;
    deck.simulation.step_m = 400e-9;
    simulate_quietly(deck);
    if (!world().is_root()) continue;
    const Truth truth(scratch.path);
    for (int a = 0; a < 6; ++a)
      for (int b = 0; b < a; ++b)
        EXPECT_LT(correlation(truth.object, a, b), 0.2) << sample << " " << a << " " << b;
  }
}

/// 64 mm behind the sample, 100 nm pixels: Fresnel number of a pixel 1e-3.
deck::Deck near_simulation(const std::string& path) {
  deck::Deck deck = small_simulation(path);
  deck.experiment.propagation = "fresnel";
  deck.experiment.distance_m = 64e-3;
  deck.experiment.detector_pixel_m = 1e-7;
  deck.probe.semi_angle_rad = 4e-4;
  deck.probe.defocus_m = 1e-3;
  deck.simulation.diffuser_rad = 0.7;
  deck.simulation.scan = "raster";
  deck.simulation.jitter = 0;
  deck.simulation.n_positions = 12;
  deck.simulation.step_m = 3e-7;  // whole pixels: the samples in the file are those that were lit
  return deck;
}

TEST(NearField, ImagesArePropagatedWaves) {
  ScratchFile scratch("near");
  for (const std::string propagation : {"fresnel", "angular_spectrum"}) {
    deck::Deck deck = near_simulation(scratch.path);
    deck.experiment.propagation = propagation;
    simulate_quietly(deck);
    if (!world().is_root()) continue;
    const Truth truth(scratch.path);
    EXPECT_NEAR(truth.pixel_m, 1e-7, 1e-20);
    const double wavelength_m = truth.wavelength_m;
    const Filter to_detector = [&](double fy, double fx) {
      const double k2 = (fy * fy + fx * fx) / 1e-14;
      const double kz = propagation == "fresnel"
                            ? -wavelength_m * k2 / 2
                            : std::sqrt(1 / (wavelength_m * wavelength_m) - k2) - 1 / wavelength_m;
      return std::polar(1.0, 2 * pi * 64e-3 * kz);
    };
    for (const int position : {0, 7})
      expect_pattern(
          scratch.path, position,
          plain_intensity(truth.probe, truth.object, truth.corner_px[position], {}, to_detector));
  }
}

TEST(NearField, AConeBeamIsAParallelOneOnSmallerPixels) {
  ScratchFile cone("cone");
  ScratchFile parallel("parallel");
  deck::Deck deck = near_simulation(cone.path);
  deck.experiment.source_distance_m = 16e-3;  // magnification 5
  deck.experiment.detector_pixel_m = 5e-7;
  deck.probe.defocus_m = 16e-3 / 20;
  simulate_quietly(deck);
  if (!world().is_root()) return;
  const Truth truth(cone.path);
  EXPECT_NEAR(truth.pixel_m, 1e-7, 1e-20);
  const Filter to_detector = [&](double fy, double fx) {
    return std::polar(1.0, -pi * truth.wavelength_m * 64e-3 / 5 * (fy * fy + fx * fx) / 1e-14);
  };
  expect_pattern(cone.path, 5,
                 plain_intensity(truth.probe, truth.object, truth.corner_px[5], {}, to_detector));
}

TEST(NearField, AWaveFromTheSourceIsFlatInTheParallelBeam) {
  ScratchFile scratch("flat");
  deck::Deck deck = near_simulation(scratch.path);
  deck.experiment.source_distance_m = 4e-3;
  deck.experiment.detector_pixel_m = 17e-7;
  deck.probe.semi_angle_rad = 6e-4;
  deck.probe.defocus_m = 4e-3;  // the focus is the source
  deck.simulation.detector_shape = {64, 64};
  deck.simulation.diffuser_rad = 0;
  simulate_quietly(deck);
  if (!world().is_root()) return;
  const Truth truth(scratch.path);
  // The wave from the source would turn by pi r^2 / (wavelength z) = 6.5 rad at the ends of the
  // diagonal; diffraction at the edge of the disc turns it by less than 1.
  for (int d = -8; d <= 8; ++d)
    EXPECT_LT(std::abs(std::arg(truth.probe(0, 32 + d, 32 + d) / truth.probe(0, 32, 32))), 1);
}

TEST(NearField, TheProbeStaysOnTheDetector) {
  ScratchFile scratch("empty");
  deck::Deck deck = near_simulation(scratch.path);
  deck.simulation.jitter = 0.4;  // between pixels
  deck.simulation.phase_rad = 0;
  deck.simulation.absorption = 0;
  simulate_quietly(deck);
  if (!world().is_root()) return;
  const std::vector<double> patterns = io::File::open(scratch.path).read_doubles("patterns");
  double total = 0;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    EXPECT_EQ(patterns[i], patterns[i % 256]);
    total += patterns[i] / 12;
  }
  EXPECT_NEAR(total / 2e4, 1, 1e-6);
}

/// Between pixels the sample is not what its samples say, but the difference is small: shifting the
/// exit wave back, as a reconstruction does, is nearly the same.
TEST(NearField, AMovedSampleIsAnExitWaveShiftedBack) {
  ScratchFile scratch("between");
  deck::Deck deck = near_simulation(scratch.path);
  deck.simulation.jitter = 0.4;
  deck.simulation.object = "cells";
  simulate_quietly(deck);
  if (!world().is_root()) return;
  const Truth truth(scratch.path);
  const std::vector<double> patterns = io::File::open(scratch.path).read_doubles("patterns");
  for (const int position : {1, 5, 7}) {
    const Vec2 at = truth.corner_px[position];
    const Vec2 back{std::floor(at.y + 0.5) - at.y, std::floor(at.x + 0.5) - at.x};
    ASSERT_GT(std::hypot(back.y, back.x), 0.1);
    const Filter fresnel = [&](double fy, double fx) {
      return std::polar(1.0, -pi * truth.wavelength_m * 64e-3 * (fy * fy + fx * fx) / 1e-14);
    };
    auto error = [&](const Filter& to_detector) {
      const std::vector<double> model =
          plain_intensity(truth.probe, truth.object, at, {}, to_detector);
      double squares = 0;
      double counts = 0;
      for (std::size_t i = 0; i < model.size(); ++i) {
        const double measured = patterns[position * model.size() + i];
        squares += std::pow(std::sqrt(model[i]) - std::sqrt(measured), 2);
        counts += measured;
      }
      return squares / counts;
    };
    const double shifted_back =
        error([&](double fy, double fx) { return fresnel(fy, fx) * shift_by(back)(fy, fx); });
    EXPECT_LT(shifted_back, 1e-3);
    EXPECT_GT(error(fresnel), 10 * shifted_back);
  }
}

TEST(FlyScan, IsTheMeanOfItsExposures) {
  ScratchFile scratch("fly");
  deck::Deck deck = small_simulation(scratch.path);
  deck.experiment.fly_sub_positions = 3;
  deck.experiment.fly_travel_m = {60e-9, -170e-9};
  simulate_quietly(deck);
  if (!world().is_root()) return;
  const Truth truth(scratch.path);
  for (const int position : {0, 7, 11}) {
    std::vector<double> mean(256, 0.0);
    for (const double way : {-1.0 / 3, 0.0, 1.0 / 3}) {
      const Vec2 at = truth.corner_px[position];
      const std::vector<double> exposure = plain_intensity(
          truth.probe, truth.object,
          {at.y + way * 60e-9 / truth.pixel_m, at.x - way * 170e-9 / truth.pixel_m});
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += exposure[i] / 3;
    }
    expect_pattern(scratch.path, position, mean);
  }
}

}  // namespace
}  // namespace tessera::simulation
