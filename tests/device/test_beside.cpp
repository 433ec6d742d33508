// A second queue of the device: what runs behind what.

#include <gtest/gtest.h>

#include "tessera/device/stream.hpp"

#include "device/graph.hpp"

namespace tessera::device {
namespace {

constexpr int n = 1 << 20;
using Values = DeviceView<Real*>;

void add(const Device& exec, const Values& to, const Values& from) {
  Kokkos::parallel_for(
      "add", Kokkos::RangePolicy<Device>(exec, 0, n),
      KOKKOS_LAMBDA(const int i) { to(i) += from(i); });
}

struct Sums {
  Values here{"here", n};
  Values there{"there", n};
  Values both{"both", n};
};

/// here += 1 in one queue; there += here beside it, which must be the new one; both += there.
void step(const Device& exec, Beside& beside, const Sums& sums, const Values& one) {
  add(exec, sums.here, one);
  add(beside.fork(exec), sums.there, sums.here);
  add(beside.fork(exec), sums.there, one);
  beside.join(exec);
  add(exec, sums.both, sums.there);
}

/// After `n_steps` steps, everywhere.
void expect_sums(const Sums& sums, int n_steps) {
  double there = 0;
  double both = 0;
  for (int i = 1; i <= n_steps; ++i) {
    there += i + 1;
    both += there;
  }
  const auto expect = [](const Values& values, double expected) {
    const auto host = Kokkos::create_mirror(values);
    Kokkos::deep_copy(host, values);
    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += host(i) != static_cast<Real>(expected);
    EXPECT_EQ(wrong, 0) << values.label();
  };
  expect(sums.here, n_steps);
  expect(sums.there, there);
  expect(sums.both, both);
}

class BesideTest : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Apart, BesideTest, ::testing::Bool());

TEST_P(BesideTest, RunsBehindTheForkAndBeforeTheJoin) {
  const Device exec;
  const Values one("one", n);
  Kokkos::deep_copy(one, Real(1));
  Beside beside(GetParam());
  const Sums sums;
  for (int i = 0; i < 20; ++i) step(exec, beside, sums, one);
  exec.fence();
  expect_sums(sums, 20);
}

TEST_P(BesideTest, IsRecordedWithTheWorkThatItIsBeside) {
  if (!graphs_pay()) GTEST_SKIP() << "graphs of launches exist on GPUs only";
  const Device exec;
  const Values one("one", n);
  Kokkos::deep_copy(one, Real(1));
  Beside beside(GetParam());
  const Sums sums;
  step(exec, beside, sums, one);  // what is made at first use cannot be recorded
  exec.fence();
  Graph graph;
  graph.record(exec, [&] { step(exec, beside, sums, one); });
  for (int i = 0; i < 20; ++i) graph.launch(exec);
  exec.fence();
  expect_sums(sums, 21);
}

}  // namespace
}  // namespace tessera::device
