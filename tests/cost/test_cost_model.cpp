// The model's sums against sums by hand.

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/cost_model.hpp"
#include "some_machine.hpp"

namespace tessera::cost {
namespace {

using testing::some_machine;

TEST(Rates, OfMeasuredWindowsAndRanksAreWhatWasMeasured) {
  const Machine machine = some_machine();
  EXPECT_DOUBLE_EQ(rates_for(machine, 64, 1).wave_s, 2e-5);
  EXPECT_DOUBLE_EQ(rates_for(machine, 256, 1).shift_s, 128e-5);
  EXPECT_DOUBLE_EQ(rates_for(machine, 64, 4).wave_s, 1.5 * 2e-5);
  EXPECT_DOUBLE_EQ(rates_for(machine, 256, 4).batch_s, 2 * 2e-4);
}

TEST(Rates, BetweenWindowsGoByPixelAndBetweenRanksInPart) {
  const Machine machine = some_machine();
  // 128 is half way from 64 to 256 on a logarithm: a pixel takes the mean of both.
  const double of_pixel = (2e-5 / (64 * 64) + 64e-5 / (256 * 256)) / 2;
  EXPECT_DOUBLE_EQ(rates_for(machine, 128, 1).wave_s, of_pixel * 128 * 128);
  EXPECT_DOUBLE_EQ(rates_for(machine, 128, 1).batch_s, 1.5e-4);
  // 2 ranks are a third of the way from 1 to 4; the slowdown at 128 is the mean of both windows'.
  EXPECT_DOUBLE_EQ(rates_for(machine, 128, 2).batch_s, 1.5e-4 * (1 + (0.5 + 1.0) / 2 / 3));
}

TEST(Rates, BeyondWhatWasMeasuredAreThoseOfTheLast) {
  const Machine machine = some_machine();
  EXPECT_DOUBLE_EQ(rates_for(machine, 512, 1).wave_s, 4 * 64e-5);
  EXPECT_DOUBLE_EQ(rates_for(machine, 32, 1).position_s, 1e-5 / 4);
  EXPECT_DOUBLE_EQ(rates_for(machine, 64, 4096).wave_s, 1.5 * 2e-5);
  EXPECT_DOUBLE_EQ(link_for(machine, 4096).latency_s, 1e-5);
  EXPECT_DOUBLE_EQ(link_for(machine, 2).latency_s, 1e-5);
}

/// 4 ranks were measured at once; more are on further hosts.
TEST(Rates, RanksOfAHostTakeTurnsAtItsCores) {
  Machine machine = some_machine();
  machine.cores = 2;
  EXPECT_DOUBLE_EQ(turns(machine, 2), 1);
  EXPECT_DOUBLE_EQ(turns(machine, 3), 1.5);
  EXPECT_DOUBLE_EQ(rates_for(machine, 64, 1).wave_s, 2e-5);
  EXPECT_DOUBLE_EQ(rates_for(machine, 64, 3).wave_s, 1.5 * (1 + 0.5 * 2 / 3) * 2e-5);
  EXPECT_DOUBLE_EQ(rates_for(machine, 64, 4).wave_s, 2 * 1.5 * 2e-5);
  EXPECT_DOUBLE_EQ(rates_for(machine, 64, 4096).wave_s, 2 * 1.5 * 2e-5);
}

/// Two batches on two ranks: the first waits for rank 0, the second for rank 1.
TEST(CostModel, AddsUpTheSlowestRankOfEveryBatch) {
  Machine machine = some_machine();
  machine.windows.pop_back();
  machine.links[1].n_ranks = 2;
  CostModel model(
      machine,
      {.window_px = 64, .n_modes = 3, .n_ranks = 2, .tile_px = 1000, .shared_bytes = 8000});
  const std::array rank_0{BatchWork{.border = 4, .interior = 6, .shifts = 5, .touched_px = 1000},
                          BatchWork{.border = 1,
                                    .interior = 1,
                                    .shifts = 2,
                                    .touched_px = 500,
                                    .sum_bytes = 3000,
                                    .value_bytes = 2000}};
  const std::array rank_1{BatchWork{.border = 2,
                                    .interior = 2,
                                    .shifts = 2,
                                    .touched_px = 800,
                                    .sum_bytes = 4000,
                                    .value_bytes = 1000},
                          BatchWork{.border = 3, .interior = 5, .shifts = 4, .touched_px = 900}};
  model.add_rank(rank_0);
  model.add_rank(rank_1);
  const EpochCost epoch = model.epoch();

  const double slow = 1.5;
  const auto positions = [&](int n, int shifts) {
    return slow * (n * (1e-5 + 3 * 2e-5) + 3 * shifts * 4e-5);
  };
  const auto updates = [&](int px) { return slow * (px * 1e-9 + 3 * 3e-5); };
  EXPECT_DOUBLE_EQ(epoch.border_s, 0.4 * positions(10, 5) + 3.0 / 8 * positions(8, 4));
  EXPECT_DOUBLE_EQ(epoch.interior_s, 0.6 * positions(10, 5) + 5.0 / 8 * positions(8, 4));
  EXPECT_DOUBLE_EQ(epoch.updates_s, updates(1000) + updates(900));
  // Packed and unpacked, moved by a processor; the latency of sums hides behind the interior, that
  // of values does not.
  const auto exchange = [](double sums, double values) {
    return 4 * (sums + values) / 1e10 + (sums + values) / 1e9 + 1e-5;
  };
  EXPECT_NEAR(epoch.exchange_s, exchange(4000, 1000) + exchange(3000, 2000), 1e-15);
  EXPECT_DOUBLE_EQ(epoch.probe_s, 2 * (2e-5 + 8000 / 5e8));
  EXPECT_DOUBLE_EQ(epoch.rest_s, slow * (2 * 1e-4 + 1e-3) + 16.0 * 1000 / 1e10);
  const double waits = (positions(10, 5) + updates(1000) - positions(4, 2) - updates(800)) / 2 +
                       (positions(8, 4) + updates(900) - positions(2, 2) - updates(500)) / 2;
  EXPECT_NEAR(epoch.waits_s, waits, 1e-15);
  EXPECT_DOUBLE_EQ(epoch.total_s(), epoch.border_s + epoch.interior_s + epoch.exchange_s +
                                        epoch.probe_s + epoch.updates_s + epoch.rest_s);
  EXPECT_EQ(epoch.limit(), "the positions");
}

TEST(CostModel, AMethodTakesItsFactorAndSomethingForEachBatch) {
  const auto epoch_of = [](const MethodCost& method) {
    CostModel model(some_machine(), {.window_px = 64, .method = method});
    model.add_rank(std::array{BatchWork{.interior = 10, .shifts = 4, .touched_px = 100},
                              BatchWork{.interior = 6, .shifts = 4, .touched_px = 100}});
    return model.epoch();
  };
  const EpochCost usual = epoch_of({});
  const EpochCost other = epoch_of({.factor = 1.75, .batch_s = 2e-5});
  EXPECT_DOUBLE_EQ(other.interior_s, 1.75 * usual.interior_s);
  EXPECT_DOUBLE_EQ(other.updates_s, 1.75 * usual.updates_s);
  EXPECT_DOUBLE_EQ(other.rest_s, usual.rest_s + 2 * 2e-5);
}

/// A GPU of round numbers: 8 waves at once, 5 are worth it; 500 pixels of the object in its cache.
Machine some_gpu() {
  Machine machine = some_machine();
  machine.on_gpu = true;
  machine.cache_bytes = 10000;
  WindowRates& rates = machine.windows[0];
  rates.position_s = 0;
  rates.wave_of_modes_s = 7e-5;
  rates.few_wave_s = 9e-5;
  rates.far_wave_s = 5e-5;
  rates.chip_shift_s = 6e-5;
  rates.at_once = 8;
  rates.at_least = 5;
  return machine;
}

EpochCost cost_on_gpu(const BatchWork& work, int n_modes = 1, int n_planes = 1) {
  CostModel model(some_gpu(), {.window_px = 64, .n_modes = n_modes, .n_planes = n_planes});
  model.add_rank(std::array{work});
  return model.epoch();
}

/// 20 positions take three turns, and a chunk one more; of 4 each takes its time.
TEST(CostModel, AGpuTakesSoManyWavesAtOnce) {
  EXPECT_DOUBLE_EQ(cost_on_gpu({.interior = 20}).interior_s, 4 * 8 * 2e-5);
  EXPECT_DOUBLE_EQ(cost_on_gpu({.interior = 20, .interior_chunks = 2}).interior_s, 5 * 8 * 2e-5);
  EXPECT_DOUBLE_EQ(cost_on_gpu({.interior = 4}).interior_s, 4 * 9e-5);
  EXPECT_DOUBLE_EQ(cost_on_gpu({.interior = 6}, 2).interior_s, 3 * 8 * 7e-5);
  const EpochCost both = cost_on_gpu({.border = 6, .interior = 4, .border_chunks = 1});
  EXPECT_DOUBLE_EQ(both.border_s, 2 * 8 * 2e-5);
  EXPECT_DOUBLE_EQ(both.interior_s, 4 * 9e-5);
}

TEST(CostModel, AGpuShiftsTheProbeOfEveryWindowWhereShiftsAreMany) {
  const double waves_s = 3 * 8 * 2e-5;
  EXPECT_DOUBLE_EQ(cost_on_gpu({.interior = 12, .shifts = 2}).interior_s, waves_s + 2 * 4e-5);
  EXPECT_DOUBLE_EQ(cost_on_gpu({.interior = 12, .shifts = 7, .many_shifts = true}).interior_s,
                   waves_s + 12 * 6e-5);
  // Five eighths of the chip are enough; fewer waves go by slots.
  EXPECT_DOUBLE_EQ(cost_on_gpu({.interior = 5, .shifts = 5, .many_shifts = true}).interior_s,
                   2 * 8 * 2e-5 + 5 * 6e-5);
  EXPECT_DOUBLE_EQ(cost_on_gpu({.interior = 4, .shifts = 4, .many_shifts = true}).interior_s,
                   4 * 9e-5 + 4 * 4e-5);
}

/// Of 1000 pixels that a chunk reaches the cache holds half.
TEST(CostModel, WavesTakeLongerWhereTheCacheDoesNotHoldTheObject) {
  const double near_s = 2 * 8 * 2e-5;
  EXPECT_DOUBLE_EQ(cost_on_gpu({.interior = 8, .touched_px = 400}).interior_s, near_s);
  EXPECT_DOUBLE_EQ(cost_on_gpu({.interior = 8, .touched_px = 1000}).interior_s, near_s + 4 * 5e-5);
  EXPECT_DOUBLE_EQ(cost_on_gpu({.interior = 8, .touched_px = 500}, 1, 2).interior_s,
                   near_s + 4 * 5e-5);
  EXPECT_DOUBLE_EQ(
      cost_on_gpu({.interior = 16, .interior_chunks = 2, .touched_px = 1000}).interior_s,
      4 * 8 * 2e-5);
}

TEST(CostModel, OneRankSendsNothing) {
  CostModel model(some_machine(), {.window_px = 64, .shared_bytes = 8000});
  model.add_rank(std::array{BatchWork{.interior = 10, .touched_px = 100}});
  EXPECT_EQ(model.epoch().exchange_s, 0);
  EXPECT_EQ(model.epoch().probe_s, 0);
  EXPECT_EQ(model.epoch().waits_s, 0);
}

TEST(CostModel, OnGpusSumsHideBehindTheInterior) {
  Machine machine = some_machine();
  machine.on_gpu = true;
  const auto exchange_s = [&](int n_interior) {
    CostModel model(machine, {.window_px = 64, .n_ranks = 4});
    model.add_rank(
        std::array{BatchWork{.border = 1, .interior = n_interior, .sum_bytes = 1000000}});
    return model.epoch().exchange_s;
  };
  const double packs = 4e6 / 1e10;
  EXPECT_NEAR(exchange_s(0) - packs, 1e-3 + 1e-5, 1e-15);
  EXPECT_NEAR(exchange_s(10) - packs, 1e-3 + 1e-5 - 10 * 1.5 * 3e-5, 1e-15);
  EXPECT_NEAR(exchange_s(100) - packs, 0, 1e-15);
}

TEST(CostModel, AnAllReduceTakesAsManyStepsAsRanksDouble) {
  const auto probe_s = [](int n_ranks) {
    CostModel model(some_machine(), {.window_px = 64, .n_ranks = n_ranks});
    model.add_rank(std::array{BatchWork{.interior = 1}});
    return model.epoch().probe_s;
  };
  EXPECT_DOUBLE_EQ(probe_s(2), 2e-5);
  EXPECT_DOUBLE_EQ(probe_s(5), 3 * 2e-5);
  EXPECT_DOUBLE_EQ(probe_s(4096), 12 * 2e-5);
}

/// A batch of that many positions computes as long as it waits and starts.
TEST(CostModel, TheLeastBatchComputesAsLongAsItWaits) {
  const RunShape run{.window_px = 64, .n_ranks = 64, .shared_bytes = 500000};
  CostModel model(some_machine(), run);
  model.add_rank(std::array{BatchWork{.interior = 4}});
  const double waits = 6 * 2e-5 + 2 * (63.0 / 64) * 500000 / 5e8 + 1.5 * 1e-4;
  EXPECT_NEAR(model.least_batch(), 64 * waits / (1.5 * 3e-5), 1);
  EXPECT_EQ(model.epoch().limit(), "the all-reduce of the probe");
}

}  // namespace
}  // namespace tessera::cost
