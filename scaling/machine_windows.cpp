#include "machine_windows.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <array>
#include <cmath>

#include "tessera/base/text.hpp"
#include "tessera/decomposition/halo_plan.hpp"
#include "tessera/fft/plan.hpp"

#include "measure.hpp"
#include "physics/hot_path.hpp"
#include "run/planned_batches.hpp"
#include "run/rank_work.hpp"
#include "run/run.hpp"
#include "synthetic_scan.hpp"

namespace tessera::scaling {
namespace {

/// An epoch: how much of each, and its seconds.
struct Sample {
  cost::Amounts amounts;
  double seconds = 0;
};

/// As many pixels of patterns as fill the device and are done soon.
SyntheticCase case_for(int window_px) {
  const double pixels = device::device_is_host ? 1 << 21 : 1 << 28;
  const int most = device::device_is_host ? 24 : 512;
  const int side =
      std::clamp(static_cast<int>(std::lround(std::sqrt(pixels) / window_px)), 4, most);
  return {{side, side}, std::max(1, window_px / 16), window_px};
}

/// What a chunk of one mode fills.
cost::BatchShape shape_of(int window_px, double cached_px) {
  namespace hot_path = physics::hot_path;
  cost::BatchShape shape{.cached_px = cached_px};
  if (sizeof(Real) != sizeof(float) || !hot_path::fits_on_chip(window_px, 1)) return shape;
  shape.at_once = hot_path::places_on_chip(window_px, 1);
  shape.at_least = hot_path::places_worth_the_chip(window_px, 1);
  return shape;
}

/// Of a call of `work`, the least of at least five, after two that warm up and are recorded where
/// the device can.
template <class Work>
double least_seconds(const Work& work) {
  constexpr double enough_s = 0.1;
  constexpr int most = 50;
  work();
  work();
  double least = INFINITY;
  double all = 0;
  for (int i = 0; i < 5 || (all < enough_s && i < most); ++i) {
    const double start = work_s();
    work();
    const double seconds = work_s() - start;
    least = std::min(least, seconds);
    all += seconds;
  }
  return least;
}

/// A whole run on this rank, whatever the others do.
struct OwnRun {
  OwnRun(const SyntheticCase& scan, const std::vector<std::string>& overrides)
      : deck(synthetic_deck(scan, overrides)),
        run(deck, alone, make_synthetic_scan(deck, scan, alone), Log(false)) {}

  comm::Communicator alone{MPI_COMM_SELF};
  deck::Deck deck;
  run::Run run;

  double least_epoch_s() {
    return least_seconds([&] { run.run_epoch(); });
  }
};

Sample sample(const SyntheticCase& wanted, cost::BatchShape shape,
              std::vector<std::string> overrides) {
  overrides.push_back(text("probe.n_modes=", shape.n_modes));
  OwnRun own(wanted, overrides);
  const run::Scan& scan = own.run.scan();
  const run::PlannedBatches planned(scan);
  const decomposition::HaloPlan plan = decomposition::make_halo_plan(scan.tiling, 0);
  const decomposition::NearWindows near = planned.windows().near(scan.tiling, 0);
  const int size = scan.batch_sizes().front();
  const int n_batches = (scan.n_positions() - 1) / size + 1;
  Sample made{.amounts = {.batches = 1.0 * n_batches, .epochs = 1}};
  for (const cost::BatchWork& batch : run::work_of_rank(
           scan, plan, near, planned.reach(plan, near, 0), n_batches, !device::device_is_host)) {
    const cost::BatchAmounts of_batch = cost::amounts_of(batch, shape);
    made.amounts += of_batch.border;
    made.amounts += of_batch.interior;
    made.amounts += of_batch.updates;
  }
  made.seconds = own.least_epoch_s();
  return made;
}

/// Each differs from the first, or from another, in little: what an epoch costs more is its price.
std::vector<Sample> samples(int window_px, const cost::BatchShape& shape) {
  const SyntheticCase wanted = case_for(window_px);
  SyntheticCase quarter = wanted;
  quarter.raster = {(wanted.raster.h + 1) / 2, (wanted.raster.w + 1) / 2};
  SyntheticCase wide = wanted;
  wide.step_px *= 4;
  const auto n = static_cast<int>(wanted.raster.size());
  const std::string whole = "solver.batch_size=0";
  const std::string small = text("solver.batch_size=", std::max(2, n / 256));
  const std::string tiny = text("solver.batch_size=", std::max(2, n / 1024));
  const std::string middle = text("solver.batch_size=", std::max(4, n / 16));
  const std::string spread = "solver.batch_order=spread";
  const std::string on_pixels = "data.subpixel=false";
  const std::string exact = "data.subpixel_bins=0";
  std::vector<Sample> all;
  const auto add = [&](const SyntheticCase& scan, int n_modes, std::vector<std::string> keys) {
    cost::BatchShape of_modes = shape;
    of_modes.n_modes = n_modes;
    all.push_back(sample(scan, of_modes, std::move(keys)));
  };
  add(wanted, 1, {whole, on_pixels});
  add(wanted, 1, {whole});
  add(wanted, 3, {whole, on_pixels});
  add(wanted, 1, {whole, exact});
  add(quarter, 1, {whole, on_pixels});
  add(wanted, 1, {middle, on_pixels});
  add(wanted, 1, {middle});
  add(wanted, 3, {middle, exact});
  add(wanted, 1, {middle, on_pixels, spread});
  add(wanted, 1, {small, on_pixels});
  add(wanted, 1, {small});
  add(wanted, 3, {small, on_pixels});
  add(wanted, 1, {small, on_pixels, spread});
  if (shape.at_once > 1) add(wanted, 1, {tiny, on_pixels});
  if (shape.cached_px > 0) add(wide, 1, {middle, on_pixels, spread});
  return all;
}

double amount(const Sample& sample, int k) {
  return sample.amounts.*cost::priced[static_cast<std::size_t>(k)].first;
}

/// Rates below 0 mean that an epoch is explained without: they become 0, and the others are found
/// anew.
void fit(const std::vector<Sample>& all, cost::WindowRates& rates) {
  std::vector<int> kept;
  for (int k = 0; k < static_cast<int>(cost::priced.size()); ++k)
    if (std::ranges::any_of(all, [k](const Sample& one) { return amount(one, k) > 0; }))
      kept.push_back(k);
  while (!kept.empty()) {
    Eigen::MatrixXd rows(all.size(), kept.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t k = 0; k < kept.size(); ++k)
        rows(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) =
            amount(all[i], kept[k]) / all[i].seconds;
    // Amounts are from 1 to millions.
    const Eigen::VectorXd scale = rows.colwise().norm().transpose().cwiseMax(1e-300);
    const Eigen::MatrixXd scaled = rows * scale.cwiseInverse().asDiagonal();
    const Eigen::VectorXd solution =
        scaled.colPivHouseholderQr().solve(Eigen::VectorXd::Ones(rows.rows()));
    Eigen::Index worst = 0;
    if (solution.minCoeff(&worst) >= 0) {
      for (std::size_t k = 0; k < kept.size(); ++k) {
        const auto i = static_cast<Eigen::Index>(k);
        rates.*cost::priced[static_cast<std::size_t>(kept[k])].second = solution[i] / scale[i];
      }
      return;
    }
    kept.erase(kept.begin() + worst);
  }
}

/// Of zeros, which take as many operations as anything.
double transform_s(int window_px) {
  const int n = static_cast<int>(std::min<std::int64_t>(case_for(window_px).raster.size(), 256));
  const physics::WavesView waves("tessera::scaling::waves", n, 1, window_px, window_px);
  const fft::Plan plan({window_px, window_px}, fft::Planning::measured);
  const device::Device exec;
  return least_seconds([&] {
           plan.forward(exec, waves.data(), n);
           plan.inverse(exec, waves.data(), n);
           exec.fence();
         }) /
         (2 * n);
}

}  // namespace

cost::WindowRates measure_window(int window_px, double cached_px) {
  const cost::BatchShape shape = shape_of(window_px, cached_px);
  cost::WindowRates measured{.window_px = static_cast<double>(window_px),
                             .at_once = shape.at_once,
                             .at_least = shape.at_least};
  fit(samples(window_px, shape), measured);
  measured.transform_s = transform_s(window_px);
  return measured;
}

double seconds_of_epoch(int window_px, const std::string& method, int n_batches,
                        const comm::Communicator& comm) {
  const SyntheticCase wanted = case_for(window_px);
  const auto n = static_cast<int>(wanted.raster.size());
  const int batch = n_batches > 1 ? std::max(1, n / n_batches) : 0;
  OwnRun own(wanted, {text("solver.batch_size=", batch), "solver.method=" + method});
  own.run.run_epoch();
  own.run.run_epoch();  // recorded, where the device can
  std::array<double, 20> seconds;
  for (double& epoch_s : seconds) {
    comm.barrier();
    const double start = work_s();
    own.run.run_epoch();
    epoch_s = work_s() - start;
  }
  comm.maximum(seconds);  // of each epoch, while all others were at work
  return std::ranges::min(seconds);
}

}  // namespace tessera::scaling
