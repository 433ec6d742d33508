// Where fused kernels stand in for the model's steps they add up the same. Without a GPU both ways
// are the steps.

#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "tessera/physics/pattern_store.hpp"

#include "physics/gradient_pass.hpp"
#include "support/small_scan.hpp"

namespace tessera::physics::gradient_pass_tests {
namespace {

using device::DeviceView;

constexpr Shape2 window{32, 32};
constexpr int n_positions = 5;
constexpr int n_modes = 2;

/// Values that differ from position to position.
template <class View>
View varied(const View& view, Real mean) {
  const auto host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < host.size(); ++i)
    host.data()[i] = mean + Real(0.1) * static_cast<Real>(i % 3);
  Kokkos::deep_copy(view, host);
  return view;
}

/// A scan whose positions have probes of their own.
class OwnProbes : public ::testing::TestWithParam<int> {
 protected:
  int n_opr() const { return GetParam(); }
  Parameters parameters() const {
    Parameters made;
    made.shift = varied(DeviceView<Real* [2]>("shift", n_positions), Real(-0.2));
    made.intensity = varied(DeviceView<Real*>("intensity", n_positions), Real(0.9));
    made.opr_weight = varied(
        DeviceView<Real**>("weight", n_positions, static_cast<std::size_t>(n_opr())), Real(0.3));
    return made;
  }
  std::unique_ptr<ForwardModel> model(bool fixed_order) const {
    return std::make_unique<ForwardModel>(scan_.tile, parameters_,
                                          ModelOptions{.n_modes = n_modes,
                                                       .n_opr_modes = n_opr(),
                                                       .own_probes = true,
                                                       .chunk_size = n_positions,
                                                       .max_slots = n_positions,
                                                       .fixed_order = fixed_order,
                                                       .planning = fft::Planning::reproducible});
  }

  testing::SmallScan scan_ =
      testing::make_small_scan(window, n_modes + n_opr(), n_positions, true, 7);
  Parameters parameters_ = parameters();
};

template <class View>
std::vector<double> values(const View& view) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return std::vector<double>(host.data(), host.data() + host.size());
}

void expect_same(const std::vector<double>& a, const std::vector<double>& b, const char* what) {
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  EXPECT_GT(size, 0) << what;
  EXPECT_LT(std::sqrt(difference / size), 10 * testing::rounding) << what;
}

TEST_P(OwnProbes, AreAddedUpAlikeByFusedKernelsAndBySteps) {
  const device::Device exec;
  const auto object = testing::on_device(scan_.object);
  const auto probe = testing::on_device(scan_.probe);
  const FittedParameters fitted{.positions = true, .opr = n_opr() > 0, .intensity = true};
  std::vector<GradientSums> sums;
  std::vector<std::unique_ptr<ForwardModel>> models;
  for (const bool by_steps : {false, true}) {
    models.push_back(model(by_steps));
    sums.push_back(testing::zero_sums(object, probe));
    ForwardModel& used = *models.back();
    used.fit(fitted);
    used.set_probe(exec, probe);
    GradientPass(used).add(exec, object, {.count = n_positions}, sums.back(), true);
    used.finish_probe_gradient(exec, sums.back().probe);
  }
  EXPECT_LT(testing::relative_difference(testing::on_host(sums[0].object),
                                         testing::on_host(sums[1].object)),
            10 * testing::rounding);
  EXPECT_LT(testing::relative_difference(testing::on_host(sums[0].probe),
                                         testing::on_host(sums[1].probe)),
            10 * testing::rounding);
  expect_same(values(sums[0].dose), values(sums[1].dose), "dose");
  expect_same(values(sums[0].overlap), values(sums[1].overlap), "overlap");
  expect_same(values(models[0]->slopes().at_position), values(models[1]->slopes().at_position),
              "slopes");
}

TEST_P(OwnProbes, LeaveTheProbesSumsWhereTheyAreNotWanted) {
  const device::Device exec;
  const auto object = testing::on_device(scan_.object);
  const auto probe = testing::on_device(scan_.probe);
  for (const bool by_steps : {false, true}) {
    const std::unique_ptr<ForwardModel> made = model(by_steps);
    ForwardModel& used = *made;
    used.fit({.positions = true});
    used.set_probe(exec, probe);
    const GradientSums sums = testing::zero_sums(object, probe);
    GradientPass(used).add(exec, object, {.count = n_positions}, sums, false);
    EXPECT_EQ(testing::norm(testing::on_host(sums.probe)), 0);
    for (const double overlap : values(sums.overlap)) EXPECT_EQ(overlap, 0);
    double slopes = 0;
    for (const double slope : values(used.slopes().at_position)) slopes += std::abs(slope);
    EXPECT_GT(slopes, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(OprModes, OwnProbes, ::testing::Values(0, 1, 2));

}  // namespace
}  // namespace tessera::physics::gradient_pass_tests
