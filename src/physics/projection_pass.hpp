#pragma once
/// Exit waves that are kept for every position, and a map of them: what projection methods do to a
/// chunk.

#include <string>

#include "tessera/physics/sizes.hpp"

#include "physics/forward_model.hpp"

namespace tessera::physics {

/// One step of a projection method. With P_O what the overlap constraint makes of the waves, P_M
/// what the modulus constraint does, for every position
///   r = of_overlap P_O + of_kept kept,  b = P_O or r,  kept = b,
///   next = b + of_residual (P_M - 1) r,
///   kept = keeps_new next + keeps_base b,
/// and next is what P_O projects in the step that follows.
struct LinearMap {
  Real of_overlap;
  Real of_kept;
  bool from_overlap;  ///< b = P_O
  Real of_residual;
  Real keeps_new;
  Real keeps_base;

  /// kept = next: one array does for both.
  bool keeps_next() const { return keeps_new == 1 && keeps_base == 0; }
};

/// `next` and `kept` are of every local position, (position, image, h, w), and never exchanged; in
/// what form they lie there is known here alone.
class ProjectionPass {
 public:
  ProjectionPass(ForwardModel& model, const LinearMap& map);

  /// For the steps from now on. What is kept stays in its place.
  void set_map(const LinearMap& map) { map_ = map; }
  /// kept = what makes r = P_O, of object and probe as they are.
  void start(const device::Device& exec, const ObjectView& object, const Chunk& chunk);
  /// A step of `chunk`, and what `next` adds to the object's sums.
  /// @param bound squared distance to the measured amplitudes that a pattern may keep
  /// @param stores_next for add_to_probe, until the next step
  void step(const device::Device& exec, const ObjectView& object, const Chunk& chunk, double bound,
            bool stores_next, const GradientSums& sums);
  /// What it adds to the probe's alone: of sums.probe what it has besides the waves of object and
  /// probe as they are.
  void add_to_probe(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                    const GradientSums& sums);

  /// Of the steps so far, of P_O.
  RunningFigures& figures() { return figures_; }

  /// What steps remember, (position, image, h, w).
  const WavesView& kept() const { return kept_; }
  /// Its name, which says in what form it is: the kernels' own.
  std::string kept_name() const;
  /// `next` is `kept`: stored in any case.
  bool keeps_next() const { return kept_.data() == next_.data(); }

  /// Device memory that it takes.
  static std::int64_t bytes(const Sizes& sizes, const LinearMap& map);

 private:
  void start_on_chip(const device::Device& exec, const ObjectView& object, const Chunk& chunk);
  void project(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
               double bound, bool stores_next);
  void project_waves(const device::Device& exec, const Chunk& chunk, double bound);
  void project_by_residuals(const device::Device& exec, const Chunk& chunk, double bound);
  void find_residual_shares(const device::Device& exec, int count, double bound) const;
  void recall(const device::Device& exec, const Chunk& chunk);
  void project_at_once(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                       double bound, bool stores_next, const GradientSums& sums);
  void add_at_once(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                   const GradientSums& sums, bool with_probe);
  template <class F>
  void visit(const device::Device& exec, const char* name, const Chunk& chunk, const F& f);

  ForwardModel& model_;
  LinearMap map_;
  bool on_chip_;
  WavesView next_;
  WavesView kept_;              ///< next_ itself where one does for both
  RunningFigures figures_;      ///< of P_O
  RunningFigures of_residual_;  ///< of no interest
  // By position of the chunk:
  device::DeviceView<Real*> residual_share_;  ///< what is added of it
  device::DeviceView<double* [1]> distance_;  ///< squared, of r to the measured amplitudes
  device::DeviceView<Real***> factor_;        ///< (position, h, w): the residual of r over r, where
                                              ///< it waits for the share; none on the chip
};

}  // namespace tessera::physics
