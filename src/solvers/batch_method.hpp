#pragma once
/// What the methods that add up a gradient over batches share.

#include <optional>
#include <utility>
#include <variant>

#include "tessera/device/stream.hpp"
#include "tessera/physics/sizes.hpp"

#include "physics/gradient_pass.hpp"
#include "settings/solver.hpp"
#include "solvers/batch_sums.hpp"
#include "solvers/epoch_end.hpp"
#include "solvers/owned_tile.hpp"
#include "solvers/solver.hpp"

namespace tessera::solvers {

/// @tparam Own the method's own settings
/// @tparam Pass what a chunk goes through: physics::GradientPass, or one with its figures()
template <class Own, class Pass = physics::GradientPass>
class BatchMethod : public Solver {
 public:
  bool repeats_from(int epoch) const override { return moves_probe(epoch); }
  void start_epoch(const device::Device& exec, int epoch) override {
    if constexpr (requires {
                    own_.schedule;
                    own_.steps;
                  }) {
      const double fraction = own_.schedule.fraction(epoch, settings_.epochs);
      set_steps(exec, steps_, own_.steps.object * fraction, own_.steps.probe * fraction);
    }
    epoch_end_.start(exec);
  }
  void finish_epoch(const device::Device& exec, Sweep& sweep, int epoch) override {
    epoch_end_.finish(exec, sweep, epoch);
  }
  void take_sums(const device::Device& exec, const device::DeviceView<double*>& taken) override {
    pass_.figures().take(exec, taken);
  }
  Fields memory() override { return epoch_end_.memory(); }

  /// Device memory that it takes without the pass.
  static std::int64_t bytes(const settings::Solver& settings, const physics::Sizes& sizes) {
    return BatchSums::bytes(sizes) +
           EpochEnd::bytes(momentum_of(std::get<Own>(settings.own)), sizes);
  }
  /// See copies_remembered.
  static double remembered(const settings::Solver& settings) {
    return momentum_of(std::get<Own>(settings.own)) > 0 ? 1 : 0;
  }
  /// Of the waves to the detector and back, through all slices, and of the probe and its sum.
  static double transforms(int n_slices, double shift) {
    return 2 + 4 * (n_slices - 1) + 2 * shift;
  }

 protected:
  /// @param settings of which own is an Own
  /// @param of_pass what Pass wants besides the model
  template <class... OfPass>
  BatchMethod(const settings::Solver& settings, Unknowns& unknowns, physics::ForwardModel& model,
              const OwnedTile& tile, const OfPass&... of_pass)
      : settings_(settings),
        own_(std::get<Own>(settings.own)),
        unknowns_(unknowns),
        model_(model),
        tile_(tile),
        pass_(model, of_pass...),
        batch_sums_(unknowns),
        epoch_end_(momentum_of(own_), settings.orthogonalise_every, unknowns, model, tile) {}

  bool moves_probe(int epoch) const { return epoch >= settings_.probe_start_epoch; }

  /// Where the probe's side of a batch runs: beside the object's where ranks gain by that.
  device::Beside& beside(const Sweep& sweep) {
    if (!beside_) {
      beside_.emplace(sweep.sums_beside() && model_.illumination().has_row_spectra());
      pass_.gather_beside(*beside_);
    }
    return *beside_;
  }
  /// Before a batch: its chunks see the probe, whose sums are zero.
  void start_batch(const device::Device& exec, const Maxima& maxima) {
    model_.set_probe(exec, unknowns_.probe);
    physics::find_max_power(exec, unknowns_.probe, maxima.power);
    batch_sums_.clear_shared(exec);
  }
  /// After it, where the probe moves: its sums are of the probe itself.
  void finish_probe_sums(const device::Device& exec, const Maxima& maxima) {
    model_.finish_probe_gradient(exec, batch_sums_.sums().probe);
    physics::find_max(exec, batch_sums_.sums().overlap, maxima.overlap);
  }

  settings::Solver settings_;
  Own own_;
  Unknowns& unknowns_;
  physics::ForwardModel& model_;
  OwnedTile tile_;
  Pass pass_;
  BatchSums batch_sums_;
  device::DeviceView<Real[2]> steps_{"tessera::solvers::steps"};  ///< of this epoch: object, probe
  EpochEnd epoch_end_;

 private:
  std::optional<device::Beside> beside_;

  static double momentum_of(const Own& own) {
    if constexpr (requires { own.momentum; }) return own.momentum;
    return 0;
  }
};

}  // namespace tessera::solvers
