#include "tessera/deck/check.hpp"

#include <algorithm>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/deck/keys.hpp"
#include "tessera/deck/methods.hpp"

#include "describe.hpp"

namespace tessera::deck {

namespace {

void require(bool holds, const std::string& problem) {
  if (!holds) throw InputError(problem);
}

void check_wavelength(const Experiment& experiment) {
  require(experiment.energy_eV || experiment.voltage_V,
          "the wavelength is not known: give experiment.energy_eV (X-rays) or experiment.voltage_V "
          "(electrons)");
  if (!experiment.energy_eV || !experiment.voltage_V) return;
  throw InputError(text("experiment.energy_eV = ", number_text(*experiment.energy_eV),
                        " and experiment.voltage_V = ", number_text(*experiment.voltage_V),
                        " exclude each other: keep energy_eV for X-rays, voltage_V for electrons"));
}

void check_detector(const Experiment& experiment) {
  const bool has_distance = experiment.distance_m.has_value();
  const bool has_pixel = experiment.detector_pixel_m.has_value();
  if (!experiment.detector_pixel_rad) {
    const std::string angle = experiment.voltage_V ? ", or experiment.detector_pixel_rad" : "";
    require(has_distance,
            "experiment.distance_m is missing: the distance from sample to detector, "
            "metres" +
                angle);
    require(has_pixel,
            "experiment.detector_pixel_m is missing: the detector pixel, metres" + angle);
    return;
  }
  const std::string given =
      text("experiment.detector_pixel_rad = ", number_text(*experiment.detector_pixel_rad));
  require(experiment.voltage_V.has_value(),
          given + " is for electrons; for X-rays give distance_m and detector_pixel_m");
  require(!has_distance && !has_pixel,
          given +
              " replaces experiment.distance_m and experiment.detector_pixel_m: give one or "
              "the other");
}

void check_near_field(const Deck& deck) {
  const Experiment& experiment = deck.experiment;
  const std::string chosen = text("experiment.propagation = ", quoted(experiment.propagation));
  if (experiment.propagation == "far_field") {
    require(!experiment.source_distance_m,
            text("experiment.source_distance_m is for the near field, but ", chosen,
                 R"(; leave it out, or choose "fresnel" or "angular_spectrum")"));
    return;
  }
  require(experiment.distance_m && experiment.detector_pixel_m,
          chosen +
              " needs experiment.distance_m and experiment.detector_pixel_m, metres, not "
              "experiment.detector_pixel_rad: give distance_m and detector_pixel_m");
  require(deck.data.zero_frequency == "centre",
          text("data.zero_frequency = ", quoted(deck.data.zero_frequency),
               " is for the far field: with ", chosen,
               " patterns are images in the detector's own order; leave it out"));
}

void check_fly(const Experiment& experiment) {
  const bool travels =
      std::ranges::any_of(experiment.fly_travel_m, [](double way) { return way != 0; });
  require(travels == (experiment.fly_sub_positions > 1),
          text("experiment.fly_sub_positions = ", experiment.fly_sub_positions, " with ",
               travels ? "some" : "no",
               " experiment.fly_travel_m: a fly scan needs more than 1 sub-position and its "
               "travel, (y, x), metres; a stage that stands still needs neither"));
}

/// A raster replaces measured positions; it must not be ignored silently, nor be needed and absent.
void check_raster(const Data& data) {
  const bool has_step = !data.raster_step_m.empty();
  const bool has_raster = has_step || !data.raster_shape.empty() || data.raster_rotation_rad != 0;
  if (data.positions) {
    require(!has_raster,
            text("data.raster_* is given, but the positions are read from "
                 "data.positions = ",
                 quoted(*data.positions), "; set data.positions = \"\" to use the raster"));
    return;
  }
  require(has_step,
          "data.raster_step_m is missing: without data.positions the scan is a raster, "
          "whose step (rows, columns) in metres must be given");
  require(std::ranges::any_of(data.raster_step_m, [](double step) { return step != 0; }),
          "data.raster_step_m = [0, 0] would put every position at the same place");
}

std::string pair_text(const std::vector<int>& pair) {
  return text('[', pair[0], ", ", pair[1], ']');
}

/// What can be said before the patterns' shape is known.
void check_frame(const Data& data) {
  if (data.crop.empty()) return;
  const std::string crop = "data.crop = " + pair_text(data.crop);
  require(data.crop[0] % data.bin == 0 && data.crop[1] % data.bin == 0,
          text(crop, " is not a multiple of data.bin = ", data.bin));
  require(data.pad_to.empty() || (data.pad_to[0] >= data.crop[0] / data.bin &&
                                  data.pad_to[1] >= data.crop[1] / data.bin),
          text("data.pad_to = ", pair_text(data.pad_to.empty() ? data.crop : data.pad_to),
               " is smaller than ", crop, " after data.bin = ", data.bin,
               "; make it larger or crop to it"));
}

/// Their formulas see the far field.
void check_start_object(const Deck& deck) {
  require(deck.object.initial != "centre_of_mass" || deck.experiment.propagation == "far_field",
          text("object.initial = \"centre_of_mass\" needs experiment.propagation = \"far_field\", "
               "not ",
               quoted(deck.experiment.propagation), R"(; use "stxm" or "ones")"));
}

void check_alphas(const Solver& solver, const std::string& section) {
  if (solver.method != "epie") return;
  for (const auto& [name, alpha] :
       {std::pair{"object", solver.object_alpha}, std::pair{"probe", solver.probe_alpha}}) {
    require(alpha == 1,
            text(section, ".", name, "_alpha = ", number_text(alpha), " contradicts ", section,
                 ".method = \"epie\", whose alphas are 1; leave it out or use "
                 "\"rpie\""));
  }
}

void check_momentum(const Solver& solver, const std::string& section) {
  require(solver.method != "mpie" || solver.momentum > 0,
          text(section, ".momentum = 0 contradicts ", section,
               ".method = \"mpie\", which is \"rpie\" with momentum; give it above 0, such as 0.5, "
               "or use \"rpie\""));
}

void check_solvers(const Deck& deck) {
  for (std::size_t stage = 0; stage < deck.solvers.size(); ++stage) {
    check_alphas(deck.solvers[stage], solver_section(deck, stage));
    check_momentum(deck.solvers[stage], solver_section(deck, stage));
    const std::string refused = excluded_option(deck, stage);
    require(refused.empty(), refused);
  }
}

void check_slices(const Deck& deck) {
  const std::string n_slices = text("object.n_slices = ", deck.object.n_slices);
  if (deck.object.n_slices > 1) {
    require(
        deck.object.slice_thickness_m > 0,
        n_slices + " needs object.slice_thickness_m above 0: the distance between slices, metres");
    return;
  }
  const std::string needs = " needs a thick sample, but " + n_slices +
                            "; set object.n_slices and object.slice_thickness_m, or leave it out";
  require(deck.experiment.beam_tilt_rad.empty(), "experiment.beam_tilt_rad" + needs);
  for (const auto& [name, from_epoch] : {std::pair{"thickness", deck.refine.thickness_from_epoch},
                                         std::pair{"tilt", deck.refine.tilt_from_epoch}})
    require(from_epoch < 0, text("refine.", name, "_from_epoch = ", from_epoch, needs));
}

/// The object in a window is one image.
void check_positions(const Deck& deck) {
  const Refine& refine = deck.refine;
  require(refine.positions_from_epoch < 0 || refine.positions_method == "gradient" ||
              deck.object.n_slices == 1,
          text("refine.positions_method = ", quoted(refine.positions_method),
               " is for a thin sample, but object.n_slices = ", deck.object.n_slices,
               "; use \"gradient\", or 1 slice"));
}

void check_resume(const Deck& deck) {
  if (deck.run.resume.empty()) return;
  for (const auto& [section, initial] :
       {std::pair{"object", deck.object.initial}, std::pair{"probe", deck.probe.initial}}) {
    require(initial != "file", text("run.resume = ", quoted(deck.run.resume),
                                    " continues with that "
                                    "run's object and probe, but ",
                                    section, ".initial = \"file\"; keep one of them"));
  }
}

void check_shared_gpu(const Deck& deck) {
  require(
      !deck.run.share_gpu || deck.decomposition.transport != "nccl",
      "run.share_gpu = true contradicts decomposition.transport = \"nccl\", which wants a GPU "
      "for every rank; use \"auto\", \"gpu_mpi\" or \"host_mpi\", or set run.share_gpu = false");
}

void check_aperture(const Probe& probe) {
  require(probe.semi_angle_rad > 0,
          "probe.initial = \"aperture\" needs probe.semi_angle_rad above 0: half the convergence "
          "angle, radians");
}

void check_zone_plate(const Probe& probe) {
  const std::string needs = "probe.initial = \"zone_plate\" needs probe.";
  require(probe.zone_plate_diameter_m > 0, needs + "zone_plate_diameter_m above 0, metres");
  require(probe.outer_zone_width_m > 0, needs + "outer_zone_width_m above 0, metres");
  require(probe.central_stop_m < probe.zone_plate_diameter_m,
          text("probe.central_stop_m = ", number_text(probe.central_stop_m),
               " must be less than probe.zone_plate_diameter_m = ",
               number_text(probe.zone_plate_diameter_m)));
}

/// A probe that was measured or reconstructed has its aberrations already.
void check_aberrations(const Probe& probe) {
  if (probe.initial != "dataset" && probe.initial != "file") return;
  for (const auto& [name, value] :
       {std::pair{"astigmatism_m", probe.astigmatism_m}, std::pair{"coma_m", probe.coma_m},
        std::pair{"spherical_m", probe.spherical_m}})
    require(value == 0, text("probe.", name, " = ", number_text(value),
                             " is not for probe.initial = ", quoted(probe.initial),
                             R"(; use "aperture", "zone_plate", "vacuum" or "mean_pattern")"));
}

void check_optics(const Probe& probe) {
  check_aberrations(probe);
  if (probe.initial == "aperture") check_aperture(probe);
  if (probe.initial == "zone_plate") check_zone_plate(probe);
}

void check_interval(const std::string& key, const std::vector<double>& interval) {
  require(interval.size() == 2 && interval[0] <= interval[1],
          text("constraints.", key, " must be the least and the greatest value, such as [0, 1]"));
}

void check_object_constraints(const Deck& deck) {
  const Constraints& c = deck.constraints;
  check_interval("object_amplitude", c.object_amplitude);
  check_interval("object_phase_rad", c.object_phase_rad);
  require(c.object_phase_from_epoch < 0 || c.object_positive_phase_from_epoch < 0 ||
              c.object_phase_rad[1] >= 0,
          text("constraints.object_phase_rad ends at ", number_text(c.object_phase_rad[1]),
               ", but constraints.object_positive_phase_from_epoch keeps the phase at 0 or above; "
               "keep one of them"));
  require(c.slice_coupling_from_epoch < 0 || deck.object.n_slices > 1,
          text("constraints.slice_coupling_from_epoch = ", c.slice_coupling_from_epoch,
               " couples slices, but object.n_slices = 1; leave it out"));
}

void require_radius(int from_epoch, const std::string& constraint, double radius_px) {
  require(from_epoch < 0 || radius_px > 0,
          text("constraints.", constraint, "_from_epoch = ", from_epoch, " needs constraints.",
               constraint, "_radius_px above 0"));
}

void check_probe_constraints(const Deck& deck) {
  const Constraints& c = deck.constraints;
  require_radius(c.probe_aperture_from_epoch, "probe_aperture", c.probe_aperture_radius_px);
  require_radius(c.probe_support_from_epoch, "probe_support", c.probe_support_radius_px);
  require(c.phase_ramp_from_epoch < 0 || c.probe_aperture_from_epoch < 0,
          "constraints.phase_ramp_from_epoch tilts the probe, but "
          "constraints.probe_aperture_from_epoch keeps it about zero frequency; keep one of them");
  require(c.probe_centring_from_epoch < 0 || deck.experiment.propagation == "far_field",
          text("constraints.probe_centring_from_epoch moves the wave on the sample, which only "
               "far-field patterns do not see, but experiment.propagation = ",
               quoted(deck.experiment.propagation), "; leave it out"));
  require(c.probe_mode_power_from_epoch < 0 || c.probe_least_mode_power * deck.probe.n_modes <= 1,
          text("constraints.probe_least_mode_power = ", number_text(c.probe_least_mode_power),
               " is more than each of probe.n_modes = ", deck.probe.n_modes,
               " modes can have; at most 1 / probe.n_modes"));
}

void require_text(const std::string& value, const std::string& key, const std::string& remedy) {
  require(!value.empty(), key + " is missing: " + remedy);
}

}  // namespace

void check(const Deck& deck) {
  require_text(deck.data.file, "data.file", "name the file of the diffraction patterns");
  require_text(deck.data.patterns, "data.patterns", "name the dataset of the diffraction patterns");
  check_wavelength(deck.experiment);
  check_detector(deck.experiment);
  check_near_field(deck);
  check_fly(deck.experiment);
  check_slices(deck);
  check_positions(deck);
  check_raster(deck.data);
  check_frame(deck.data);
  check_start_object(deck);
  check_optics(deck.probe);
  check_solvers(deck);
  check_resume(deck);
  check_shared_gpu(deck);
  check_object_constraints(deck);
  check_probe_constraints(deck);
}

void check_reconstruction(const Deck& deck) {
  require_text(deck.output.file, "output.file", "name the file of the result");
  if (deck.probe.initial == "dataset") {
    require_text(deck.probe.dataset, "probe.dataset",
                 "probe.initial = \"dataset\" reads the probe from it; or choose another "
                 "probe.initial");
  }
  if (deck.probe.initial == "file") {
    require_text(deck.probe.file, "probe.file",
                 "probe.initial = \"file\" reads the probe from it, the result of an earlier run");
  }
  if (deck.probe.initial == "vacuum") {
    require_text(deck.probe.vacuum, "probe.vacuum",
                 "probe.initial = \"vacuum\" makes the probe from that dataset of data.file");
  }
  if (deck.object.initial == "file") {
    require_text(
        deck.object.file, "object.file",
        "object.initial = \"file\" reads the object from it, the result of an earlier run");
  }
}

void check_simulation(const Deck& deck) {
  require(deck.probe.initial == "aperture" || deck.probe.initial == "zone_plate",
          text("probe.initial = ", quoted(deck.probe.initial),
               " is not known before there are "
               "data; simulate needs the optics: \"aperture\" or \"zone_plate\""));
  require(deck.simulation.step_m > 0,
          "simulation.step_m must be above 0: the distance between scan positions, metres");
  require(deck.simulation.detector_shape.size() == 2,
          "simulation.detector_shape = [] must be rows and columns, such as [64, 64]");
  require(
      deck.simulation.dead_pixel_fraction == 0 || deck.data.valid_pixels,
      text("simulation.dead_pixel_fraction = ", number_text(deck.simulation.dead_pixel_fraction),
           " needs data.valid_pixels, the dataset that will list the pixels to trust"));
}

}  // namespace tessera::deck
