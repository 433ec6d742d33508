#include "analysis/alignment.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "tessera/optics/host_fft.hpp"

#include "least_squares.hpp"
#include "optics/fourier_tools.hpp"

namespace tessera::analysis {
namespace {

using Complex = std::complex<double>;

constexpr int n_unknowns = 6;

/// exp(i ramp . r) on every image.
void add_ramp(WaveStack& waves, Vec2 ramp_rad_per_px) {
  for (int y = 0; y < waves.h(); ++y)
    for (int x = 0; x < waves.w(); ++x) {
      const Complex factor = std::polar(1.0, ramp_rad_per_px.y * y + ramp_rad_per_px.x * x);
      for (int i = 0; i < waves.n(); ++i) waves(i, y, x) *= factor;
    }
}

/// sum over images of conj(a) b
WaveStack conjugate_product(const WaveStack& a, const WaveStack& b) {
  WaveStack product(1, a.shape());
  for (int i = 0; i < a.n(); ++i)
    for (std::int64_t r = 0; r < a.shape().size(); ++r)
      product.data()[r] += std::conj(a.image(i)[r]) * b.image(i)[r];
  return product;
}

std::span<double> as_doubles(WaveStack& waves) {
  return {reinterpret_cast<double*>(waves.data()), 2 * waves.size()};
}

/// The s for which a(r) is most like b(r - s).
Vec2 cross_correlation_shift(WaveStack a, WaveStack b) {
  optics::forward_2d(a);
  optics::forward_2d(b);
  const Vec2 peak = optics::transform_peak(conjugate_product(a, b), optics::Samples::spectrum);
  return {peak.y * a.h(), peak.x * a.w()};
}

/// Incoherent sum of the modes, which no ramp, phase or mixing changes.
WaveStack intensity(const WaveStack& probe) {
  WaveStack sum(1, probe.shape());
  for (int i = 0; i < probe.n(); ++i)
    for (std::int64_t r = 0; r < probe.shape().size(); ++r)
      sum.data()[r] += std::norm(probe.image(i)[r]);
  return sum;
}

/// The transforms of blocks of unequal shapes can be added up.
WaveStack spectrum(const WaveStack& waves, Shape2 shape) {
  WaveStack padded(waves.n(), shape);
  for (int i = 0; i < waves.n(); ++i)
    for (int y = 0; y < waves.h(); ++y) std::copy_n(&waves(i, y, 0), waves.w(), &padded(i, y, 0));
  optics::forward_2d(padded);
  return padded;
}

/// conj(b) a at the counted pixels
WaveStack counted_product(const PairBlock& block) {
  WaveStack product = conjugate_product(block.b, block.a);
  std::transform(product.begin(), product.end(), block.counted.begin(), product.begin(),
                 [](const Complex& value, auto inside) { return inside ? value : Complex{}; });
  return product;
}

/// Cycles per pixel, to half a bin of a block's transform.
Vec2 coarse_ramp(const ObjectPair& pair) {
  const Shape2 shape = pair.block_shape();
  std::vector<double> power(static_cast<std::size_t>(shape.size()));
  pair.for_each([&](const PairBlock& block) {
    const WaveStack transform = spectrum(counted_product(block), shape);
    for (std::size_t k = 0; k < power.size(); ++k) power[k] += std::norm(transform.data()[k]);
  });
  pair.comm().sum(power);
  const auto bin = std::max_element(power.begin(), power.end()) - power.begin();
  return {optics::frequency(static_cast<int>(bin / shape.w), shape.h),
          optics::frequency(static_cast<int>(bin % shape.w), shape.w)};
}

/// The frequency of conj(b) a, in radians per pixel: a coarse one from the blocks by themselves,
/// and the rest from how the phases of small cells, freed of the coarse one, advance over the
/// object.
Vec2 ramp_of(const ObjectPair& pair) {
  const Vec2 coarse = coarse_ramp(pair);
  const Shape2 block = pair.block_shape();
  const int cell_px = std::clamp(std::min(block.h, block.w) / 4, 1, 64);
  WaveStack cells(
      1, {(pair.shape().h + cell_px - 1) / cell_px, (pair.shape().w + cell_px - 1) / cell_px});
  pair.for_each([&](const PairBlock& part) {
    WaveStack product = counted_product(part);
    for (int y = 0; y < product.h(); ++y)
      for (int x = 0; x < product.w(); ++x) {
        const Pixel at = part.box.begin + Pixel{y, x};
        cells(0, at.y / cell_px, at.x / cell_px) +=
            product(0, y, x) *
            std::polar(1.0, -2 * std::numbers::pi * (coarse.y * at.y + coarse.x * at.x));
      }
  });
  pair.comm().sum(as_doubles(cells));
  const Vec2 rest = optics::transform_peak(cells, optics::Samples::image);
  return 2 * std::numbers::pi * (coarse + rest / cell_px);
}

/// What differs from the mean, for the mean alone would favour no shift; windowed.
WaveStack structure(const WaveStack& images, const ImageStack<double>& window) {
  WaveStack out = images;
  for (int i = 0; i < out.n(); ++i) {
    Complex sum = 0;
    double weight = 0;
    for (std::int64_t r = 0; r < out.shape().size(); ++r) {
      sum += window.data()[r] * out.image(i)[r];
      weight += window.data()[r];
    }
    for (std::int64_t r = 0; r < out.shape().size(); ++r)
      out.image(i)[r] = window.data()[r] * (out.image(i)[r] - sum / std::max(weight, 1e-300));
  }
  return out;
}

/// The s for which a(r) is most like b(r - s).
Vec2 rest_of_shift(const ObjectPair& pair) {
  const Shape2 shape = pair.block_shape();
  WaveStack product(1, shape);
  pair.for_each([&](const PairBlock& block) {
    const ImageStack<double> window =
        optics::soft_window(block.lit, std::max(block.lit.h(), block.lit.w()) / 16);
    const WaveStack here = conjugate_product(spectrum(structure(block.a, window), shape),
                                             spectrum(structure(block.b, window), shape));
    std::transform(product.begin(), product.end(), here.begin(), product.begin(), std::plus<>());
  });
  pair.comm().sum(as_doubles(product));
  const Vec2 peak = optics::transform_peak(product, optics::Samples::spectrum);
  return {peak.y * shape.h, peak.x * shape.w};
}

/// sum over pixels of conj(f_i) f_j, f being a, y a, x a, d/dy b, d/dx b, b - a, where y and x go
/// from -1/2 to 1/2 over the object; and sum of |b|^2. Of these follow the difference for any scale
/// and phase, and the next step of a least-squares fit.
struct FitSums {
  static constexpr int a = 0, y_a = 1, x_a = 2, slope_y = 3, slope_x = 4, rest = 5, n = 6;
  Eigen::Matrix<Complex, n, n> products = Eigen::Matrix<Complex, n, n>::Zero();
  double reference = 0;

  void add(const PairBlock& block, Shape2 object);
  /// By what the least-squares factor of a differs from 1.
  Complex change() const { return products(a, rest) / products(a, a); }
  double squares() const {
    return products(rest, rest).real() - std::norm(products(a, rest)) / products(a, a).real();
  }
  double difference() const { return std::sqrt(std::max(squares(), 0.0) / reference); }
};

void FitSums::add(const PairBlock& block, Shape2 object) {
  const std::array<WaveStack, 2> slope = optics::gradient(block.b);
  Eigen::Matrix<Complex, n, 1> f;
  for (int i = 0; i < block.a.n(); ++i)
    for (int y = 0; y < block.a.h(); ++y)
      for (int x = 0; x < block.a.w(); ++x) {
        if (!block.counted(0, y, x)) continue;
        const Complex here = block.a(i, y, x);
        const Complex there = block.b(i, y, x);
        const double ry = static_cast<double>(block.box.begin.y + y) / object.h - 0.5;
        const double rx = static_cast<double>(block.box.begin.x + x) / object.w - 0.5;
        f << here, ry * here, rx * here, slope[0](i, y, x), slope[1](i, y, x), there - here;
        products.noalias() += f.conjugate() * f.transpose();
        reference += std::norm(there);
      }
}

FitSums sums_of(const ObjectPair& pair) {
  FitSums sums;
  pair.for_each([&](const PairBlock& block) { sums.add(block, pair.shape()); });
  pair.comm().sum(
      std::span(reinterpret_cast<double*>(sums.products.data()), 2 * FitSums::n * FitSums::n));
  pair.comm().sum(std::span(&sums.reference, 1));
  return sums;
}

/// Finds the object's ambiguity step by step; keeps a step only if it lowers the difference.
class ObjectFit {
 public:
  explicit ObjectFit(const ObjectPair& pair) : pair_(pair) {}

  void try_shift_and_fit_ramp(Vec2 shift_px);
  void refine_shift();
  void polish();
  bool keep_if_better(Ambiguity trial);
  const Ambiguity& best() const { return best_; }

 private:
  struct Step {
    Ambiguity trial;
    double gain;  ///< of the difference, where it is as linear as it is taken to be
  };
  Step polished() const;

  const ObjectPair& pair_;
  Ambiguity best_;
  FitSums sums_;        ///< with best_ removed
  Complex change_ = 0;  ///< what best_ has been corrected by since
  double difference_ = std::numeric_limits<double>::infinity();
};

/// A wrong shift blurs the frequency of a conj(b) but does not move it.
void ObjectFit::try_shift_and_fit_ramp(Vec2 shift_px) {
  Ambiguity trial;
  trial.shift_px = shift_px;
  trial.ramp_rad_per_px = ramp_of(pair_.without(trial));
  keep_if_better(trial);
}

void ObjectFit::refine_shift() {
  constexpr int n_rounds = 4;  // the window's own bias vanishes as the shift is removed
  for (int round = 0; round < n_rounds; ++round) {
    const Vec2 rest = rest_of_shift(pair_.without(best_));
    Ambiguity trial = best_;
    trial.shift_px = trial.shift_px + rest;
    if (rest == Vec2{} || !keep_if_better(trial)) return;
  }
}

void ObjectFit::polish() {
  constexpr int n_rounds = 20;
  constexpr double least_gain = 1e-9;  // of the difference
  for (int round = 0; round < n_rounds; ++round) {
    const double before = difference_;
    const auto [trial, expected_gain] = polished();
    if (expected_gain < least_gain || !keep_if_better(trial) ||
        before - difference_ < least_gain * before)
      return;
  }
}

/// One Gauss-Newton step in the real and imaginary part of log(scale, phase), ramp and shift.
ObjectFit::Step ObjectFit::polished() const {
  using S = FitSums;
  const Complex c = 1.0 + change_;  // the object is c times that of the sums
  const Complex i(0, 1);
  Eigen::Matrix<Complex, n_unknowns, S::n> change =
      Eigen::Matrix<Complex, n_unknowns, S::n>::Zero();
  change(0, S::a) = c;
  change(1, S::a) = i * c;
  change(2, S::y_a) = change(3, S::x_a) = -i * c;
  change(4, S::slope_y) = change(5, S::slope_x) = 1;
  const Eigen::Matrix<double, n_unknowns, n_unknowns> normal =
      (change.conjugate() * sums_.products * change.transpose()).real();
  const Eigen::Matrix<double, n_unknowns, 1> right =
      (change.conjugate() * (sums_.products.col(S::rest) - change_ * sums_.products.col(S::a)))
          .real();
  const Eigen::Matrix<double, n_unknowns, 1> step = least_squares(normal, right);
  Ambiguity next = best_;
  next.ramp_rad_per_px.y += step[2] / pair_.shape().h;
  next.ramp_rad_per_px.x += step[3] / pair_.shape().w;
  next.shift_px.y += step[4];
  next.shift_px.x += step[5];
  return {next, 0.5 * right.dot(step) / std::max(sums_.squares(), 1e-300)};
}

/// Sets the trial's scale and phase to their least-squares values.
bool ObjectFit::keep_if_better(Ambiguity trial) {
  const FitSums sums = sums_of(pair_.without(trial));
  const Complex factor = 1.0 + sums.change();
  if (!(std::abs(factor) > 0) || !(sums.difference() < difference_)) return false;
  trial.scale /= std::abs(factor);
  trial.phase_rad -= std::arg(factor);
  best_ = trial;
  sums_ = sums;
  change_ = sums.change();
  difference_ = sums.difference();
  return true;
}

WaveStack with_n_images(const WaveStack& waves, int n) {
  WaveStack out(n, waves.shape());
  std::copy(waves.begin(), waves.end(), out.begin());
  return out;
}

}  // namespace

Ambiguity find_ambiguity(const ObjectPair& pair, const WaveStack& probe,
                         const WaveStack& reference_probe) {
  constexpr int n_blocks_to_start = 16;
  const ObjectPair some = pair.sample(n_blocks_to_start);
  ObjectFit start(some);
  start.try_shift_and_fit_ramp({});
  // A ramp in the object hides its shift, but not the shift of the probe's intensity.
  start.try_shift_and_fit_ramp(
      cross_correlation_shift(intensity(probe), intensity(reference_probe)));
  start.refine_shift();
  start.polish();
  if (some.n_blocks() == pair.n_blocks()) return start.best();
  ObjectFit fit(pair);
  fit.keep_if_better(start.best());
  fit.polish();
  return fit.best();
}

WaveStack shifted_like(const Ambiguity& ambiguity, const WaveStack& reference) {
  return optics::shifted(reference, ambiguity.shift_px);
}

WaveStack probe_without(const Ambiguity& ambiguity, const WaveStack& probe) {
  WaveStack out = probe;
  add_ramp(out, ambiguity.ramp_rad_per_px);
  for (auto& value : out) value *= ambiguity.scale;
  return out;
}

WaveStack modes_mixed_like(const WaveStack& reference, const WaveStack& probe) {
  using Matrix = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const int n = std::max(probe.n(), reference.n());
  const WaveStack target = with_n_images(reference, n);
  WaveStack mixed = with_n_images(probe, n);
  const Eigen::Map<const Matrix> b(target.data(), n, probe.shape().size());
  Eigen::Map<Matrix> a(mixed.data(), n, probe.shape().size());
  const Eigen::MatrixXcd overlap = b * a.adjoint();
  const Eigen::JacobiSVD<Eigen::MatrixXcd, Eigen::NoQRPreconditioner> svd(
      overlap, Eigen::ComputeFullU | Eigen::ComputeFullV);  // of a square matrix
  a = (svd.matrixU() * svd.matrixV().adjoint() * a).eval();
  return mixed;
}

double relative_difference(const WaveStack& a, const WaveStack& b) {
  double difference = 0;
  double reference = 0;
  for (int i = 0; i < std::max(a.n(), b.n()); ++i)
    for (std::int64_t r = 0; r < b.shape().size(); ++r) {
      const Complex in_a = i < a.n() ? a.image(i)[r] : Complex{};
      const Complex in_b = i < b.n() ? b.image(i)[r] : Complex{};
      difference += std::norm(in_a - in_b);
      reference += std::norm(in_b);
    }
  return std::sqrt(difference / reference);
}

}  // namespace tessera::analysis
