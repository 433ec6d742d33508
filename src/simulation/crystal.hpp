#pragma once
/// Crystals along a zone axis, as electrons see them: atom columns whose places are known, with
/// dopants in single slices.

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/base/box.hpp"

namespace tessera::simulation {

/// A foreign atom: one column is heavier in one slice.
struct Dopant {
  std::size_t column;
  int slice;
};

class Crystal {
 public:
  static constexpr double column_sigma_m = 30e-12;      ///< of the Gaussian that a column is
  static constexpr double max_displacement_m = 10e-12;  ///< of a column from its site, each axis

  /// @param kind "perovskite" or "mos2"
  /// @param object, window pixels; dopants lie where the centres of the windows reach
  Crystal(const std::string& kind, Shape2 object, Shape2 window, double pixel_m, int n_slices,
          int n_dopants, std::uint64_t seed);
  static bool has(const std::string& kind);

  /// Sum of the columns' Gaussians; 1 at a dopant.
  double thickness(int slice, double y_px, double x_px) const;
  /// Of the column in a slice, at its middle.
  double weight(std::size_t column, int slice) const;
  /// What a dopant adds to its column.
  double dopant_weight(const Dopant& dopant) const;

  const std::vector<Vec2>& columns_px() const { return columns_px_; }
  /// Columns of the same number are of the same atoms, dopants apart.
  int kind(std::size_t column) const;
  const std::vector<Dopant>& dopants() const { return dopants_; }

 private:
  struct Site;
  static const std::vector<Site>& sites(const std::string& kind);
  double host_weight(std::size_t column, int slice) const;
  void place_columns(double lattice_px, double rows_per_lattice, Shape2 object, std::uint64_t seed);
  void place_dopants(Shape2 object, Shape2 window, int n_slices, int n_dopants, std::uint64_t seed);
  void sort_into_bins(Shape2 object);
  std::size_t bin_of(double y_px, double x_px) const;

  const std::vector<Site>& sites_;
  double pixel_m_;
  std::vector<Vec2> columns_px_;
  std::vector<std::size_t> site_;  ///< of each column
  std::vector<Dopant> dopants_;
  int bins_h_ = 0;
  int bins_w_ = 0;
  std::vector<std::vector<std::size_t>> bins_;  ///< the columns in each square of reach_px()
  double reach_px() const { return 5 * column_sigma_m / pixel_m_; }
};

}  // namespace tessera::simulation
