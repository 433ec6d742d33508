#include "analysis/alignment.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "tessera/optics/host_fft.hpp"

#include "optics/fourier_tools.hpp"

namespace tessera::analysis {
namespace {

using Complex = std::complex<double>;

/// exp(i ramp . (r - centre)) on every image.
void add_ramp(WaveStack& waves, Vec2 ramp_rad_per_px) {
  const Pixel centre{waves.h() / 2, waves.w() / 2};
  for (int y = 0; y < waves.h(); ++y)
    for (int x = 0; x < waves.w(); ++x) {
      const Complex factor =
          std::polar(1.0, ramp_rad_per_px.y * (y - centre.y) + ramp_rad_per_px.x * (x - centre.x));
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

/// Finds the object's ambiguity step by step; keeps a step only if it lowers the difference.
class ObjectFit {
 public:
  ObjectFit(const WaveStack& object, const WaveStack& reference, const optics::PixelSet& region)
      : object_(object), reference_(reference), region_(region) {}

  void try_shift_and_fit_ramp(Vec2 shift_px);
  void refine_shift();
  void polish();
  const Ambiguity& best() const { return best_; }

 private:
  bool keep_if_better(Ambiguity trial);
  Ambiguity polished() const;

  const WaveStack& object_;
  const WaveStack& reference_;
  const optics::PixelSet& region_;
  Ambiguity best_;
  double difference_ = std::numeric_limits<double>::infinity();
};

/// The ramp is the frequency of object conj(reference), which a wrong shift blurs but does not
/// move.
void ObjectFit::try_shift_and_fit_ramp(Vec2 shift_px) {
  WaveStack product = conjugate_product(optics::shifted(reference_, shift_px), object_);
  std::transform(product.begin(), product.end(), region_.begin(), product.begin(),
                 [](const Complex& value, auto inside) { return inside ? value : Complex{}; });
  const Vec2 peak = optics::transform_peak(product, optics::Samples::image);
  Ambiguity trial;
  trial.shift_px = shift_px;
  trial.ramp_rad_per_px = {2 * std::numbers::pi * peak.y, 2 * std::numbers::pi * peak.x};
  keep_if_better(trial);
}

/// Cross-correlation of what differs from the mean: the mean alone would favour no shift.
void ObjectFit::refine_shift() {
  const ImageStack<double> window =
      optics::soft_window(region_, std::max(object_.h(), object_.w()) / 16);
  auto structure = [&](WaveStack waves) {
    for (int i = 0; i < waves.n(); ++i) {
      Complex sum = 0;
      double weight = 0;
      for (std::int64_t r = 0; r < waves.shape().size(); ++r) {
        sum += window.data()[r] * waves.image(i)[r];
        weight += window.data()[r];
      }
      for (std::int64_t r = 0; r < waves.shape().size(); ++r)
        waves.image(i)[r] = window.data()[r] * (waves.image(i)[r] - sum / std::max(weight, 1e-300));
    }
    return waves;
  };
  constexpr int n_rounds = 4;  // the window's own bias vanishes as the shift is removed
  for (int round = 0; round < n_rounds; ++round) {
    const Vec2 rest = cross_correlation_shift(structure(object_without(best_, object_)),
                                              structure(shifted_like(best_, reference_)));
    Ambiguity trial = best_;
    trial.shift_px = trial.shift_px + rest;
    if (rest == Vec2{} || !keep_if_better(trial)) return;
  }
}

void ObjectFit::polish() {
  constexpr int n_rounds = 20;
  for (int round = 0; round < n_rounds; ++round) {
    const double before = difference_;
    if (!keep_if_better(polished()) || before - difference_ < 1e-9 * before) return;
  }
}

/// One Gauss-Newton step in the real and imaginary part of log(scale, phase), ramp and shift.
Ambiguity ObjectFit::polished() const {
  const WaveStack u = object_without(best_, object_);
  const WaveStack v = shifted_like(best_, reference_);
  const std::array<WaveStack, 2> slope = optics::gradient(v);
  Eigen::Matrix<double, 6, 6> normal = Eigen::Matrix<double, 6, 6>::Zero();
  Eigen::Matrix<double, 6, 1> right = Eigen::Matrix<double, 6, 1>::Zero();
  const Complex i_unit(0, 1);
  for (int i = 0; i < u.n(); ++i)
    for (int y = 0; y < u.h(); ++y)
      for (int x = 0; x < u.w(); ++x) {
        if (!region_(0, y, x)) continue;
        const Complex here = u(i, y, x);
        const double ry = static_cast<double>(y) / u.h() - 0.5;
        const double rx = static_cast<double>(x) / u.w() - 0.5;
        Eigen::Matrix<Complex, 6, 1> change;
        change << here, i_unit * here, -i_unit * ry * here, -i_unit * rx * here, slope[0](i, y, x),
            slope[1](i, y, x);
        normal += (change.conjugate() * change.transpose()).real();
        right += (change.conjugate() * (v(i, y, x) - here)).real();
      }
  const Eigen::Matrix<double, 6, 1> step = normal.completeOrthogonalDecomposition().solve(right);
  Ambiguity next = best_;
  next.ramp_rad_per_px.y += step[2] / u.h();
  next.ramp_rad_per_px.x += step[3] / u.w();
  next.shift_px.y += step[4];
  next.shift_px.x += step[5];
  return next;
}

/// Sets the trial's scale and phase to their least-squares values.
bool ObjectFit::keep_if_better(Ambiguity trial) {
  trial.scale = 1;
  trial.phase_rad = 0;
  WaveStack u = object_without(trial, object_);
  const WaveStack v = shifted_like(trial, reference_);
  Complex product = 0;
  double power = 0;
  for (int i = 0; i < u.n(); ++i)
    for (std::int64_t r = 0; r < u.shape().size(); ++r) {
      if (!region_.data()[r]) continue;
      product += std::conj(u.image(i)[r]) * v.image(i)[r];
      power += std::norm(u.image(i)[r]);
    }
  const Complex factor = product / power;
  if (!(std::abs(factor) > 0)) return false;
  for (auto& value : u) value *= factor;
  const double difference = relative_difference(u, v, region_);
  if (!(difference < difference_)) return false;
  trial.scale = 1 / std::abs(factor);
  trial.phase_rad = -std::arg(factor);
  best_ = trial;
  difference_ = difference;
  return true;
}

WaveStack with_n_images(const WaveStack& waves, int n) {
  WaveStack out(n, waves.shape());
  std::copy(waves.begin(), waves.end(), out.begin());
  return out;
}

}  // namespace

Ambiguity find_ambiguity(const WaveStack& object, const WaveStack& probe,
                         const WaveStack& reference_object, const WaveStack& reference_probe,
                         const optics::PixelSet& region) {
  ObjectFit fit(object, reference_object, region);
  fit.try_shift_and_fit_ramp({});
  // A ramp in the object hides its shift, but not the shift of the probe's intensity.
  fit.try_shift_and_fit_ramp(cross_correlation_shift(intensity(probe), intensity(reference_probe)));
  fit.refine_shift();
  fit.polish();
  return fit.best();
}

WaveStack shifted_like(const Ambiguity& ambiguity, const WaveStack& reference) {
  return optics::shifted(reference, ambiguity.shift_px);
}

WaveStack object_without(const Ambiguity& ambiguity, const WaveStack& object) {
  WaveStack out = object;
  add_ramp(out, {-ambiguity.ramp_rad_per_px.y, -ambiguity.ramp_rad_per_px.x});
  const Complex factor = std::polar(1 / ambiguity.scale, -ambiguity.phase_rad);
  for (auto& value : out) value *= factor;
  return out;
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
  const Eigen::JacobiSVD<Eigen::MatrixXcd> svd(overlap, Eigen::ComputeFullU | Eigen::ComputeFullV);
  a = (svd.matrixU() * svd.matrixV().adjoint() * a).eval();
  return mixed;
}

double relative_difference(const WaveStack& a, const WaveStack& b, const optics::PixelSet& region) {
  double difference = 0;
  double reference = 0;
  for (int i = 0; i < std::max(a.n(), b.n()); ++i)
    for (std::int64_t r = 0; r < b.shape().size(); ++r) {
      if (region.size() > 0 && !region.data()[r]) continue;
      const Complex in_a = i < a.n() ? a.image(i)[r] : Complex{};
      const Complex in_b = i < b.n() ? b.image(i)[r] : Complex{};
      difference += std::norm(in_a - in_b);
      reference += std::norm(in_b);
    }
  return std::sqrt(difference / reference);
}

}  // namespace tessera::analysis
