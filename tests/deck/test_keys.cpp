// Every key reads into its own field: the list below is written by hand, apart from the key table.
#include <functional>
#include <set>

#include <gmock/gmock.h>

#include "deck/keys.hpp"
#include "deck/sample_decks.hpp"

namespace tessera::deck {
namespace {

struct Case {
  std::string key;
  std::string value;  // as in TOML, not the default
  std::function<bool(const Deck&)> is_set;
  std::string deck = xray_deck;
};

using D = const Deck&;
const Solver& only(D deck) {
  EXPECT_EQ(deck.solvers.size(), 1u);
  return deck.solvers.front();
}
template <class Own>
const Own& own(D deck) {
  return std::get<Own>(only(deck).own);
}
std::string deck_with(const std::string& method) {
  return xray_deck + "solver.method = \"" + method + "\"\n";
}
using settings::Adam;
using settings::Descent;
using settings::Pie;
using settings::Projection;
const std::string sliced_deck =
    xray_deck + "object.n_slices = 2\nobject.slice_thickness_m = 1e-6\n";
using Ints = std::vector<int>;
using Doubles = std::vector<double>;

const std::vector<Case> cases = {
    {"title", R"("A \"star\"")", [](D d) { return d.title == "A \"star\""; }},
    {"sample", "\"star\"", [](D d) { return d.sample == "star"; }},
    {"instrument", "\"2-ID\"", [](D d) { return d.instrument == "2-ID"; }},
    {"measured_at", "\"2024-05-01\"", [](D d) { return d.measured_at == "2024-05-01"; }},
    {"data.negative_counts", "\"zero\"", [](D d) { return d.data.negative_counts == "zero"; }},
    {"data.file", "\"/a/b.h5\"", [](D d) { return d.data.file == "/a/b.h5"; }, electron_deck},
    {"data.format", "\"hdf5\"", [](D d) { return d.data.format == "hdf5"; }},
    {"data.raw_type", "\"u32be\"", [](D d) { return d.data.raw_type == "u32be"; }, raw_deck},
    {"data.raw_shape", "[4, 6]", [](D d) { return d.data.raw_shape == Ints{4, 6}; }, raw_deck},
    {"data.raw_offset_bytes", "512", [](D d) { return d.data.raw_offset_bytes == 512; }, raw_deck},
    {"data.raw_gap_bytes", "64", [](D d) { return d.data.raw_gap_bytes == 64; }, raw_deck},
    {"data.patterns", "\"/p\"", [](D d) { return d.data.patterns == "/p"; }},
    {"data.positions", "\"q\"", [](D d) { return d.data.positions == "q"; }},
    {"data.follow_links", "true", [](D d) { return d.data.follow_links; }},
    {"data.valid_pixels", "\"v\"", [](D d) { return d.data.valid_pixels == "v"; }},
    {"data.positions_file", "\"/p.csv\"", [](D d) { return d.data.positions_file == "/p.csv"; }},
    {"data.positions_columns", "[2, 1]",
     [](D d) { return d.data.positions_columns == Ints{2, 1}; }},
    {"data.positions_scale", "[1e-6, -1e-6]",
     [](D d) { return d.data.positions_scale == Doubles{1e-6, -1e-6}; }},
    {"data.bad_pixels", "\"b\"", [](D d) { return d.data.bad_pixels == "b"; }},
    {"data.mask_file", "\"/m.npy\"", [](D d) { return d.data.mask_file == "/m.npy"; },
     xray_deck + "data.valid_pixels = \"v\"\n"},
    {"data.background_file", "\"/d.npy\"", [](D d) { return d.data.background_file == "/d.npy"; },
     xray_deck + "data.background = \"b\"\n"},
    {"data.transpose", "true", [](D d) { return d.data.transpose; }},
    {"data.flip_y", "true", [](D d) { return d.data.flip_y; }},
    {"data.flip_x", "true", [](D d) { return d.data.flip_x; }},
    {"data.centre_px", "[63.5, 60]", [](D d) { return d.data.centre_px == Doubles{63.5, 60}; }},
    {"probe.dataset_file", "\"/q.h5\"", [](D d) { return d.probe.dataset_file == "/q.h5"; }},
    {"data.saturation_counts", "65535", [](D d) { return d.data.saturation_counts == 65535; }},
    {"data.beam_stop_radius_px", "7.5", [](D d) { return d.data.beam_stop_radius_px == 7.5; }},
    {"data.find_bad_pixels", "false", [](D d) { return !d.data.find_bad_pixels; }},
    {"data.find_bad_patterns", "false", [](D d) { return !d.data.find_bad_patterns; }},
    {"data.background", "\"b\"", [](D d) { return d.data.background == "b"; }},
    {"data.crop", "[6, 8]", [](D d) { return d.data.crop == Ints{6, 8}; }},
    {"data.bin", "3", [](D d) { return d.data.bin == 3; }},
    {"data.pad_to", "[12, 16]", [](D d) { return d.data.pad_to == Ints{12, 16}; }},
    {"data.zero_frequency", "\"corner\"", [](D d) { return d.data.zero_frequency == "corner"; }},
    {"data.raster_shape", "[3, 4]", [](D d) { return d.data.raster_shape == Ints{3, 4}; },
     raster_deck},
    {"data.raster_step_m", "[-1e-6, 2e-6]",
     [](D d) { return d.data.raster_step_m == Doubles{-1e-6, 2e-6}; }, raster_deck},
    {"data.raster_rotation_rad", "-0.5", [](D d) { return d.data.raster_rotation_rad == -0.5; },
     raster_deck},
    {"data.subpixel", "false", [](D d) { return !d.data.subpixel; }},
    {"data.subpixel_bins", "13", [](D d) { return d.data.subpixel_bins == 13; }},
    {"experiment.energy_eV", "710.5", [](D d) { return d.experiment.energy_eV == 710.5; }},
    {"experiment.voltage_V", "300000", [](D d) { return d.experiment.voltage_V == 3e5; },
     electron_deck},
    {"experiment.distance_m", "2", [](D d) { return d.experiment.distance_m == 2; }},
    {"experiment.detector_pixel_m", "55e-6",
     [](D d) { return d.experiment.detector_pixel_m == 55e-6; }},
    {"experiment.detector_pixel_rad", "2e-3",
     [](D d) { return d.experiment.detector_pixel_rad == 2e-3; }, electron_deck},
    {"experiment.propagation", "\"fresnel\"",
     [](D d) { return d.experiment.propagation == "fresnel"; }},
    {"experiment.source_distance_m", "0.5",
     [](D d) { return d.experiment.source_distance_m == 0.5; },
     xray_deck + "experiment.propagation = \"fresnel\"\n"},
    {"experiment.beam_tilt_rad", "[0.01, -0.02]",
     [](D d) { return d.experiment.beam_tilt_rad == std::vector<double>{0.01, -0.02}; },
     sliced_deck},
    {"experiment.fly_sub_positions", "4", [](D d) { return d.experiment.fly_sub_positions == 4; },
     fly_deck},
    {"experiment.fly_travel_m", "[0, 1e-6]",
     [](D d) { return d.experiment.fly_travel_m == std::vector<double>{0, 1e-6}; }, fly_deck},
    {"experiment.point_spread_px", "0.5", [](D d) { return d.experiment.point_spread_px == 0.5; }},
    {"probe.initial", "\"mean_pattern\"", [](D d) { return d.probe.initial == "mean_pattern"; }},
    {"probe.dataset", "\"guess\"", [](D d) { return d.probe.dataset == "guess"; }},
    {"probe.file", "\"/p.h5\"", [](D d) { return d.probe.file == "/p.h5"; }},
    {"probe.measure_curvature", "false", [](D d) { return !d.probe.measure_curvature; }},
    {"probe.vacuum", "\"empty\"", [](D d) { return d.probe.vacuum == "empty"; }},
    {"probe.astigmatism_m", "1e-8", [](D d) { return d.probe.astigmatism_m == 1e-8; },
     electron_deck + "probe.initial = \"mean_pattern\"\n"},
    {"probe.astigmatism_angle_rad", "0.5",
     [](D d) { return d.probe.astigmatism_angle_rad == 0.5; }},
    {"probe.coma_m", "1e-7", [](D d) { return d.probe.coma_m == 1e-7; },
     electron_deck + "probe.initial = \"mean_pattern\"\n"},
    {"probe.coma_angle_rad", "-0.5", [](D d) { return d.probe.coma_angle_rad == -0.5; }},
    {"probe.spherical_m", "1e-3", [](D d) { return d.probe.spherical_m == 1e-3; },
     electron_deck + "probe.initial = \"mean_pattern\"\n"},
    {"probe.semi_angle_rad", "0.02", [](D d) { return d.probe.semi_angle_rad == 0.02; }},
    {"probe.defocus_m", "-1e-3", [](D d) { return d.probe.defocus_m == -1e-3; }},
    {"probe.zone_plate_diameter_m", "1e-4",
     [](D d) { return d.probe.zone_plate_diameter_m == 1e-4; }},
    {"probe.outer_zone_width_m", "5e-8", [](D d) { return d.probe.outer_zone_width_m == 5e-8; }},
    {"probe.central_stop_m", "4e-5", [](D d) { return d.probe.central_stop_m == 4e-5; }},
    {"probe.n_modes", "5", [](D d) { return d.probe.n_modes == 5; }},
    {"probe.extra_mode_power", "0.1", [](D d) { return d.probe.extra_mode_power == 0.1; }},
    {"probe.opr_modes", "2", [](D d) { return d.probe.opr_modes == 2; }},
    {"probe.opr_trial_epoch", "40", [](D d) { return d.probe.opr_trial.from_epoch == 40; }},
    {"object.initial", "\"file\"", [](D d) { return d.object.initial == "file"; }},
    {"object.file", "\"/o.h5\"", [](D d) { return d.object.file == "/o.h5"; }},
    {"object.random_phase_rad", "0.75", [](D d) { return d.object.random_phase_rad == 0.75; }},
    {"object.n_modes", "2", [](D d) { return d.object.n_modes == 2; }},
    {"object.n_slices", "3", [](D d) { return d.object.n_slices == 3; }, sliced_deck},
    {"object.slice_thickness_m", "2e-9", [](D d) { return d.object.slice_thickness_m == 2e-9; }},
    {"object.slice_distances_m", "[2e-9, 3e-9]",
     [](D d) { return d.object.slice_distances_m == Doubles{2e-9, 3e-9}; },
     xray_deck + "object.n_slices = 3\nobject.slice_distances_m = [1e-9, 1e-9]\n"},
    {"solver.method", "\"epie\"", [](D d) { return only(d).method == "epie"; }},
    {"solver.epochs", "7", [](D d) { return only(d).epochs == 7; }},
    {"solver.batch_size", "0", [](D d) { return only(d).batch_size == 0; }},
    {"solver.batch_coverage", "2.5", [](D d) { return only(d).batch_coverage == 2.5; }},
    {"solver.batch_order", "\"compact\"", [](D d) { return only(d).batch_order == "compact"; }},
    {"solver.seed", "4294967295", [](D d) { return only(d).seed == 4294967295u; }},
    {"solver.object_step", "0.125", [](D d) { return own<Pie>(d).steps.object == 0.125; }},
    {"solver.full_step_fraction", "0.625",
     [](D d) { return own<Pie>(d).schedule.full_step_fraction == 0.625; }},
    {"solver.final_step", "0.0625", [](D d) { return own<Pie>(d).schedule.final_step == 0.0625; }},
    {"solver.probe_step", "0.25", [](D d) { return own<Pie>(d).steps.probe == 0.25; }},
    {"solver.object_alpha", "0.75", [](D d) { return own<Pie>(d).alphas.object == 0.75; }},
    {"solver.probe_alpha", "0.125", [](D d) { return own<Pie>(d).alphas.probe == 0.125; }},
    {"solver.momentum", "0.375", [](D d) { return own<Pie>(d).momentum == 0.375; },
     deck_with("mpie")},
    {"solver.probe_start_epoch", "9", [](D d) { return only(d).probe_start_epoch == 9; }},
    {"solver.orthogonalise_every", "11", [](D d) { return only(d).orthogonalise_every == 11; }},
    {"solver.fourier_relaxation", "0.125",
     [](D d) { return own<Projection>(d).fourier_relaxation == 0.125; }, deck_with("dm")},
    {"solver.settle_fraction", "0.75",
     [](D d) { return own<Projection>(d).settle_fraction == 0.75; }, deck_with("dm")},
    {"solver.raar_beta", "0.625", [](D d) { return own<Projection>(d).raar_beta == 0.625; },
     deck_with("raar")},
    {"solver.lbfgs_history", "5", [](D d) { return own<Descent>(d).lbfgs_history == 5; },
     deck_with("lbfgs")},
    {"solver.adam_beta1", "0.5", [](D d) { return own<Adam>(d).beta1 == 0.5; }, deck_with("adam")},
    {"solver.adam_beta2", "0.75", [](D d) { return own<Adam>(d).beta2 == 0.75; },
     deck_with("adam")},
    {"solver.adam_epsilon", "0.125", [](D d) { return own<Adam>(d).epsilon == 0.125; },
     deck_with("adam")},
    {"solver.noise", "\"amplitude\"", [](D d) { return only(d).noise == "amplitude"; }},
    {"refine.positions_from_epoch", "3", [](D d) { return d.refine.positions.from_epoch == 3; }},
    {"refine.opr_from_epoch", "3", [](D d) { return d.refine.opr.from_epoch == 3; }},
    {"refine.intensity_from_epoch", "3", [](D d) { return d.refine.intensity.from_epoch == 3; }},
    {"refine.intensity_step", "0.75", [](D d) { return d.refine.intensity.step == 0.75; }},
    {"refine.background_step", "0.75", [](D d) { return d.refine.background.step == 0.75; }},
    {"refine.background_from_epoch", "3", [](D d) { return d.refine.background.from_epoch == 3; }},
    {"refine.thickness_from_epoch", "3",
     [](D d) { return d.refine.slices.thickness_from_epoch == 3; }, sliced_deck},
    {"refine.tilt_from_epoch", "3", [](D d) { return d.refine.slices.tilt_from_epoch == 3; },
     sliced_deck},
    {"refine.positions_method", "\"cross_correlation\"",
     [](D d) { return d.refine.positions.method == "cross_correlation"; }},
    {"refine.positions_model", "\"affine\"",
     [](D d) { return d.refine.positions.model == "affine"; }},
    {"refine.positions_step", "0.25", [](D d) { return d.refine.positions.step == 0.25; }},
    {"refine.positions_limit_px", "9", [](D d) { return d.refine.positions.limit_px == 9; }},
    {"refine.positions_expected_px", "2", [](D d) { return d.refine.positions.expected_px == 2; }},
    {"refine.positions_lost_ratio", "9", [](D d) { return d.refine.positions.lost_ratio == 9; }},
    {"refine.positions_margin_px", "3", [](D d) { return d.refine.positions.margin_px == 3; }},
    {"stop.time_s", "60", [](D d) { return d.stop.time_s == 60; }},
    {"stop.error", "0.25", [](D d) { return d.stop.error == 0.25; }},
    {"stop.plateau_change", "1e-3", [](D d) { return d.stop.plateau_change == 1e-3; }},
    {"stop.plateau_epochs", "7", [](D d) { return d.stop.plateau_epochs == 7; }},
    {"stop.divergence_ratio", "4.5", [](D d) { return d.stop.divergence_ratio == 4.5; }},
    {"stop.validation_epochs", "9", [](D d) { return d.stop.validation_epochs == 9; },
     xray_deck + "validation.fraction = 0.1\n"},
    {"stop.divergence_epochs", "4", [](D d) { return d.stop.divergence_epochs == 4; }},
    {"validation.fraction", "0.05", [](D d) { return d.validation.fraction == 0.05; }},
    {"validation.seed", "9", [](D d) { return d.validation.seed == 9; }},
    {"validation.every_epochs", "3", [](D d) { return d.validation.every_epochs == 3; }},
    {"constraints.object_amplitude_from_epoch", "3",
     [](D d) { return d.constraints.object_bounds.amplitude.from_epoch == 3; }},
    {"constraints.object_amplitude", "[0.5, 2]",
     [](D d) { return d.constraints.object_bounds.amplitude_range == Doubles{0.5, 2}; }},
    {"constraints.object_phase_from_epoch", "3",
     [](D d) { return d.constraints.object_bounds.phase.from_epoch == 3; }},
    {"constraints.object_phase_rad", "[-0.5, 1]",
     [](D d) { return d.constraints.object_bounds.phase_rad == Doubles{-0.5, 1}; }},
    {"constraints.object_positive_phase_from_epoch", "3",
     [](D d) { return d.constraints.object_bounds.positive_phase.from_epoch == 3; }},
    {"constraints.object_support_from_epoch", "3",
     [](D d) { return d.constraints.object_bounds.support.from_epoch == 3; }},
    {"constraints.object_support_radius_px", "70.5",
     [](D d) { return d.constraints.object_bounds.support_radius_px == 70.5; }},
    {"constraints.object_l1_from_epoch", "3",
     [](D d) { return d.constraints.object_bounds.l1.from_epoch == 3; }},
    {"constraints.object_l1", "0.25",
     [](D d) { return d.constraints.object_bounds.l1_threshold == 0.25; }},
    {"constraints.object_smoothness_from_epoch", "3",
     [](D d) { return d.constraints.smoothness.onset.from_epoch == 3; }},
    {"constraints.object_smoothness", "0.125",
     [](D d) { return d.constraints.smoothness.step == 0.125; }},
    {"constraints.object_low_pass_from_epoch", "3",
     [](D d) { return d.constraints.low_pass.onset.from_epoch == 3; }},
    {"constraints.object_low_pass_sigma_px", "1.5",
     [](D d) { return d.constraints.low_pass.sigma_px == 1.5; }},
    {"constraints.object_low_pass_every", "4",
     [](D d) { return d.constraints.low_pass.onset.every == 4; }},
    {"constraints.object_tv_from_epoch", "3",
     [](D d) { return d.constraints.total_variation.onset.from_epoch == 3; }},
    {"constraints.object_tv", "0.25",
     [](D d) { return d.constraints.total_variation.weight == 0.25; }},
    {"constraints.object_tv_every", "4",
     [](D d) { return d.constraints.total_variation.onset.every == 4; }},
    {"constraints.slice_coupling_from_epoch", "3",
     [](D d) { return d.constraints.slice_coupling.onset.from_epoch == 3; }, sliced_deck},
    {"constraints.slice_coupling_sigma", "1.5",
     [](D d) { return d.constraints.slice_coupling.sigma == 1.5; }},
    {"constraints.slice_coupling_coarse_px", "2.5",
     [](D d) { return d.constraints.slice_coupling.coarse_px == 2.5; }},
    {"constraints.phase_ramp_from_epoch", "3",
     [](D d) { return d.constraints.phase_ramp.onset.from_epoch == 3; }},
    {"constraints.phase_ramp_every", "4",
     [](D d) { return d.constraints.phase_ramp.onset.every == 4; }},
    {"constraints.probe_centring_from_epoch", "3",
     [](D d) { return d.constraints.probe_centring.onset.from_epoch == 3; }},
    {"constraints.probe_power_from_epoch", "3",
     [](D d) { return d.constraints.probe_power.from_epoch == 3; }},
    {"constraints.probe_power_counts", "1e5",
     [](D d) { return d.constraints.probe_power.counts == 1e5; }},
    {"constraints.probe_aperture_from_epoch", "3",
     [](D d) { return d.constraints.probe_aperture.onset.from_epoch == 3; },
     xray_deck + "constraints.probe_aperture_radius_px = 9\n"},
    {"constraints.probe_aperture_radius_px", "20.5",
     [](D d) { return d.constraints.probe_aperture.radius_px == 20.5; }},
    {"constraints.probe_support_from_epoch", "3",
     [](D d) { return d.constraints.probe_support.onset.from_epoch == 3; },
     xray_deck + "constraints.probe_support_radius_px = 9\n"},
    {"constraints.probe_support_radius_px", "20.5",
     [](D d) { return d.constraints.probe_support.radius_px == 20.5; }},
    {"constraints.probe_mode_power_from_epoch", "3",
     [](D d) { return d.constraints.probe_mode_power.onset.from_epoch == 3; }},
    {"constraints.probe_least_mode_power", "0.25",
     [](D d) { return d.constraints.probe_mode_power.min_fraction == 0.25; }},
    {"decomposition.tiles", "[2, 3]", [](D d) { return d.decomposition.tiles == Ints{2, 3}; }},
    {"decomposition.transport", "\"host_mpi\"",
     [](D d) { return d.decomposition.transport == "host_mpi"; }},
    {"validation.halves", "true", [](D d) { return d.validation.halves; }},
    {"decomposition.timeout_s", "77", [](D d) { return d.decomposition.timeout_s == 77; }},
    {"decomposition.transport_timeout_s", "45",
     [](D d) { return d.decomposition.transport_timeout_s == 45; }},
    {"run.deterministic", "true", [](D d) { return d.run.deterministic; }},
    {"run.resume", "\"/r.h5\"", [](D d) { return d.run.resume == "/r.h5"; }},
    {"run.resume_fitted", "false", [](D d) { return !d.run.resume_fitted; }},
    {"run.device_memory_bytes", "8e9", [](D d) { return d.run.device_memory_bytes == 8e9; }},
    {"run.host_memory_bytes", "16000000000", [](D d) { return d.run.host_memory_bytes == 16e9; }},
    {"run.share_gpu", "true", [](D d) { return d.run.share_gpu; }},
    {"output.file", "\"/out.h5\"", [](D d) { return d.output.file == "/out.h5"; }},
    {"output.fallback", "\"/b.h5\"", [](D d) { return d.output.fallback == "/b.h5"; }},
    {"output.report", "\"/r.html\"", [](D d) { return d.output.report == "/r.html"; }},
    {"output.pictures", "\"/png\"", [](D d) { return d.output.pictures == "/png"; }},
    {"output.save_memory", "true", [](D d) { return d.output.save_memory; }},
    {"output.writers_per_host", "3", [](D d) { return d.output.writers_per_host == 3; }},
    {"output.save_every_minutes", "2.5", [](D d) { return d.output.save_every_minutes == 2.5; }},
    {"output.on_usr1", "save", [](D d) { return d.output.on_usr1 == "save"; }},
    {"output.save_every_epochs", "13", [](D d) { return d.output.save_every_epochs == 13; }},
    {"simulation.object", "\"cells\"", [](D d) { return d.simulation.object == "cells"; }},
    {"simulation.phase_rad", "1.5", [](D d) { return d.simulation.phase_rad == 1.5; }},
    {"simulation.absorption", "0.5", [](D d) { return d.simulation.absorption == 0.5; }},
    {"simulation.scan", "\"fermat\"", [](D d) { return d.simulation.scan == "fermat"; }},
    {"simulation.n_positions", "17", [](D d) { return d.simulation.n_positions == 17; }},
    {"simulation.step_m", "1e-6", [](D d) { return d.simulation.step_m == 1e-6; }},
    {"simulation.jitter", "0.5", [](D d) { return d.simulation.jitter == 0.5; }},
    {"simulation.detector_shape", "[32, 48]",
     [](D d) { return d.simulation.detector_shape == Ints{32, 48}; }},
    {"simulation.counts_per_pattern", "1e4",
     [](D d) { return d.simulation.counts_per_pattern == 1e4; }},
    {"simulation.noise", "\"none\"", [](D d) { return d.simulation.noise == "none"; }},
    {"simulation.dead_pixel_fraction", "0.01",
     [](D d) { return d.simulation.dead_pixel_fraction == 0.01; }},
    {"simulation.defocus_offset_m", "1e-5",
     [](D d) { return d.simulation.defocus_offset_m == 1e-5; }},
    {"simulation.mode_power", "0.3", [](D d) { return d.simulation.mode_power == 0.3; }},
    {"simulation.diffuser_rad", "0.5", [](D d) { return d.simulation.diffuser_rad == 0.5; }},
    {"simulation.probe_drift", "0.4", [](D d) { return d.simulation.probe_drift == 0.4; }},
    {"simulation.intensity_jitter", "0.1",
     [](D d) { return d.simulation.intensity_jitter == 0.1; }},
    {"simulation.position_error_px", "1.5",
     [](D d) { return d.simulation.position_error_px == 1.5; }},
    {"simulation.position_affine", "[0.01, -0.02, 0.03, 0]",
     [](D d) { return d.simulation.position_affine == Doubles{0.01, -0.02, 0.03, 0}; }},
    {"simulation.n_dopants", "4", [](D d) { return d.simulation.n_dopants == 4; }},
    {"simulation.position_drift_px", "[1, -2]",
     [](D d) { return d.simulation.position_drift_px == Doubles{1, -2}; }},
    {"simulation.background_fraction", "0.2",
     [](D d) { return d.simulation.background_fraction == 0.2; }},
    {"simulation.saturation_fraction", "0.03",
     [](D d) { return d.simulation.saturation_fraction == 0.03; }},
    {"simulation.seed", "19", [](D d) { return d.simulation.seed == 19; }},
};

TEST(Keys, EveryKeyReadsIntoItsField) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.key);
    EXPECT_FALSE(c.is_set(parsed(c.deck))) << "the default would pass";
    EXPECT_TRUE(c.is_set(parsed(c.deck, {c.key + "=" + c.value})));
  }
}

std::vector<Deck> decks_of_all_methods() {
  std::vector<Deck> decks;
  for (const std::string& method : settings::method_names())
    decks.emplace_back().solvers = {Solver::of(method)};
  return decks;
}

TEST(Keys, OfADeckHaveEachNameOnce) {
  for (Deck& deck : decks_of_all_methods()) {
    std::set<std::string> names;
    for (const Key& key : keys(deck)) EXPECT_TRUE(names.insert(key.name).second) << key.name;
  }
}

TEST(Keys, TheTableAndTheListAboveHaveTheSameNames) {
  std::multiset<std::string> listed;
  for (const Case& c : cases) listed.insert(c.key);
  std::multiset<std::string> known;
  std::set<std::string> names;
  for (Deck& deck : decks_of_all_methods())
    for (const Key& key : keys(deck)) names.insert(key.name);
  known.insert(names.begin(), names.end());
  EXPECT_EQ(known, listed);
}

TEST(Keys, EveryKeyHasAMeaningAndEveryNumberARange) {
  std::vector<Deck> decks = decks_of_all_methods();
  std::vector<Key> all;
  for (Deck& deck : decks)
    for (const Key& key : keys(deck)) all.push_back(key);
  for (const Key& key : all) {
    SCOPED_TRACE(key.name);
    EXPECT_GT(key.meaning.size(), 20u);
    const bool is_number = !std::holds_alternative<bool*>(key.field) &&
                           !std::holds_alternative<std::string*>(key.field) &&
                           !std::holds_alternative<std::optional<std::string>*>(key.field);
    EXPECT_EQ(key.min.has_value(), is_number);
    EXPECT_EQ(key.max.has_value(), is_number);
  }
}

}  // namespace
}  // namespace tessera::deck
