/// The fused CUDA kernel of what directions change in exit waves that stayed on the chip, against
/// plain loops in double precision. One GPU, no MPI, no Kokkos.

#include "physics/hot_path_device.cuh"
#include "physics/hot_path_own_problem.hpp"

namespace tessera::physics::testing {
namespace {

/// As NormalEquations, of one place.
void add_products(const WaveStack& u, const WaveStack& v, const WaveStack& chi, double* sums) {
  const auto product = [](const std::complex<double>& a, const std::complex<double>& b) {
    return (std::conj(a) * b).real();
  };
  for (std::size_t i = 0; i < u.size(); ++i) {
    sums[0] += std::norm(u.data()[i]);
    sums[1] += product(u.data()[i], v.data()[i]);
    sums[2] += std::norm(v.data()[i]);
    sums[3] += product(u.data()[i], chi.data()[i]);
    sums[4] += product(v.data()[i], chi.data()[i]);
  }
}

/// Two products may almost vanish: each is held against the lengths of what it is of.
void expect_products(const std::vector<double>& found, const std::vector<double>& expected,
                     const std::vector<double>& lengths_of_chi) {
  for (std::size_t j = 0; j < lengths_of_chi.size(); ++j) {
    const double* const of_place = expected.data() + 5 * j;
    const double u = std::sqrt(of_place[0]);
    const double v = std::sqrt(of_place[2]);
    const double chi = lengths_of_chi[j];
    const double sizes[5] = {u * u, u * v, v * v, u * chi, v * chi};
    for (std::size_t i = 0; i < 5; ++i)
      EXPECT_NEAR((found[5 * j + i] - of_place[i]) / sizes[i], 0, tolerance)
          << "place " << j << ", product " << i;
  }
}

/// @param shared all places have one probe, and a slot's shift
void expect_plain_products(const OwnCase& c, bool shared) {
  const OwnProblem own(c, shared);
  const Problem& p = own.p;
  OwnProblem direction = own;
  direction.planes = OwnProblem::make_planes(c, 2);
  const std::vector<Complex> object_direction =
      make_problem(c.n, c.n_modes, c.n_positions, 1, 1, true).object;
  const std::vector<Complex> probe_directions = direction.probes();
  std::vector<double> expected;
  std::vector<double> lengths_of_chi;
  double figures[5] = {};
  for (int k = begin; k < p.n_positions; ++k) {
    const Window window(p, k);
    const WaveStack chi = missing_waves(p, k, figures);
    expected.resize(expected.size() + 5);
    add_products(window.exit_waves(p.probes, object_direction),
                 window.exit_waves(probe_directions, p.object), chi, &*(expected.end() - 5));
    lengths_of_chi.push_back(tessera::testing::norm(chi));
  }

  const OnGpu gpu{p};
  std::vector<float> shifts = own.shift;
  for (int k = 0; shared && k < p.n_positions; ++k)
    for (std::size_t axis = 0; axis < 2; ++axis)
      shifts[2 * static_cast<std::size_t>(k) + axis] = own.shift[2 * own.position(k) + axis];
  const std::size_t waves = lengths_of_chi.size() * static_cast<std::size_t>(c.n_modes) * p.area();
  const OnDevice shift(shifts);
  const OnDevice intensity(own.intensity);
  const OnDevice opr_weight(own.opr_weight);
  const OnDevice planes(own.spectra());
  const OnDevice direction_planes(direction.spectra());
  const OnDevice spectrum(poison(planes.size()));
  const OnDevice direction_spectrum(poison(planes.size()));
  const OnDevice kept(poison(waves));
  const OnDevice chi(poison(waves));
  const OnDevice object_directions(object_direction);
  const OnDevice products(std::vector<double>(expected.size()));
  const int n_planes = c.n_modes + c.n_opr;
  hot_path::planes_to_chip(nullptr, c.n, n_planes, planes.data(), spectrum.data());
  hot_path::planes_to_chip(nullptr, c.n, n_planes, direction_planes.data(),
                           direction_spectrum.data());
  hot_path::ScanArrays scan = gpu.scan();
  const hot_path::ChunkArrays chunk = gpu.chunk(begin);
  const hot_path::ShiftsOnChip of_probe{shift.data(), spectrum.data(), kept.data(), chi.data()};
  const hot_path::ShiftsOnChip of_direction{shift.data(), direction_spectrum.data(), kept.data(),
                                            chi.data()};
  const hot_path::Directions directions{object_directions.data(), nullptr, products.data()};
  if (shared) {
    hot_path::add_gradients_and_shift(nullptr, scan, chunk, of_probe);
    hot_path::add_products_and_shift(nullptr, scan, chunk, directions, of_direction);
  } else {
    scan.slot = nullptr;
    scan.own_slots = true;
    scan.intensity = intensity.data();
    const hot_path::OwnProbes weights{c.n_opr, opr_weight.data(), nullptr,
                                      nullptr, nullptr,           nullptr};
    hot_path::add_gradients_of_own_probes(nullptr, scan, chunk, of_probe, weights);
    hot_path::add_products_of_own_probes(nullptr, scan, chunk, directions, of_direction, weights);
  }
  check(cudaDeviceSynchronize());
  expect_products(host(products), expected, lengths_of_chi);
}

class HotPathProducts : public HotPath, public ::testing::WithParamInterface<OwnCase> {};

TEST_P(HotPathProducts, AgreeWithPlainLoops) {
  const OwnCase c = GetParam();
  if (!hot_path::fits_on_chip(c.n, c.n_modes)) GTEST_SKIP() << "windows do not fit on the chip";
  expect_plain_products(c, false);
  if (c.n_opr == 0) expect_plain_products(c, true);
}

INSTANTIATE_TEST_SUITE_P(Windows, HotPathProducts,
                         ::testing::Values(OwnCase{64, 1, 0, 7}, OwnCase{128, 1, 0, 5},
                                           OwnCase{256, 1, 0, 4}, OwnCase{64, 1, 2, 6},
                                           OwnCase{128, 1, 2, 4}, OwnCase{256, 1, 1, 4},
                                           OwnCase{128, 3, 0, 4}, OwnCase{128, 3, 2, 4}));
// Enough positions that a block takes several in turn.
INSTANTIATE_TEST_SUITE_P(Runs, HotPathProducts,
                         ::testing::Values(OwnCase{128, 1, 0, 150}, OwnCase{64, 1, 0, 600},
                                           OwnCase{256, 1, 0, 50}));

}  // namespace
}  // namespace tessera::physics::testing
