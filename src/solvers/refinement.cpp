#include "solvers/refinement.hpp"

#include <algorithm>

#include "parameter_fit.hpp"
#include "physics/opr_modes.hpp"
#include "solvers/batch_sums.hpp"

namespace tessera::solvers {

void add_parameters(const settings::Refine& settings, const ParameterStart& start,
                    physics::Parameters& parameters) {
  settings::Refine::for_each(
      settings, [&](const auto& of_one) { start_parameter(of_one, start, parameters); });
}

Refinement::Refinement(const settings::Refine& settings, const Unknowns& unknowns,
                       physics::ForwardModel& model, const MovingPositions& positions)
    : unknowns_(unknowns), model_(model) {
  const FitSetup setup{unknowns, model, positions};
  settings::Refine::for_each(settings,
                             [&](const auto& of_one) { all_.push_back(make_fit(of_one, setup)); });
  fitted_now_.reserve(all_.size());
}

Refinement::~Refinement() = default;

std::int64_t Refinement::bytes(const physics::Sizes& sizes) {
  const int n_rows = 6;  // two of them the gain's
  return (sizes.moves_positions ? n_rows * physics::bytes_of<double>(2 * sizes.n_positions) : 0) +
         (sizes.model.n_opr_modes > 0 ? physics::OprModes::bytes(sizes) : 0);
}

Fields Refinement::parameters() const {
  Fields fields;
  for (const auto& fit : all_) append(fields, fit->fields());
  return fields;
}

Fields Refinement::windows() const {
  Fields fields;
  for (const auto& fit : all_) append(fields, fit->windows());
  return fields;
}

void Refinement::start_epoch(const RefinedEpoch& epoch) {
  physics::FittedParameters fitted;
  fitted_now_.clear();
  for (const auto& fit : all_)
    if (fit->start_epoch(epoch, fitted)) fitted_now_.push_back(fit.get());
  model_.fit(fitted);
}

int Refinement::n_steps() const {
  int n = 1;
  for (const ParameterFit* fit : fitted_now_) n = std::max(n, fit->n_steps());
  return n;
}

void Refinement::update(const device::Device& exec, Sweep& sweep) {
  for (ParameterFit* fit : fitted_now_) fit->update(exec, sweep);
}

void Refinement::finish_epoch(const device::Device& exec, Sweep& sweep) {
  for (ParameterFit* fit : fitted_now_) fit->finish_epoch(exec, sweep);
  // Ranks may round differently: what is the same everywhere stays so.
  if (model_.fitted().any_at_position()) sweep.replicate(exec, as_reals(unknowns_.probe));
}

std::vector<Vec2> Refinement::displacements_px(const device::Device& exec,
                                               std::span<const int> positions) const {
  for (const ParameterFit* fit : fitted_now_)
    if (std::vector<Vec2> found = fit->displacements_px(exec, positions); !found.empty())
      return found;
  return {};
}

void Refinement::move_positions(const device::Device& exec, std::span<const int> positions,
                                std::span<const Vec2> to_px) {
  for (ParameterFit* fit : fitted_now_) fit->move_positions(exec, positions, to_px);
}

void Refinement::put_back(const device::Device& exec) {
  for (const auto& fit : all_) fit->put_back(exec);
}

double Refinement::max_drift_px(const device::Device& exec) const {
  double max = 0;
  for (const auto& fit : all_) max = std::max(max, fit->max_drift_px(exec));
  return max;
}

}  // namespace tessera::solvers
