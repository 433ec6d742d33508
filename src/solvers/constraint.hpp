#pragma once
/// One constraint, and what all of them share.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "solvers/constraint_list.hpp"
#include "tile_images.hpp"

namespace tessera::solvers {

/// Allocated once, as large as any constraint asks for.
struct ConstraintWorkspace {
  TileFrame frame;
  int n_slices;
  int n_probe_modes;
  std::array<ImageView, 3> scratch;     ///< images of the ghosted box; whoever acts may write them
  device::DeviceView<Real**> coverage;  ///< how often the scan lights each pixel (coverage.hpp)
  const fft::Plan& plan;                ///< of the probe's images
};

/// It starts from its settings and allocates later: what it needs is asked before there are tiles.
class Constraint {
 public:
  struct Needs {
    int ghost_margin_px = 0;
    int n_scratch_images = 0;
    bool coverage = false;
  };

  /// @param onsets it acts whenever one of them does
  explicit Constraint(std::span<const settings::Onset> onsets)
      : onsets_(onsets.begin(), onsets.end()) {}
  explicit Constraint(const settings::Onset& onset) : onsets_{onset} {}
  virtual ~Constraint() = default;

  bool ever() const {
    return std::any_of(onsets_.begin(), onsets_.end(), [](auto& onset) { return onset.ever(); });
  }
  bool acts(int epoch) const {
    return std::any_of(onsets_.begin(), onsets_.end(),
                       [epoch](auto& onset) { return onset.acts(epoch); });
  }

  virtual Needs needs() const { return {}; }
  /// Device memory that `allocate` takes.
  virtual std::int64_t bytes(Shape2 /*window*/, int /*n_probe_images*/) const { return 0; }
  virtual void allocate(const ConstrainedTile& /*tile*/) {}
  /// After an epoch in which it acts. Where it looks at neighbours it fills the ghosts itself; at
  /// last all are filled. Does not wait for the device. Collective.
  virtual void apply(const device::Device& exec, Sweep& sweep, const Unknowns& unknowns,
                     const ConstraintWorkspace& workspace, int epoch) const = 0;

 private:
  std::vector<settings::Onset> onsets_;
};

/// Specialised in the file of each constraint, for its settings.
template <class Settings>
std::unique_ptr<Constraint> make_constraint(const Settings& settings);

}  // namespace tessera::solvers
