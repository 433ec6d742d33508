// What a reconstruction starts from, against objects that are known, and one rank against many.
#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/io/hdf5.hpp"
#include "tessera/optics/host_fft.hpp"

#include "optics/deck_optics.hpp"
#include "run/start.hpp"
#include "support/deck_text.hpp"
#include "support/small_scan.hpp"

namespace tessera::run {
namespace {

using Complex = std::complex<double>;
using ::testing::HasSubstr;
using testing::world;

const Shape2 window{32, 32};
constexpr int n_positions = 11 * 13;

/// A file of patterns of a known object, made by plain transforms.
class KnownScan : public ::testing::Test {
 protected:
  KnownScan() : folder_("start_object"), deck_(deck({})) {}

  deck::Deck deck(std::vector<std::string> overrides) const {
    overrides.insert(overrides.end(), {"data.patterns=patterns", "data.positions=positions_m",
                                       "data.valid_pixels="});
    return testing::parsed(folder_.path(), overrides);
  }

  /// @param object by object pixel; window corners are 5 pixels apart
  void write(const std::function<Complex(double, double)>& object) {
    const geometry::Optics optics = optics::optics_of(deck_.experiment, window);
    WaveStack probe = optics::optical_probe(deck_.probe, window, optics);
    optics::scale_to_counts(probe, 1e6);
    std::vector<double> patterns;
    std::vector<double> positions_m;
    for (int position = 0; position < n_positions; ++position) {
      const Pixel corner{position / 13 * 5, position % 13 * 5};
      positions_m.insert(positions_m.end(), {corner.y * optics.pixel_m, corner.x * optics.pixel_m});
      WaveStack wave = probe;
      for (int y = 0; y < window.h; ++y)
        for (int x = 0; x < window.w; ++x) wave(0, y, x) *= object(corner.y + y, corner.x + x);
      optics::forward_2d(wave);
      for (const Complex& value : optics::centred(wave)) patterns.push_back(std::norm(value));
    }
    WaveStack empty = probe;
    optics::forward_2d(empty);
    std::vector<double> vacuum;
    for (const Complex& value : optics::centred(empty)) vacuum.push_back(std::norm(value));
    world().together([&] {
      if (!world().is_root()) return;
      io::File file = io::File::create(deck_.data.file);
      file.write_doubles("patterns", {n_positions, window.h, window.w}, patterns);
      file.write_doubles("positions_m", {n_positions, 2}, positions_m);
      file.write_doubles("vacuum", {window.h, window.w}, vacuum);
      file.close();
    });
  }

  testing::SharedFolder folder_;
  deck::Deck deck_;
};

struct Started {
  Scan scan;
  WaveStack object;  ///< of the ghosted box
  WaveStack probe;

  Complex at(int plane, Pixel pixel) const {
    const Pixel begin = scan.tile().ghosted.begin;
    return object(plane, pixel.y - begin.y, pixel.x - begin.x);
  }
};

Started started(const deck::Deck& deck, const comm::Communicator& comm) {
  Scan scan = load_scan(deck, scan_source(deck), comm, Log(false));
  const Start start = make_start(deck, scan, comm);
  return {std::move(scan), testing::on_host(start.unknowns.object),
          testing::on_host(start.unknowns.probe)};
}

/// For all pixels of `box`.
template <class Visit>
void for_each_in(const Box& box, const Visit& visit) {
  for (int y = box.begin.y; y < box.end.y; ++y)
    for (int x = box.begin.x; x < box.end.x; ++x) visit(Pixel{y, x});
}

Complex bumpy(double y, double x) {
  const double bump = std::exp(-((y - 45) * (y - 45) + (x - 40) * (x - 40)) / 300);
  return std::polar(1 - 0.4 * bump, 1.2 * bump);
}

TEST_F(KnownScan, EveryStartIsTheSameOnAnyNumberOfRanks) {
  write(bumpy);
  const comm::Communicator alone(MPI_COMM_SELF);
  for (const char* initial : {"ones", "random_phase", "centre_of_mass", "stxm"}) {
    const deck::Deck asked = deck({text("object.initial=", initial), "object.n_modes=2",
                                   "object.n_slices=3", "object.slice_thickness_m=1e-6"});
    const Started whole = started(asked, alone);
    const Started part = started(asked, world());
    double worst = 0;
    for (int plane = 0; plane < 6; ++plane)
      for_each_in(part.scan.tile().ghosted, [&](Pixel pixel) {
        worst = std::max(worst, std::abs(part.at(plane, pixel) - whole.at(plane, pixel)));
      });
    EXPECT_LT(worst, 1e-6) << initial;
    EXPECT_LT(testing::relative_difference(part.probe, whole.probe), 1e-6);
  }
}

TEST_F(KnownScan, CentresOfMassGiveThePhaseWithItsSign) {
  const auto phase = [](double y, double x) {
    return 0.8 * std::exp(-((y - 45) * (y - 45) + (x - 40) * (x - 40)) / 500) + 0.03 * y - 0.02 * x;
  };
  write([&](double y, double x) { return std::polar(1.0, phase(y, x)); });
  const Started start = started(deck({"object.initial=centre_of_mass"}), world());
  // Where several windows overlap; compared as a product, so that a multiple of 2 pi is none.
  const Box& ghosted = start.scan.tile().ghosted;
  const Box inside = intersection(ghosted, {{18, 18}, {64, 74}});
  Complex mean = 0;
  for_each_in(inside, [&](Pixel p) { mean += start.at(0, p) * std::polar(1.0, -phase(p.y, p.x)); });
  double squares = 0;
  for_each_in(inside, [&](Pixel p) {
    const Complex off =
        start.at(0, p) * std::polar(1.0, -phase(p.y, p.x)) * std::conj(mean) / std::abs(mean);
    squares += std::arg(off) * std::arg(off);
  });
  EXPECT_LT(squares, 0.06 * 0.06 * static_cast<double>(inside.area()));
}

TEST_F(KnownScan, CountsGiveTheAbsorption) {
  const auto amplitude = [](double y, double x) {
    return 1 - 0.5 * std::exp(-((y - 45) * (y - 45) + (x - 40) * (x - 40)) / 500);
  };
  write([&](double y, double x) { return Complex(amplitude(y, x)); });
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{}, {"probe.initial=vacuum", "probe.vacuum=vacuum"}}) {
    std::vector<std::string> overrides = options;
    overrides.push_back("object.initial=stxm");
    const Started start = started(deck(overrides), world());
    double worst = 0;
    for_each_in(intersection(start.scan.tile().ghosted, {{18, 18}, {64, 74}}), [&](Pixel p) {
      worst = std::max(worst, std::abs(start.at(0, p) - amplitude(p.y, p.x)));
    });
    EXPECT_LT(worst, 0.08);
    const double power = testing::norm(start.probe) * testing::norm(start.probe);
    EXPECT_NEAR(power / 1e6, 1, options.empty() ? 0.02 : 1e-5);
  }
}

TEST_F(KnownScan, AVacuumProbeHasThePatternOfNoSampleAndItsDefocus) {
  write([](double, double) { return Complex(1); });
  const Started start = started(deck({"probe.initial=vacuum", "probe.vacuum=vacuum"}), world());
  WaveStack expected =
      optics::optical_probe(deck_.probe, window, optics::optics_of(deck_.experiment, window));
  optics::scale_to_counts(expected, 1e6);
  EXPECT_LT(testing::relative_difference(start.probe, expected), 1e-5);
  std::string message;
  try {
    started(deck({"probe.initial=vacuum", "probe.vacuum=positions_m"}), world());
  } catch (const AgreedError& error) {
    message = error.what();
  }
  EXPECT_THAT(message, HasSubstr("probe.vacuum"));
}

TEST_F(KnownScan, RandomPhasesAreBoundedAndFill) {
  write([](double, double) { return Complex(1); });
  const Started start =
      started(deck({"object.initial=random_phase", "object.random_phase_rad=0.5"}), world());
  double squares = 0;
  for (const Complex& value : start.object) {
    EXPECT_NEAR(std::abs(value), 1, 1e-6);
    EXPECT_LE(std::abs(std::arg(value)), 0.5001);
    squares += std::arg(value) * std::arg(value);
  }
  EXPECT_NEAR(squares / static_cast<double>(start.object.size()), 0.25 / 3, 0.01);
}

/// All modes and slices together pass what one object would.
TEST_F(KnownScan, SlicesShareTheStartAndModesItsPower) {
  write(bumpy);
  const Started one = started(deck({"object.initial=stxm"}), world());
  const Started many = started(deck({"object.initial=stxm", "object.n_modes=2", "object.n_slices=3",
                                     "object.slice_thickness_m=1e-6"}),
                               world());
  bool modes_differ = false;
  double worst = 0;
  for_each_in(one.scan.tile().ghosted, [&](Pixel p) {
    double power = 0;
    for (int mode = 0; mode < 2; ++mode)
      power +=
          std::norm(many.at(3 * mode, p) * many.at(3 * mode + 1, p) * many.at(3 * mode + 2, p));
    worst = std::max(worst, std::abs(power - std::norm(one.at(0, p))));
    modes_differ = modes_differ || many.at(0, p) != many.at(3, p);
  });
  EXPECT_LT(worst, 1e-5);
  EXPECT_TRUE(modes_differ);
}

/// A result of (n, H, W) is read plane by plane; a single plane is shared out.
TEST_F(KnownScan, AFilesPlanesAreThoseOfTheStart) {
  write(bumpy);
  const geometry::Optics optics = optics::optics_of(deck_.experiment, window);
  const auto encoded = [](int plane, Pixel p) {
    return Complex(1 + 0.01 * p.y + 0.001 * p.x, 0.1 * plane);
  };
  const auto write_result = [&](const std::string& name, int n) {
    world().together([&] {
      if (!world().is_root()) return;
      io::File file = io::File::create((folder_.path() / name).string());
      file.create_dataset("object", {n, 50, 60}, io::ElementType::complex128);
      std::vector<Complex> values;
      for (int plane = 0; plane < n; ++plane)
        for_each_in({{0, 0}, {50, 60}}, [&](Pixel p) { values.push_back(encoded(plane, p)); });
      file.write_slab("object", {0, 0, 0}, {n, 50, 60}, io::ElementType::complex128, values.data());
      file.set_attribute("/", "object_pixel_m", optics.pixel_m);
      file.write_doubles("object_origin_m", {2}, {3 * optics.pixel_m, -2 * optics.pixel_m});
      file.close();
    });
    return "object.file=" + (folder_.path() / name).string();
  };
  const Box in_file = Box::at({3, -2}, {50, 60});
  const std::string four = write_result("four.h5", 4);
  const Started planes = started(deck({"object.initial=file", four, "object.n_modes=2",
                                       "object.n_slices=2", "object.slice_thickness_m=1e-6"}),
                                 world());
  const std::string one = write_result("one.h5", 1);
  const Started shared = started(
      deck({"object.initial=file", one, "object.n_slices=2", "object.slice_thickness_m=1e-6"}),
      world());
  double worst = 0;
  for_each_in(planes.scan.tile().ghosted, [&](Pixel p) {
    const bool read = in_file.contains(p);
    const Pixel there{p.y - 3, p.x + 2};
    for (int plane = 0; plane < 4; ++plane)
      worst = std::max(worst, std::abs(planes.at(plane, p) - (read ? encoded(plane, there) : 1)));
    worst = std::max(worst,
                     std::abs(shared.at(0, p) * shared.at(1, p) - (read ? encoded(0, there) : 1)));
  });
  EXPECT_LT(worst, 1e-5);
  EXPECT_THROW(started(deck({"object.initial=file", four, "object.n_modes=3"}), world()),
               AgreedError);
}

}  // namespace
}  // namespace tessera::run
