// Files that are right but for one thing each: init names it in one line and proposes what is
// right.

#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/io/hdf5.hpp"

#include "analysis/init.hpp"
#include "analysis/turned_shadows.hpp"
#include "support/scratch_folder.hpp"
#include "support/written_values.hpp"

namespace tessera::analysis {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::write_values;

constexpr int side = 5;  // positions in a row
constexpr int n_positions = side * side;
constexpr int size = 64;
constexpr double pixel_m = 75e-6;

/// What goes into a CXI file; a trap spoils some of it.
struct Cxi {
  std::vector<double> patterns;
  io::ElementType type = io::ElementType::f32;
  std::vector<double> translation;  ///< x, y, z
  std::vector<double> mask = std::vector<double>(size * size, 0);
  std::vector<double> dark = {};
  std::vector<double> basis = {0, -pixel_m, 0, -pixel_m, 0, 0};
  double energy = 8000 * 1.602176634e-19;
  double distance = 1.0;
  double pixel = pixel_m;
  std::string unit = {};  ///< of the translations

  double& count(int position, int y, int x) {
    return patterns[static_cast<std::size_t>((position * size + y) * size + x)];
  }
  /// Every position's x and y, through `change`.
  void move(const std::function<Vec2(Vec2)>& change) {
    for (std::size_t i = 0; i < translation.size(); i += 3) {
      const Vec2 at = change({translation[i + 1], translation[i]});
      translation[i] = at.x;
      translation[i + 1] = at.y;
    }
  }
};

/// A narrow beam in the middle, in steps of 0.3 um: the far field.
Cxi far_field() {
  Cxi cxi;
  for (int p = 0; p < n_positions; ++p) {
    cxi.translation.insert(cxi.translation.end(), {3e-7 * (p % side), 3e-7 * (p / side), 0});
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x)
        cxi.patterns.push_back(
            std::round(1000 * std::exp(-(std::pow(y - 32, 2) + std::pow(x - 32, 2)) / 20)) + p % 3);
  }
  return cxi;
}

constexpr double magnification = 20;

/// A smooth texture: some waves of random directions.
double texture(Vec2 at_px) {
  double value = 0;
  for (int wave = 0; wave < 16; ++wave) {
    const double angle = 2.4 * wave;
    const double k = 0.25 + 0.04 * wave;
    value += std::cos(k * (std::cos(angle) * at_px.y + std::sin(angle) * at_px.x) + 7.1 * wave);
  }
  return 0.05 * value;
}

/// Shadow images in a cone beam that fills the detector. The image moves against the beam.
Cxi near_field() {
  Cxi cxi;
  cxi.type = io::ElementType::u16;
  for (int p = 0; p < n_positions; ++p) {
    const Vec2 at_px{7.0 * (p / side) + 0.3 * (p % 3), 8.0 * (p % side)};
    const double m_per_px = pixel_m / magnification;
    cxi.translation.insert(cxi.translation.end(), {m_per_px * at_px.x, m_per_px * at_px.y, 0});
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x)
        cxi.patterns.push_back(
            std::round(1000 * (1 + texture(Vec2{double(y), double(x)} + at_px))));
  }
  return cxi;
}

void write(const std::string& path, const Cxi& cxi) {
  const std::string detector = "entry_1/instrument_1/detector_1/";
  io::File file = io::File::create(path);
  write_values(file, "entry_1/data_1/data", {n_positions, size, size}, cxi.type, cxi.patterns);
  file.write_doubles("entry_1/sample_1/geometry_1/translation", {n_positions, 3}, cxi.translation);
  if (!cxi.unit.empty())
    file.set_attribute("entry_1/sample_1/geometry_1/translation", "units", cxi.unit);
  write_values(file, detector + "mask", {size, size}, io::ElementType::u32, cxi.mask);
  if (!cxi.dark.empty()) file.write_doubles(detector + "data_dark", {size, size}, cxi.dark);
  file.write_doubles(detector + "basis_vectors", {2, 3}, cxi.basis);
  file.write_doubles(detector + "distance", {1}, {cxi.distance});
  if (cxi.pixel > 0) file.write_doubles(detector + "x_pixel_size", {1}, {cxi.pixel});
  file.write_doubles("entry_1/instrument_1/source_1/energy", {1}, {cxi.energy});
  file.close();
}

struct Trap {
  std::string name;
  bool in_near_field;
  std::function<void(Cxi&)> spoil;
  std::string warning;  ///< empty: none
  std::string line;     ///< of the deck
  bool stays_in_near_field = true;
};

void PrintTo(const Trap& trap, std::ostream* out) {
  *out << trap.name;
}

const std::vector<Trap> traps = {
    {"NothingFar", false, [](Cxi&) {}, "", "detector_pixel_m = 7.5e-05"},
    {"EnergyInElectronvolts", false, [](Cxi& c) { c.energy = 8000; }, "8000 J cannot be",
     "energy_eV = 8000 "},
    {"DistanceInMillimetres", false, [](Cxi& c) { c.distance = 1000; }, "taken as mm",
     "distance_m = 1 "},
    {"PixelInMicrometres", false, [](Cxi& c) { c.pixel = 75; }, "taken as um",
     "detector_pixel_m = 7.5e-05"},
    {"PixelInMillimetres", false, [](Cxi& c) { c.pixel = 0.075; }, "taken as mm",
     "detector_pixel_m = 7.5e-05"},
    {"PixelInBasisVectorsOnly", false, [](Cxi& c) { c.pixel = 0; }, "",
     "detector_pixel_m = 7.5e-05"},
    {"PositionsInMicrometres", false, [](Cxi& c) { c.move([](Vec2 at) { return 1e6 * at; }); },
     "in units of 1e-06 m", "positions_scale = [1e-06, 1e-06]"},
    {"MaskOfTheOtherPolarity", false, [](Cxi& c) { c.mask.assign(c.mask.size(), 1); },
     "other polarity", "valid_pixels = \"entry_1/instrument_1/detector_1/mask\""},
    {"ZeroFrequencyInTheCorner", false,
     [](Cxi& c) {
       const Cxi right = c;
       for (int p = 0; p < n_positions; ++p)
         for (int y = 0; y < size; ++y)
           for (int x = 0; x < size; ++x)
             c.count(p, (y + 32) % size, (x + 32) % size) = Cxi(right).count(p, y, x);
     },
     "in the corners", "zero_frequency = \"corner\""},
    {"NegativeCounts", false,
     [](Cxi& c) {
       for (double& count : c.patterns) count -= 1;
     },
     "data.negative_counts makes them 0", "negative_counts = \"zero\""},
    {"GapsOfMinusOne", false,
     [](Cxi& c) {
       for (int p = 0; p < n_positions; ++p) c.count(p, 3, 4) = -1;
     },
     "data.negative_counts leaves them out", "negative_counts = \"ignore\""},
    {"GapsOfTheTypesGreatestValue", false,
     [](Cxi& c) {
       c.type = io::ElementType::u16;
       for (int p = 0; p < n_positions; ++p) c.count(p, 3, 4) = 65535;
     },
     "data.saturation_counts leaves them out", "saturation_counts = 65535"},
    {"SomeValuesThatAreNoNumbers", false, [](Cxi& c) { c.count(2, 30, 31) = std::nan(""); },
     "no numbers", "negative_counts = \"ignore\""},
    {"ADarkThatWasSubtracted", false, [](Cxi& c) { c.dark.assign(c.mask.size(), 100); },
     "brighter than the patterns", ""},
    {"RowsThatRunUp", false, [](Cxi& c) { c.basis[1] = pixel_m; }, "rows run up",
     "positions_scale = [-1, 1]"},
    {"ADetectorOnItsSide", false, [](Cxi& c) { c.basis = {-pixel_m, 0, 0, 0, -pixel_m, 0}; },
     "stands on its side", "positions_columns = [0, 1]"},
    {"NothingNear", true, [](Cxi&) {}, "the beam fills the detector", "source_distance_m = 0.05"},
    {"PositionsOfTheSample", true, [](Cxi& c) { c.move([](Vec2 at) { return -1 * at; }); },
     "y runs the other way x runs the other way", "positions_scale = [-1, -1]"},
    {"OneAxisTurned", true, [](Cxi& c) { c.move([](Vec2 at) { return Vec2{at.y, -at.x}; }); },
     "x runs the other way", "positions_scale = [1, -1]"},
    {"AxesExchanged", true, [](Cxi& c) { c.move([](Vec2 at) { return Vec2{at.x, at.y}; }); },
     "y and x are exchanged", "positions_columns = [0, 1]"},
    {"AxesExchangedAndTurned", true,
     [](Cxi& c) { c.move([](Vec2 at) { return Vec2{at.x, -at.y}; }); },
     "y and x are exchanged (data.positions_columns), ", "positions_scale = ["},
    {"ABeamThatLightsAPart", true,
     [](Cxi& c) {
       for (int p = 0; p < n_positions; ++p)
         for (int y = 0; y < size; ++y)
           for (int x = 30; x < size; ++x) c.count(p, y, x) = 0;
     },
     "wider than the window", "crop = [64, 40]"},
    {"ShadowsOfAFarFieldWithOneAxisTurned", true,
     [](Cxi& c) {
       c.move([](Vec2 at) { return 1e-3 * Vec2{at.y, -at.x}; });
       for (int p = 0; p < n_positions; ++p)
         for (int y = 0; y < size; ++y)
           for (int x = 0; x < size; ++x)
             if (std::hypot(y - 32, x - 32) > 22) c.count(p, y, x) = 0;
     },
     "x runs the other way", "defocus_m = 5.", false},
    {"PositionErrorsOfAPixelInTheNearField", true,
     [](Cxi& c) {
       int p = 0;
       c.move([&](Vec2 at) {
         const double angle = 2.4 * p++;
         return at + pixel_m / magnification * Vec2{std::sin(angle), std::cos(angle)};
       });
     },
     "the beam fills the detector", "positions_from_epoch = 10"},
    {"LightFromBesideTheDetectorInTheNearField", true, [](Cxi& c) { c.energy /= 20; },
     "the beam fills the detector", "pad_to = [80, 80]"},
    {"PositionsThatAreNoNumbers", false,
     [](Cxi& c) { c.move([](Vec2 at) { return std::nan("") * at; }); },
     "the positions are not usable: 25 of 25 are not finite", "raster_step_m ="},
    {"PositionsThatAreAllTheSame", false, [](Cxi& c) { c.move([](Vec2) { return Vec2{1, 1}; }); },
     "the positions are not usable: all are the same", "raster_step_m ="},
    {"PositionsThatNameTheirUnit", false,
     [](Cxi& c) {
       c.move([](Vec2 at) { return 1e6 * at; });
       c.unit = "um";
     },
     "", "positions_scale = [1e-06, 1e-06]"},
    {"NearPositionsInMicrometres", true, [](Cxi& c) { c.move([](Vec2 at) { return 1e6 * at; }); },
     "in units of 1e-06 m", "source_distance_m = 0.05"},
    {"NearPositionsInMillimetres", true, [](Cxi& c) { c.move([](Vec2 at) { return 1e3 * at; }); },
     "in units of 0.001 m", "positions_scale = [0.001, 0.001]"},
};

class InitTraps : public ::testing::TestWithParam<Trap> {};

TEST_P(InitTraps, AreNamedWithWhatIsRight) {
  const Trap& trap = GetParam();
  const testing::ScratchFolder folder;
  static const Cxi near = near_field();
  static const Cxi far = far_field();
  Cxi cxi = trap.in_near_field ? near : far;
  trap.spoil(cxi);
  write(folder.path("scan.cxi"), cxi);
  const Draft draft = draft_deck(folder.path("scan.cxi"), folder.path("scan.toml"));
  if (trap.warning.empty())
    EXPECT_THAT(draft.report, Not(HasSubstr("warning")));
  else
    EXPECT_THAT(draft.report, AllOf(HasSubstr("warning"), HasSubstr(trap.warning)));
  EXPECT_THAT(draft.deck, HasSubstr(trap.line));
  EXPECT_EQ(draft.deck.find("fresnel") != std::string::npos,
            trap.in_near_field && trap.stays_in_near_field)
      << draft.deck;
  EXPECT_THAT(draft.report, Not(HasSubstr("do not move with the positions")));
  EXPECT_THAT(draft.deck, Not(HasSubstr("background =")));
}

INSTANTIATE_TEST_SUITE_P(Cxi, InitTraps, ::testing::ValuesIn(traps),
                         [](const auto& of) { return of.param.name; });

/// What find_turned_shadows says of a file, its positions turned before.
std::optional<TurnedShadows> turned_shadows(const Cxi& cxi,
                                            const std::function<Vec2(Vec2)>& turned) {
  const testing::ScratchFolder folder;
  write(folder.path("scan.cxi"), cxi);
  const io::DescribedScan scan = io::describe_scan(folder.path("scan.cxi"));
  const auto reader = scan.format->open(scan.source, nullptr);
  const Survey survey = survey_patterns(*reader, n_positions);
  std::vector<Vec2> positions_px;
  for (int p = 0; p < n_positions; ++p)
    positions_px.push_back(turned({7.0 * (p / side) + 0.3 * (p % 3), 8.0 * (p % side)}));
  return find_turned_shadows(*reader, survey, {}, {{size / 2, size / 2}, size}, positions_px);
}

TEST(TurnedShadows, TellSignsAndAxesButForHalfATurn) {
  Cxi cone = near_field();
  for (int p = 0; p < n_positions; ++p)
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x)
        if (std::hypot(y - 32, x - 32) > 22) cone.count(p, y, x) = 0;
  const auto expect = [&](const std::function<Vec2(Vec2)>& turned, const ShadowMotion& motion) {
    const auto found = turned_shadows(cone, turned);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->motion.yy, motion.yy);
    EXPECT_EQ(found->motion.yx, motion.yx);
    EXPECT_EQ(found->motion.xy, motion.xy);
    EXPECT_EQ(found->motion.xx, motion.xx);
    EXPECT_EQ(found->agrees, motion.yy * motion.xx > 0);
    EXPECT_NEAR(std::abs(found->shadows.yy), 1, 0.1);
  };
  expect([](Vec2 at) { return at; }, {-1, 0, 0, -1});
  expect([](Vec2 at) { return -1 * at; }, {-1, 0, 0, -1});
  expect([](Vec2 at) { return Vec2{-at.y, at.x}; }, {-1, 0, 0, 1});
  expect([](Vec2 at) { return Vec2{at.x, at.y}; }, {0, -1, -1, 0});
  expect([](Vec2 at) { return Vec2{-at.x, at.y}; }, {0, -1, 1, 0});

  for (const int x : {1, -1}) {
    const auto found = turned_shadows(cone, [&](Vec2 at) {
      return Vec2{std::cos(0.5) * at.y + std::sin(0.5) * at.x,
                  x * (std::cos(0.5) * at.x - std::sin(0.5) * at.y)};
    });
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->agrees);
    EXPECT_NEAR(found->motion.yy, -std::cos(0.5), 0.03);
    EXPECT_NEAR(found->motion.yx, x * std::sin(0.5), 0.05);
    EXPECT_NEAR(found->motion.xx, -x * std::cos(0.5), 0.03);
  }
}

TEST(TurnedShadows, AreNotFoundInABeamThatStandsStill) {
  EXPECT_FALSE(turned_shadows(far_field(), [](Vec2 at) { return at; }));
}

TEST(InitOfMatlab, LooksAtThePatternsAsTheDeckTurnsThem) {
  const testing::ScratchFolder folder;
  const std::string path = folder.path("scan.mat");
  Cxi cxi = far_field();
  std::ranges::rotate(cxi.patterns, cxi.patterns.end() - 10);  // the beam at (32, 42)
  io::File file = io::File::create(path);
  write_values(file, "data", {n_positions, size, size}, io::ElementType::f32, cxi.patterns);
  file.set_attribute("data", "MATLAB_class", std::string("single"));
  file.close();
  const std::string deck = draft_deck(path, folder.path("scan.toml")).deck;
  EXPECT_THAT(deck, AllOf(HasSubstr("transpose = true"), HasSubstr("centre_px = [42, 32]")));
}

}  // namespace
}  // namespace tessera::analysis
