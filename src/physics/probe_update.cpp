#include "physics/probe_update.hpp"

#include "tessera/device/stream.hpp"

#include "chunk_kernels.hpp"
#include "physics/update_weight.hpp"

namespace tessera::physics {

using device::Device;

namespace {

/// The sum becomes zero.
struct MoveProbe {
  ProbeView probe;
  ProbeView sum;
  DeviceView<Real**> overlap;
  DeviceView<Real> max_overlap;
  const Real* step;
  Real alpha;
  KOKKOS_FUNCTION void operator()(const int m, const int y, const int x) const {
    const Real weight = update_weight(overlap(y, x), max_overlap(), alpha);
    if (weight > 0) probe(m, y, x) += sum(m, y, x) * (*step / weight);
    sum(m, y, x) = complex(0);
  }
};

}  // namespace

ProbeUpdate::ProbeUpdate(ForwardModel& model, const ProbeView& probe, const GradientSums& sums)
    : model_(model),
      probe_(probe),
      sums_(sums.of_probe()),
      max_power_("tessera::physics::max_power"),
      max_overlap_("tessera::physics::max_overlap") {}

/// Fused updates leave the row spectrum and the power that the next batch begins with.
void ProbeUpdate::start_epoch(const Device& exec) const {
  if (!model_.illumination().has_row_spectra()) return;
  model_.set_probe(exec, probe_);
  find_max_power(exec, probe_, max_power_);
}

void ProbeUpdate::start_batch(const Device& exec) const {
  if (model_.illumination().has_row_spectra()) return model_.take_parameters(exec);
  model_.set_probe(exec, probe_);
  find_max_power(exec, probe_, max_power_);
}

bool ProbeUpdate::is_fused() const {
  return model_.illumination().has_row_spectra();
}

void ProbeUpdate::apply(const Device& exec, const Real* step, Real alpha) const {
  if (is_fused())
    apply_at_once(exec, step, alpha);
  else
    apply_step_by_step(exec, step, alpha);
}

void ProbeUpdate::apply_step_by_step(const Device& exec, const Real* step, Real alpha) const {
  model_.finish_probe_gradient(exec, sums_.probe);
  find_max(exec, sums_.overlap, max_overlap_);
  device::for_each_pixel(exec, "tessera::physics::update_probe", static_cast<int>(probe_.extent(0)),
                         model_.scan().window,
                         MoveProbe{probe_, sums_.probe, sums_.overlap, max_overlap_, step, alpha});
  device::set_zero(exec, sums_.overlap);
}

void ProbeUpdate::apply_at_once(const Device& exec, const Real* step, Real alpha) const {
  const device::Region region("tessera::physics::fused_probe_update");
  Illumination& illumination = model_.illumination();
  illumination.forget_slots();
  hot_path::update_probe(device::stream_handle(exec),
                         {.n = model_.scan().window.w,
                          .n_modes = model_.n_modes(),
                          .step = plain(step),
                          .alpha = static_cast<float>(alpha),
                          .probe_sum = plain(sums_.probe.data()),
                          .overlap = plain(sums_.overlap.data()),
                          .probe = plain(probe_.data()),
                          .row_spectrum = plain(illumination.seen().spectrum.data()),
                          .max_overlap = plain(max_overlap_.data()),
                          .max_power = plain(max_power_.data())});
}

}  // namespace tessera::physics
