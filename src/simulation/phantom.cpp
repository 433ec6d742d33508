#include "phantom.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/random.hpp"
#include "tessera/base/text.hpp"

namespace tessera::simulation {
namespace {

constexpr double edge_px = 2;

/// 0 outside, 1 inside, smooth over `edge_px` around distance 0.
double inside(double distance_px) {
  const double s = std::clamp(0.5 + distance_px / edge_px, 0.0, 1.0);
  return s * s * (3 - 2 * s);
}

/// Bars of `width_px` with gaps of the same width, the first from 0 on. Near an edge the scaled
/// sine is the distance to it.
double bars(double at_px, double width_px) {
  return inside(width_px / std::numbers::pi * std::sin(std::numbers::pi * at_px / width_px));
}

/// Squares with one thing each, somewhere in the middle `spread` of the side.
struct Lattice {
  double side_px;
  double spread;
  std::uint64_t seed;
};

/// visit(y, x, random(what)) for the thing in the point's square and in the eight around it: the
/// point as seen from there, pixels, and the square's own numbers in [0, 1), of which 0 and 1 are
/// taken.
template <class Visit>
void for_each_near(const Lattice& lattice, double y_px, double x_px, const Visit& visit) {
  const double min = 0.5 * (1 - lattice.spread);
  const int row = static_cast<int>(std::floor(y_px / lattice.side_px));
  const int column = static_cast<int>(std::floor(x_px / lattice.side_px));
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      const auto square = static_cast<std::uint64_t>(std::int64_t{row + dy} * 65537 + column + dx);
      const auto random = [&](std::uint64_t what) {
        return random_unit(random_bits(lattice.seed, square), what);
      };
      visit(y_px - lattice.side_px * (row + dy + min + lattice.spread * random(0)),
            x_px - lattice.side_px * (column + dx + min + lattice.spread * random(1)), random);
    }
}

}  // namespace

Phantom::Phantom(const std::string& kind, Shape2 object, Shape2 window, double phase_rad,
                 double absorption, std::uint64_t seed, int slice)
    : slice_(slice),
      thickness_(thickness_of(kind, slice)),
      centre_px_{0.5 * object.h, 0.5 * object.w},
      star_radius_px_(std::max(0.5 * std::min(object.h - window.h, object.w - window.w),
                               0.25 * std::min(window.h, window.w))),
      turned_rad_(0.65 * slice),
      phase_rad_(phase_rad),
      log_amplitude_(std::log(1 - absorption)),
      seed_(seed + static_cast<std::uint64_t>(slice)) {
  // 0 for the first slice, then a place of its own for each.
  const double distance_px = 0.4 * star_radius_px_ * slice / (slice + 1);
  moved_px_ = {distance_px * std::sin(2.4 * slice), distance_px * std::cos(2.4 * slice)};
}

Phantom::Phantom(std::shared_ptr<const Crystal> crystal, int slice, double phase_rad,
                 double absorption)
    : crystal_(std::move(crystal)),
      slice_(slice),
      phase_rad_(phase_rad),
      log_amplitude_(std::log(1 - absorption)) {}

Phantom::Thickness Phantom::thickness_of(const std::string& kind, int slice) {
  if (kind == "atoms") return &Phantom::atoms;
  constexpr std::array<Thickness, 3> kinds = {&Phantom::siemens_star, &Phantom::cells,
                                              &Phantom::resolution_chart};
  constexpr std::array names = {"siemens_star", "cells", "resolution_chart"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (kind == names[i]) return kinds[(i + static_cast<std::size_t>(slice)) % kinds.size()];
  throw InputError(text("simulation.object = \"", kind,
                        "\" is not known; use \"siemens_star\", \"cells\", "
                        "\"resolution_chart\", \"atoms\", \"perovskite\" or \"mos2\""));
}

std::complex<double> Phantom::transmission(double y_px, double x_px) const {
  const double t = thickness(y_px, x_px);
  return std::polar(std::exp(log_amplitude_ * t), phase_rad_ * t);
}

double Phantom::thickness(double y_px, double x_px) const {
  if (crystal_) return crystal_->thickness(slice_, y_px, x_px);
  const double y = y_px - centre_px_.y - moved_px_.y;
  const double x = x_px - centre_px_.x - moved_px_.x;
  const double cosine = std::cos(turned_rad_);
  const double sine = std::sin(turned_rad_);
  return (this->*thickness_)(centre_px_.y + cosine * y - sine * x,
                             centre_px_.x + sine * y + cosine * x);
}

/// Spokes that taper to the centre, cut by rings, as in test patterns of X-ray microscopes.
double Phantom::siemens_star(double y_px, double x_px) const {
  constexpr int n_spokes = 24;
  const double y = y_px - centre_px_.y;
  const double x = x_px - centre_px_.x;
  const double radius_px = std::hypot(y, x);
  const double spoke = inside(radius_px / n_spokes * std::sin(n_spokes * std::atan2(y, x)));
  double gaps = 1;
  for (const double ring : {0.25, 0.5, 0.75})
    gaps *= inside(std::abs(radius_px - ring * star_radius_px_) - 0.02 * star_radius_px_);
  const double frame =
      inside(0.04 * star_radius_px_ - std::abs(radius_px - 1.02 * star_radius_px_));
  return std::max(spoke * gaps * inside(star_radius_px_ - radius_px), frame);
}

/// Overlapping discs with a soft body, a nucleus and a faint texture, one per square of a lattice.
double Phantom::cells(double y_px, double x_px) const {
  constexpr double lattice_px = 28;
  double thickness = 0;
  for_each_near({lattice_px, 0.6, seed_}, y_px, x_px, [&](double y, double x, const auto& random) {
    const double radius_px = lattice_px * (0.3 + 0.25 * random(2));
    const double r = std::hypot(y, x);
    const double body = 0.45 * inside(radius_px - r) *
                        std::sqrt(std::max(0.0, 1 - 0.6 * (r / radius_px) * (r / radius_px)));
    const double nucleus = 0.3 * inside(0.35 * radius_px - std::hypot(y - 1.5, x + 1));
    thickness = std::max(thickness, body + nucleus);
  });
  const double texture = 0.1 * (1 + std::sin(0.9 * y_px + 0.4 * x_px) * std::sin(0.7 * x_px));
  return std::clamp(thickness + texture * std::min(1.0, 4 * thickness), 0.0, 1.0);
}

/// Squares of three bars, 8 to 2 pixels wide, upright and lying.
double Phantom::resolution_chart(double y_px, double x_px) const {
  constexpr double square_px = 48;
  constexpr std::array widths_px = {8.0, 6.0, 5.0, 4.0, 3.0, 2.5, 2.0};
  const int row = static_cast<int>(std::floor(y_px / square_px));
  const int column = static_cast<int>(std::floor(x_px / square_px));
  constexpr int n_widths = static_cast<int>(widths_px.size());
  const int which = ((column + 3 * row) % n_widths + n_widths) % n_widths;
  const double width_px = widths_px[static_cast<std::size_t>(which)];
  const bool upright = (row + column) % 2 == 0;
  const double y = y_px - (row + 0.5) * square_px;
  const double x = x_px - (column + 0.5) * square_px;
  const double across = upright ? x : y;
  const double along = upright ? y : x;
  const double half_length_px = 2.5 * width_px;
  return bars(across + 0.5 * width_px, width_px) * inside(half_length_px - std::abs(across)) *
         inside(half_length_px - std::abs(along));
}

/// Gaussian blobs of many weights, one per square of a lattice, each off its middle.
double Phantom::atoms(double y_px, double x_px) const {
  constexpr double sigma_px = 1.2;
  double thickness = 0;
  for_each_near({10, 0.5, seed_}, y_px, x_px, [&](double y, double x, const auto& random) {
    thickness += (0.3 + 0.7 * random(2)) * std::exp(-(y * y + x * x) / (2 * sigma_px * sigma_px));
  });
  return std::min(thickness, 1.0);
}

}  // namespace tessera::simulation
