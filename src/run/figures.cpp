#include "figures.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace tessera::run {
namespace {

constexpr int object_norm = physics::FigureSums::n_sums;
constexpr int probe_norm = object_norm + 2;
constexpr int n_sums = probe_norm + 2;

}  // namespace

Figures::Figures(physics::ForwardModel& model, const solvers::Unknowns& unknowns,
                 const comm::Communicator& comm)
    : model_(model),
      unknowns_(unknowns),
      comm_(comm),
      sums_("tessera::run::epoch_sums", n_sums),
      host_sums_("tessera::run::host_epoch_sums", n_sums) {}

std::optional<physics::FigureSums> Figures::of_epoch(const device::Device& exec,
                                                     solvers::Solver& solver) {
  const auto find_norm = [&](const auto& view, int at) {
    inner_product_(exec, view.data(), view.data(), static_cast<int>(view.extent(0)),
                   device::image_shape(view), device::DeviceView<double*>(sums_.data() + at, 2));
  };
  solver.take_sums(exec, sums_);
  find_norm(unknowns_.object, object_norm);
  find_norm(unknowns_.probe, probe_norm);
  Kokkos::deep_copy(exec, host_sums_, sums_);
  exec.fence();
  const std::span<double> sums(host_sums_.data(), n_sums);
  for (const int norm : {object_norm, probe_norm})
    sums[norm] = std::isfinite(sums[norm]) ? 0 : 1;  // how many ranks have lost it
  comm_.sum(sums);
  if (sums[object_norm] + sums[probe_norm] > 0) return std::nullopt;
  physics::FigureSums figures;
  std::copy_n(sums.begin(), figures.values.size(), figures.values.begin());
  return figures;
}

physics::FigureSums Figures::measure(const device::Device& exec,
                                     std::span<const solvers::Batch> batches,
                                     const std::function<void(const physics::Chunk&)>& seen) {
  const device::Region region("measure");
  model_.set_probe(exec, unknowns_.probe);
  for (const solvers::Batch& batch : batches)
    for (const physics::Chunk& chunk : batch.chunks()) {
      model_.forward(exec, unknowns_.object, chunk);
      model_.detector().measure(exec, model_.waves(), chunk, present_);
      if (seen && chunk.count > 0) seen(chunk);
    }
  physics::FigureSums sums = present_.take(exec);
  comm_.sum(std::span<double>(sums.values));
  return sums;
}

}  // namespace tessera::run
