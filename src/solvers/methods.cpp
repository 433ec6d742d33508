#include "solvers/methods.hpp"

#include <type_traits>

#include "solvers/adam.hpp"
#include "solvers/descent.hpp"
#include "solvers/lsqml.hpp"
#include "solvers/pie.hpp"
#include "solvers/projection_solver.hpp"

namespace tessera::solvers {
namespace {

struct Method {
  std::unique_ptr<Solver> (*make)(const settings::Solver&, Unknowns&, physics::ForwardModel&,
                                  const OwnedTile&);
  std::int64_t (*bytes)(const settings::Solver&, const physics::Sizes&);
  double (*remembered)(const settings::Solver&);
  double (*transforms)(int n_slices, double shift);
};

template <class Class>
std::unique_ptr<Solver> make(const settings::Solver& settings, Unknowns& unknowns,
                             physics::ForwardModel& model, const OwnedTile& tile) {
  return std::make_unique<Class>(settings, unknowns, model, tile);
}

template <class Class>
constexpr Method method{make<Class>, Class::bytes, Class::remembered, Class::transforms};

/// The list, by what the method's own settings are.
template <class Own>
const Method& method_of(const Own&) {
  if constexpr (std::is_same_v<Own, settings::Pie>) return method<Pie>;
  if constexpr (std::is_same_v<Own, settings::Lsqml>) return method<Lsqml>;
  if constexpr (std::is_same_v<Own, settings::Projection>) return method<ProjectionSolver>;
  if constexpr (std::is_same_v<Own, settings::Descent>) return method<Descent>;
  if constexpr (std::is_same_v<Own, settings::Adam>) return method<Adam>;
}

const Method& method_of(const settings::Solver& settings) {
  return std::visit([](const auto& own) -> const Method& { return method_of(own); }, settings.own);
}

}  // namespace

std::unique_ptr<Solver> make_solver(const settings::Solver& settings, Unknowns& unknowns,
                                    physics::ForwardModel& model, const OwnedTile& tile) {
  return method_of(settings).make(settings, unknowns, model, tile);
}

std::int64_t method_bytes(const settings::Solver& settings, const physics::Sizes& sizes) {
  return method_of(settings).bytes(settings, sizes);
}

double copies_remembered(const settings::Solver& settings) {
  return method_of(settings).remembered(settings);
}

double transforms_needed(const settings::Solver& settings, int n_slices, double shift) {
  return method_of(settings).transforms(n_slices, shift);
}

}  // namespace tessera::solvers
