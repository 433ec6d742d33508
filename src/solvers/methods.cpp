#include "solvers/methods.hpp"

namespace tessera::solvers {
namespace {

Method own_method(const settings::Solver& settings) {
  return std::visit([](const auto& own) { return method_of<std::decay_t<decltype(own)>>(); },
                    settings.own);
}

}  // namespace

std::unique_ptr<Solver> make_solver(const settings::Solver& settings, Unknowns& unknowns,
                                    physics::ForwardModel& model, const OwnedTile& tile) {
  return own_method(settings).make(settings, unknowns, model, tile);
}

std::int64_t method_bytes(const settings::Solver& settings, const physics::Sizes& sizes) {
  return own_method(settings).bytes(settings, sizes);
}

double copies_remembered(const settings::Solver& settings) {
  return own_method(settings).remembered(settings);
}

double transforms_needed(const settings::Solver& settings, int n_slices, double shift) {
  return own_method(settings).transforms(n_slices, shift);
}

Sampling sampling(const settings::Solver& settings) {
  return own_method(settings).sampling;
}

}  // namespace tessera::solvers
