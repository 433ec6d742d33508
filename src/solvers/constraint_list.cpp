#include "solvers/constraint_list.hpp"

#include <stdexcept>

#include "tessera/base/text.hpp"

#include "constraint.hpp"
#include "coverage.hpp"
#include "solvers/batch_sums.hpp"

namespace tessera::solvers {
namespace {

using List = std::vector<std::unique_ptr<Constraint>>;

/// Those that ever act, in the order in which they do.
List make_list(const settings::Constraints& settings) {
  List list;
  settings::Constraints::for_each(settings, [&](const auto& of_one) {
    std::unique_ptr<Constraint> constraint = make_constraint(of_one);
    if (constraint->ever()) list.push_back(std::move(constraint));
  });
  return list;
}

Constraint::Needs needs_of(const List& list) {
  Constraint::Needs all;
  for (const auto& constraint : list) {
    const Constraint::Needs needs = constraint->needs();
    all = {std::max(all.ghost_margin_px, needs.ghost_margin_px),
           std::max(all.n_scratch_images, needs.n_scratch_images), all.coverage || needs.coverage};
  }
  return all;
}

ConstraintWorkspace make_workspace(const Constraint::Needs& needs, const ConstrainedTile& tile,
                                   const fft::Plan& plan) {
  ConstraintWorkspace made{.frame = {{tile.ghosted, tile.owned}, tile.ghosted.begin, tile.object},
                           .n_slices = tile.n_slices,
                           .n_probe_modes = tile.n_probe_modes,
                           .scratch = {},
                           .coverage = {},
                           .plan = plan};
  for (int i = 0; i < needs.n_scratch_images; ++i)
    made.scratch[static_cast<std::size_t>(i)] = ImageView(
        "tessera::solvers::constraint_scratch", tile.ghosted.height(), tile.ghosted.width());
  if (needs.coverage) made.coverage = make_coverage(tile);
  return made;
}

}  // namespace

struct ConstraintList::Parts {
  List list;
  ConstraintWorkspace workspace;
};

ConstraintList::ConstraintList(const settings::Constraints& settings, const ConstrainedTile& tile,
                               const fft::Plan& plan) {
  List list = make_list(settings);
  const Constraint::Needs needs = needs_of(list);
  const Box needed =
      intersection(grown(tile.owned, needs.ghost_margin_px), Box::at({0, 0}, tile.object));
  if (!tile.owned.empty() && !tile.ghosted.contains(needed))
    throw std::invalid_argument(
        text("Constraints: the tile holds ", tile.ghosted, " but its stencils reach ", needed));
  for (const auto& constraint : list) constraint->allocate(tile);
  parts_ = std::make_unique<Parts>(Parts{std::move(list), make_workspace(needs, tile, plan)});
}

ConstraintList::~ConstraintList() = default;

void ConstraintList::apply(const device::Device& exec, Sweep& sweep, const Unknowns& unknowns,
                           int epoch) {
  const auto acts = [epoch](const auto& constraint) { return constraint->acts(epoch); };
  if (std::none_of(parts_->list.begin(), parts_->list.end(), acts)) return;
  const device::Region region("constraints");
  for (const auto& constraint : parts_->list)
    if (acts(constraint)) constraint->apply(exec, sweep, unknowns, parts_->workspace, epoch);
  // Ranks on other processors may have rounded differently.
  fill_ghosts(exec, sweep, unknowns.object);
  sweep.replicate(exec, as_reals(unknowns.probe));
}

int ConstraintList::ghost_margin_px(const settings::Constraints& settings) {
  return needs_of(make_list(settings)).ghost_margin_px;
}

std::int64_t ConstraintList::bytes(const settings::Constraints& settings, Shape2 ghosted,
                                   Shape2 window, int n_probe_images) {
  const List list = make_list(settings);
  const Constraint::Needs needs = needs_of(list);
  std::int64_t bytes =
      needs.n_scratch_images * ghosted.size() * static_cast<std::int64_t>(sizeof(device::complex));
  if (needs.coverage) bytes += ghosted.size() * static_cast<std::int64_t>(sizeof(Real));
  for (const auto& constraint : list) bytes += constraint->bytes(window, n_probe_images);
  return bytes;
}

}  // namespace tessera::solvers
