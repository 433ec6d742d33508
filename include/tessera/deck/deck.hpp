#pragma once
/// The deck: everything that a run is told, with defaults. Pure data; keys.hpp gives every field
/// its name in TOML, its unit, its range and its meaning.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::deck {

struct Data {
  std::string file;
  std::string format = "hdf5";
  std::string patterns = "patterns";
  std::optional<std::string> positions = "positions_m";
  std::optional<std::string> valid_pixels;
  double saturation_counts = 0;
  double beam_stop_radius_px = 0;
  std::optional<std::string> background;
  std::string zero_frequency = "centre";
  std::vector<int> crop;
  int bin = 1;
  std::vector<int> pad_to;
  std::vector<int> raster_shape;
  std::vector<double> raster_step_m;
  double raster_rotation_rad = 0;
  bool subpixel = true;
  int subpixel_bins = 16;
};

struct Experiment {
  std::optional<double> energy_eV;
  std::optional<double> voltage_V;
  std::optional<double> distance_m;
  std::optional<double> detector_pixel_m;
  std::optional<double> detector_pixel_rad;
  std::string propagation = "far_field";
  std::optional<double> source_distance_m;
  std::vector<double> beam_tilt_rad;
  int fly_sub_positions = 1;
  std::vector<double> fly_travel_m;
  double point_spread_px = 0;
};

struct Probe {
  std::string initial = "dataset";
  std::string dataset = "probe";
  std::string file;
  double semi_angle_rad = 0;
  std::string vacuum;
  double defocus_m = 0;
  double astigmatism_m = 0;
  double astigmatism_angle_rad = 0;
  double coma_m = 0;
  double coma_angle_rad = 0;
  double spherical_m = 0;
  double zone_plate_diameter_m = 0;
  double outer_zone_width_m = 0;
  double central_stop_m = 0;
  int n_modes = 1;
  double extra_mode_power = 0.02;
  int opr_modes = 0;
};

struct Object {
  std::string initial = "ones";
  std::string file;
  double random_phase_rad = 0.1;
  int n_modes = 1;
  int n_slices = 1;
  double slice_thickness_m = 0;
};

struct Solver {
  std::string method = "rpie";
  int epochs = 100;
  int batch_size = 32;
  std::string batch_order = "spread";
  std::uint64_t seed = 1;
  double object_step = 0.5;
  double probe_step = 0.5;
  double object_alpha = 1.0;
  double probe_alpha = 1.0;
  double momentum = 0.5;
  double full_step_fraction = 0.33;
  double final_step = 0.2;
  int probe_start_epoch = 0;
  int orthogonalise_every = 1;
  double fourier_relaxation = 0.05;
  int overlap_rounds = 10;
  double overlap_tolerance = 0.05;
  double raar_beta = 0.75;
  int lbfgs_history = 8;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_epsilon = 1e-3;
  std::string noise = "amplitude";
};

/// A number that is 0 switches its rule off.
struct Stop {
  double time_s = 0;
  double error = 0;
  double plateau_change = 0;
  int plateau_epochs = 5;
  int divergence_epochs = 0;
};

struct Validation {
  double fraction = 0;
  std::uint64_t seed = 1;
  int every_epochs = 1;
};

struct Refine {
  int positions_from_epoch = -1;
  std::string positions_method = "gradient";
  std::string positions_model = "free";
  double positions_step = 0.5;
  double positions_limit_px = 4;
  double positions_margin_px = 8;
  int opr_from_epoch = 0;
  int intensity_from_epoch = -1;
  int background_from_epoch = -1;
  int thickness_from_epoch = -1;
  int tilt_from_epoch = -1;
};

/// `..._from_epoch`: -1 never.
struct Constraints {
  int object_amplitude_from_epoch = -1;
  std::vector<double> object_amplitude = {0, 1};
  int object_phase_from_epoch = -1;
  std::vector<double> object_phase_rad = {-3.15, 3.15};
  int object_positive_phase_from_epoch = -1;
  int object_support_from_epoch = -1;
  double object_support_radius_px = 0;
  int object_l1_from_epoch = -1;
  double object_l1 = 0.01;
  int object_smoothness_from_epoch = -1;
  double object_smoothness = 0.02;
  int object_low_pass_from_epoch = -1;
  double object_low_pass_sigma_px = 0.5;
  int object_low_pass_every = 1;
  int object_tv_from_epoch = -1;
  double object_tv = 0.01;
  int object_tv_every = 1;
  int slice_coupling_from_epoch = -1;
  double slice_coupling_sigma = 0.5;
  int phase_ramp_from_epoch = -1;
  int phase_ramp_every = 1;
  int probe_centring_from_epoch = -1;
  int probe_power_from_epoch = -1;
  double probe_power_counts = 0;
  int probe_aperture_from_epoch = -1;
  double probe_aperture_radius_px = 0;
  int probe_support_from_epoch = -1;
  double probe_support_radius_px = 0;
  int probe_mode_power_from_epoch = -1;
  double probe_least_mode_power = 0.001;
};

struct Decomposition {
  std::vector<int> tiles;
  std::string transport = "auto";
  double transport_timeout_s = 20;
};

struct Run {
  bool deterministic = false;
  std::string resume;
  double device_memory_bytes = 0;
  double host_memory_bytes = 0;
  bool share_gpu = false;
};

struct Output {
  std::string file = "result.h5";
  std::string pictures;
  int save_every_epochs = 0;
};

struct Simulation {
  std::string object = "siemens_star";
  double phase_rad = 0.8;
  double absorption = 0.1;
  std::string scan = "raster";
  int n_positions = 400;
  double step_m = 0;
  double jitter = 0.2;
  std::vector<int> detector_shape = {64, 64};
  double counts_per_pattern = 1e6;
  std::string noise = "poisson";
  double dead_pixel_fraction = 0;
  double defocus_offset_m = 0;
  double mode_power = 0.2;
  double diffuser_rad = 0;
  double probe_drift = 0;
  double intensity_jitter = 0;
  double position_error_px = 0;
  std::vector<double> position_affine;
  double background_fraction = 0;
  double saturation_fraction = 0;
  std::uint64_t seed = 1;
};

struct Deck {
  std::string title;
  Data data;
  Experiment experiment;
  Probe probe;
  Object object;
  std::vector<Solver> solvers = std::vector<Solver>(1);  ///< one after another; never empty
  Stop stop;
  Validation validation;
  Refine refine;
  Constraints constraints;
  Decomposition decomposition;
  Run run;
  Output output;
  Simulation simulation;
};

}  // namespace tessera::deck
