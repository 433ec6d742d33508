// From the deck to windows and patterns: room for windows that move, near-field images as they are.

#include <algorithm>

#include <gtest/gtest.h>

#include "tessera/io/hdf5.hpp"

#include "optics/deck_optics.hpp"
#include "run/scan.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"

namespace tessera::run {
namespace {

using testing::world;

std::vector<double> mean_in_file(const std::string& path, std::size_t n_pixels) {
  const std::vector<double> patterns = io::File::open(path).read_doubles("patterns");
  std::vector<double> mean(n_pixels, 0.0);
  for (std::size_t i = 0; i < patterns.size(); ++i)
    mean[i % n_pixels] += patterns[i] / (static_cast<double>(patterns.size() / n_pixels));
  return mean;
}

TEST(Scan, NearFieldImagesAreNotMoved) {
  testing::SharedFolder folder("scan_near");
  const deck::Deck deck = testing::parsed(
      folder.path(),
      {"experiment.propagation=angular_spectrum", "experiment.distance_m=0.01",
       "experiment.detector_pixel_m=1e-7", "probe.semi_angle_rad=4e-4", "probe.defocus_m=2e-3",
       "simulation.step_m=3e-7", "simulation.dead_pixel_fraction=0"});
  simulation::simulate(deck, world(), Log(false));
  const Scan scan = load_scan(deck, scan_source(deck), world(), Log(false));
  EXPECT_DOUBLE_EQ(scan.grid.pixel_m, 1e-7);
  EXPECT_DOUBLE_EQ(scan.plan.optics.propagation_m, 0.01);
  const std::vector<double> expected = mean_in_file(deck.data.file, 32 * 32);
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::abs(scan.mean_pattern.data()[i] - expected[i]));
  EXPECT_LT(worst, 1e-6);
}

TEST(Scan, WindowsThatMoveHaveRoom) {
  testing::SharedFolder folder("scan_margin");
  const std::vector<std::string> fly = {"experiment.fly_sub_positions=4",
                                        "experiment.fly_travel_m=[0, -5e-8]"};
  std::vector<std::string> all = fly;
  all.insert(all.end(), {"refine.positions_from_epoch=0", "refine.positions_limit_px=2.5"});
  const double pixel_m = 1e-8;
  EXPECT_EQ(optics::window_margin_px(testing::parsed(folder.path(), {}), pixel_m), 0);
  EXPECT_EQ(optics::window_margin_px(testing::parsed(folder.path(), fly), pixel_m), 4);
  EXPECT_EQ(optics::window_margin_px(testing::parsed(folder.path(), all), pixel_m), 6);

  const deck::Deck deck = testing::parsed(folder.path(), all);
  simulation::simulate(deck, world(), Log(false));
  const Scan scan = load_scan(deck, scan_source(deck), world(), Log(false));
  const int margin_px = optics::window_margin_px(deck, scan.grid.pixel_m);
  ASSERT_GT(margin_px, 2);
  Box windows;
  for (const Pixel corner : scan.grid.corner)
    windows = hull(windows, Box::at(corner, scan.grid.window));
  EXPECT_EQ(windows.begin, (Pixel{margin_px, margin_px}));
  EXPECT_EQ(windows.end, (Pixel{scan.grid.object.h - margin_px, scan.grid.object.w - margin_px}));
}

}  // namespace
}  // namespace tessera::run
