#include <gmock/gmock.h>

#include "deck/check.hpp"
#include "deck/sample_decks.hpp"

namespace tessera::deck {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

std::string reconstruction_complaint(const std::vector<std::string>& overrides) {
  return complaint([&] { check_reconstruction(parsed(xray_deck, overrides)); });
}

const std::vector<std::string> simulation = {"probe.initial=aperture", "probe.semi_angle_rad=1e-3",
                                             "simulation.step_m=1e-7"};

std::string simulation_complaint(const std::vector<std::string>& overrides) {
  std::vector<std::string> all = simulation;
  all.insert(all.end(), overrides.begin(), overrides.end());
  return complaint([&] { check_simulation(parsed(xray_deck, all)); });
}

TEST(Check, TheSampleDecksPass) {
  for (const std::string& deck : {xray_deck, electron_deck, raster_deck}) {
    EXPECT_THAT(complaint([&] { check_reconstruction(parsed(deck)); }), IsEmpty());
  }
  EXPECT_THAT(simulation_complaint({}), IsEmpty());
}

TEST(Check, DataAreNamed) {
  EXPECT_THAT(parse_complaint("experiment.energy_eV = 8800"), HasSubstr("data.file is missing"));
  EXPECT_THAT(parse_complaint(xray_deck, {"data.patterns="}),
              HasSubstr("data.patterns is missing"));
}

TEST(Check, ExactlyOneWavelength) {
  EXPECT_THAT(
      parse_complaint("data.file = \"a\""),
      AllOf(HasSubstr("experiment.energy_eV (X-rays)"), HasSubstr("voltage_V (electrons)")));
  EXPECT_THAT(parse_complaint(xray_deck, {"experiment.voltage_V=80e3"}),
              AllOf(HasSubstr("energy_eV = 8800"), HasSubstr("voltage_V = 80000"),
                    HasSubstr("exclude each other")));
}

TEST(Check, TheDetectorIsInMetresOrForElectronsInAngles) {
  const std::string file = "data.file = \"a\"\n";
  const std::string xray = file + "experiment.energy_eV = 8800\n";
  const std::string electron = file + "experiment.voltage_V = 80e3\n";
  EXPECT_THAT(parse_complaint(xray), HasSubstr("experiment.distance_m is missing"));
  EXPECT_THAT(parse_complaint(xray + "experiment.distance_m = 1.0"),
              HasSubstr("experiment.detector_pixel_m is missing"));
  EXPECT_THAT(parse_complaint(xray_deck, {"experiment.detector_pixel_rad=1e-4"}),
              AllOf(HasSubstr("detector_pixel_rad = 1e-4"), HasSubstr("for electrons")));
  EXPECT_THAT(parse_complaint(electron), HasSubstr("or experiment.detector_pixel_rad"));
  EXPECT_THAT(parse_complaint(electron_deck, {"experiment.distance_m=1"}),
              HasSubstr("give one or the other"));
  EXPECT_THAT(parse_complaint(electron + "experiment.distance_m = 0.1\n"
                                         "experiment.detector_pixel_m = 75e-6\n"),
              IsEmpty());
}

TEST(Check, TheNearFieldHasDistancesAndImages) {
  EXPECT_THAT(parse_complaint(near_deck, {"experiment.source_distance_m=0.1"}), IsEmpty());
  EXPECT_THAT(parse_complaint(xray_deck, {"experiment.source_distance_m=0.1"}),
              AllOf(HasSubstr("source_distance_m"), HasSubstr("\"far_field\"")));
  EXPECT_THAT(parse_complaint(near_deck, {"data.zero_frequency=corner"}),
              AllOf(HasSubstr("data.zero_frequency = \"corner\""), HasSubstr("\"fresnel\"")));
  EXPECT_THAT(parse_complaint(electron_deck, {"experiment.propagation=angular_spectrum"}),
              HasSubstr("give distance_m and detector_pixel_m"));
}

TEST(Check, AFlyScanTravels) {
  EXPECT_THAT(parse_complaint(fly_deck), IsEmpty());
  EXPECT_THAT(parse_complaint(xray_deck, {"experiment.fly_sub_positions=3"}),
              HasSubstr("fly_sub_positions = 3 with no experiment.fly_travel_m"));
  EXPECT_THAT(parse_complaint(fly_deck, {"experiment.fly_sub_positions=1"}),
              HasSubstr("fly_sub_positions = 1 with some experiment.fly_travel_m"));
}

TEST(Check, SlicesHaveAThickness) {
  EXPECT_THAT(parse_complaint(thick_deck, {"experiment.beam_tilt_rad=[0, 0.01]"}), IsEmpty());
  EXPECT_THAT(parse_complaint(thick_deck, {"object.slice_thickness_m=0"}),
              AllOf(HasSubstr("object.n_slices = 2"), HasSubstr("slice_thickness_m above 0")));
  const auto with_distances = [](const char* distances) {
    return parse_complaint(thick_deck, {"object.n_slices=3", "object.slice_thickness_m=0",
                                        text("object.slice_distances_m=", distances)});
  };
  EXPECT_THAT(with_distances("[1e-9, 2e-9]"), IsEmpty());
  EXPECT_THAT(with_distances("[1e-9]"),
              AllOf(HasSubstr("has 1 distances"), HasSubstr("has 2 gaps")));
  EXPECT_THAT(with_distances("[1e-9, 0]"), HasSubstr("must be above 0"));
  EXPECT_THAT(parse_complaint(thick_deck, {"object.slice_distances_m=[1e-9]"}),
              HasSubstr("leave one out"));
  EXPECT_THAT(parse_complaint(xray_deck, {"experiment.beam_tilt_rad=[0, 0.01]"}),
              HasSubstr("object.n_slices = 1"));
}

TEST(Check, ARasterReplacesPositions) {
  for (const std::string raster : {"data.raster_step_m=[1e-6, 1e-6]", "data.raster_shape=[3, 3]",
                                   "data.raster_rotation_rad=0.1"}) {
    EXPECT_THAT(
        parse_complaint(xray_deck, {raster}),
        AllOf(HasSubstr("data.positions = \"positions_m\""), HasSubstr("data.positions = \"\"")));
  }
  EXPECT_THAT(parse_complaint(xray_deck, {"data.positions="}),
              HasSubstr("data.raster_step_m is missing"));
  EXPECT_THAT(parse_complaint(raster_deck, {"data.raster_step_m=[0, 0]"}),
              HasSubstr("every position at the same place"));
  EXPECT_THAT(parse_complaint(raster_deck, {"data.raster_step_m=[0, 1e-6]"}), IsEmpty());
}

TEST(Check, RawNumbersAreDescribed) {
  EXPECT_THAT(parse_complaint(raw_deck), IsEmpty());
  EXPECT_THAT(parse_complaint(raw_deck, {"data.format=auto"}),
              AllOf(HasSubstr("data.raw_*"), HasSubstr("data.format = \"auto\"")));
  EXPECT_THAT(parse_complaint(raw_deck, {"data.raw_type="}), HasSubstr("data.raw_type is missing"));
  EXPECT_THAT(parse_complaint(raw_deck, {"data.raw_shape=[]"}),
              HasSubstr("data.raw_shape is missing"));
  EXPECT_THAT(parse_complaint(raw_deck, {"data.raw_type=u12"}),
              AllOf(HasSubstr("data.raw_type = "), HasSubstr("\"u16be\"")));
}

TEST(Check, OpticsAreComplete) {
  EXPECT_THAT(parse_complaint(xray_deck, {"probe.initial=aperture"}),
              HasSubstr("needs probe.semi_angle_rad above 0"));
  std::vector<std::string> zone_plate = {"probe.initial=zone_plate"};
  EXPECT_THAT(parse_complaint(xray_deck, zone_plate), HasSubstr("probe.zone_plate_diameter_m"));
  zone_plate.push_back("probe.zone_plate_diameter_m=1e-4");
  EXPECT_THAT(parse_complaint(xray_deck, zone_plate), HasSubstr("probe.outer_zone_width_m"));
  zone_plate.push_back("probe.outer_zone_width_m=5e-8");
  EXPECT_THAT(parse_complaint(xray_deck, zone_plate), IsEmpty());
  zone_plate.push_back("probe.central_stop_m=1e-4");
  EXPECT_THAT(parse_complaint(xray_deck, zone_plate),
              HasSubstr("probe.central_stop_m = 1e-4 must be less"));
}

TEST(Check, CropBinAndPaddingFitEachOther) {
  EXPECT_THAT(parse_complaint(xray_deck, {"data.crop=[64, 66]", "data.bin=4"}),
              AllOf(HasSubstr("data.crop = [64, 66]"), HasSubstr("data.bin = 4")));
  EXPECT_THAT(parse_complaint(xray_deck, {"data.crop=[64, 64]", "data.pad_to=[64, 32]"}),
              HasSubstr("data.pad_to = [64, 32] is smaller"));
  EXPECT_THAT(
      parse_complaint(xray_deck, {"data.crop=[64, 64]", "data.bin=2", "data.pad_to=[64, 32]"}),
      IsEmpty());
}

TEST(Check, AMeasuredProbeHasItsAberrationsAlready) {
  for (const std::string key : {"astigmatism_m", "coma_m", "spherical_m"}) {
    EXPECT_THAT(parse_complaint(xray_deck, {"probe." + key + "=1e-6"}),
                AllOf(HasSubstr("probe." + key), HasSubstr("probe.initial = \"dataset\"")));
    EXPECT_THAT(
        parse_complaint(xray_deck, {"probe." + key + "=1e-6", "probe.initial=mean_pattern"}),
        IsEmpty());
  }
}

TEST(Check, TheCentreOfMassIsOfTheFarField) {
  const std::string start = "object.initial=centre_of_mass";
  EXPECT_THAT(parse_complaint(xray_deck, {start}), IsEmpty());
  EXPECT_THAT(parse_complaint(xray_deck, {start, "experiment.propagation=fresnel"}),
              AllOf(HasSubstr("\"centre_of_mass\""), HasSubstr("\"fresnel\"")));
}

TEST(Check, EpieIsRpieWithBothAlphasOne) {
  const Deck deck = parsed(xray_deck, {"solver.method=epie"});
  const auto& epie = std::get<settings::Pie>(deck.solvers.front().own);
  EXPECT_EQ(epie.alphas.object, 1);
  EXPECT_EQ(epie.alphas.probe, 1);
  EXPECT_THAT(parse_complaint(xray_deck, {"solver.method=epie", "solver.object_alpha=0.05"}),
              AllOf(HasSubstr("solver.object_alpha = 0.05"), HasSubstr("contradicts")));
  EXPECT_THAT(parse_complaint(xray_deck + "solver.probe_alpha = 0.5\n", {"solver.method=epie"}),
              HasSubstr("solver.probe_alpha = 0.5"));
}

TEST(Check, MpieHasMomentum) {
  EXPECT_THAT(parse_complaint(xray_deck, {"solver.method=mpie"}), IsEmpty());
  EXPECT_THAT(parse_complaint(xray_deck, {"solver.method=mpie", "solver.momentum=0"}),
              AllOf(HasSubstr("solver.momentum = 0"), HasSubstr("use \"rpie\"")));
  EXPECT_THAT(parse_complaint(xray_deck, {"solver.method=lsqml", "solver.momentum=0"}), IsEmpty());
}

TEST(Check, AFlyScanHasItsTravel) {
  const std::string sub_positions = "experiment.fly_sub_positions=4";
  EXPECT_THAT(parse_complaint(xray_deck, {sub_positions}),
              AllOf(HasSubstr("fly_sub_positions = 4"), HasSubstr("experiment.fly_travel_m")));
  EXPECT_THAT(parse_complaint(xray_deck, {sub_positions, "experiment.fly_travel_m=[0, 1e-7]"}),
              IsEmpty());
}

TEST(Check, SlicesHaveAThicknessAndWhatNeedsThemHasSlices) {
  EXPECT_THAT(
      parse_complaint(xray_deck, {"object.n_slices=2"}),
      AllOf(HasSubstr("object.n_slices = 2"), HasSubstr("object.slice_thickness_m above 0")));
  const std::vector<std::string> slices{"object.n_slices=2", "object.slice_thickness_m=1e-6"};
  EXPECT_THAT(parse_complaint(xray_deck, slices), IsEmpty());
  for (const std::string needy : {"refine.tilt_from_epoch=0", "refine.thickness_from_epoch=5",
                                  "experiment.beam_tilt_rad=[0.01, 0]"}) {
    EXPECT_THAT(parse_complaint(xray_deck, {needy}),
                AllOf(HasSubstr(needy.substr(0, needy.find('='))), HasSubstr("thick sample")));
    EXPECT_THAT(parse_complaint(xray_deck, {slices[0], slices[1], needy}), IsEmpty());
  }
}

TEST(Check, CorrelatedPositionsAreOfAThinSample) {
  const std::vector<std::string> slices{"object.n_slices=2", "object.slice_thickness_m=1e-6"};
  const std::string from_epoch = "refine.positions_from_epoch=3";
  const std::string correlated = "refine.positions_method=cross_correlation";
  EXPECT_THAT(parse_complaint(xray_deck, {from_epoch, correlated}), IsEmpty());
  EXPECT_THAT(parse_complaint(xray_deck, {slices[0], slices[1], from_epoch}), IsEmpty());
  EXPECT_THAT(parse_complaint(xray_deck, {slices[0], slices[1], from_epoch, correlated}),
              AllOf(HasSubstr("refine.positions_method = \"cross_correlation\""),
                    HasSubstr("object.n_slices = 2"), HasSubstr("use \"gradient\"")));
}

TEST(Check, ProjectionsTakeTheWholeScan) {
  for (const std::string method : {"dm", "raar"}) {
    const std::string chosen = "solver.method=" + method;
    EXPECT_EQ(parsed(xray_deck, {chosen}).solvers[0].batch_size, 0);
    EXPECT_THAT(parse_complaint(xray_deck, {chosen, "solver.batch_size=0"}), IsEmpty());
    EXPECT_THAT(parse_complaint(xray_deck, {chosen, "solver.batch_size=32"}),
                AllOf(HasSubstr("solver.batch_size = 32"), HasSubstr(method),
                      HasSubstr("does not go with")));
    EXPECT_THAT(parse_complaint(xray_deck, {chosen, "solver.batch_size=auto"}), IsEmpty());
    EXPECT_THAT(
        parse_complaint(xray_deck, {chosen, "solver.batch_size=auto", "solver.batch_coverage=2"}),
        AllOf(HasSubstr("solver.batch_coverage = 2"), HasSubstr("does not go with")));
  }
}

TEST(Check, ABatchHasOneMeasure) {
  const std::vector<std::string> both{"solver.batch_size=32", "solver.batch_coverage=2.5"};
  EXPECT_THAT(parse_complaint(xray_deck, both),
              AllOf(HasSubstr("solver.batch_size = 32"), HasSubstr("solver.batch_coverage = 2.5"),
                    HasSubstr("leave one out")));
  for (const char* left_out : {"solver.batch_size=auto", "solver.batch_coverage=auto"})
    EXPECT_THAT(parse_complaint(xray_deck, {both[0], both[1], left_out}), IsEmpty());
}

TEST(Check, ConstraintsThatContradictEachOther) {
  const auto with = [](std::vector<std::string> keys) {
    for (std::string& key : keys) key = "constraints." + key;
    return parse_complaint(xray_deck, keys);
  };
  EXPECT_THAT(with({"object_amplitude_from_epoch=0", "object_amplitude=[0.5, 1.5]"}), IsEmpty());
  EXPECT_THAT(with({"object_amplitude=[1.5, 0.5]"}),
              HasSubstr("constraints.object_amplitude must"));
  EXPECT_THAT(with({"object_phase_rad=[]"}), HasSubstr("constraints.object_phase_rad must"));
  EXPECT_THAT(with({"object_positive_phase_from_epoch=0", "object_phase_from_epoch=0",
                    "object_phase_rad=[-1, -0.5]"}),
              HasSubstr("constraints.object_positive_phase_from_epoch"));
  EXPECT_THAT(with({"slice_coupling_from_epoch=1"}), HasSubstr("object.n_slices = 1"));
  EXPECT_THAT(with({"probe_support_from_epoch=2"}),
              HasSubstr("constraints.probe_support_from_epoch = 2 needs"));
  EXPECT_THAT(with({"probe_aperture_from_epoch=2"}),
              HasSubstr("constraints.probe_aperture_radius_px above 0"));
  EXPECT_THAT(with({"probe_aperture_from_epoch=2", "probe_aperture_radius_px=9",
                    "phase_ramp_from_epoch=2"}),
              HasSubstr("constraints.phase_ramp_from_epoch tilts"));
  EXPECT_THAT(with({"probe_mode_power_from_epoch=2", "probe_least_mode_power=1"}), IsEmpty());
  Deck deck = parsed(xray_deck, {"constraints.probe_mode_power_from_epoch=2",
                                 "constraints.probe_least_mode_power=0.4"});
  deck.probe.n_modes = 3;
  EXPECT_THAT(complaint([&] { check(deck); }), HasSubstr("at most 1 / probe.n_modes"));
  deck = parsed(xray_deck, {"constraints.probe_centring_from_epoch=2"});
  deck.experiment.propagation = "fresnel";
  EXPECT_THAT(complaint([&] { check(deck); }), HasSubstr("experiment.propagation = \"fresnel\""));
}

TEST(Check, LooksAtHeldOutPositionsNeedSome) {
  EXPECT_THAT(reconstruction_complaint({"stop.validation_epochs=5"}),
              AllOf(HasSubstr("stop.validation_epochs = 5"), HasSubstr("validation.fraction")));
  EXPECT_THAT(reconstruction_complaint({"stop.validation_epochs=5", "validation.fraction=0.1"}),
              IsEmpty());
}

TEST(Check, RanksThatShareAGpuDoWithoutTransportsThatWantOneEach) {
  for (const std::string name : {"nccl", "gpu_p2p"}) {
    Deck deck = parsed(xray_deck, {"run.share_gpu=true"});
    deck.decomposition.transport = name;
    EXPECT_THAT(
        complaint([&] { check(deck); }),
        AllOf(HasSubstr("run.share_gpu = true"),
              HasSubstr("decomposition.transport = \"" + name + "\""), HasSubstr("\"gpu_mpi\"")));
    deck.run.share_gpu = false;
    EXPECT_THAT(complaint([&] { check(deck); }), IsEmpty());
  }
}

TEST(CheckReconstruction, StartsAndResultHaveFiles) {
  EXPECT_THAT(reconstruction_complaint({"probe.initial=file"}), HasSubstr("probe.file is missing"));
  EXPECT_THAT(reconstruction_complaint({"object.initial=file"}),
              HasSubstr("object.file is missing"));
  EXPECT_THAT(reconstruction_complaint({"probe.initial=vacuum"}),
              HasSubstr("probe.vacuum is missing"));
  EXPECT_THAT(reconstruction_complaint({"probe.dataset="}), HasSubstr("probe.dataset is missing"));
  EXPECT_THAT(reconstruction_complaint({"output.file="}), HasSubstr("output.file is missing"));
  EXPECT_THAT(reconstruction_complaint({"probe.initial=file", "probe.file=p.h5",
                                        "object.initial=file", "object.file=o.h5"}),
              IsEmpty());
  EXPECT_THAT(reconstruction_complaint({"probe.initial=mean_pattern", "probe.dataset="}),
              IsEmpty());
}

TEST(CheckSimulation, NeedsOpticsAndAStep) {
  EXPECT_THAT(simulation_complaint({"probe.initial=dataset"}),
              AllOf(HasSubstr("probe.initial = \"dataset\""), HasSubstr("\"aperture\"")));
  EXPECT_THAT(simulation_complaint({"simulation.step_m=0"}),
              HasSubstr("simulation.step_m must be above 0"));
  EXPECT_THAT(simulation_complaint({"simulation.detector_shape=[]"}),
              HasSubstr("must be rows and columns"));
  const std::string dead = "simulation.dead_pixel_fraction=0.01";
  EXPECT_THAT(simulation_complaint({dead}),
              AllOf(HasSubstr("0.01"), HasSubstr("data.valid_pixels")));
  EXPECT_THAT(simulation_complaint({dead, "data.valid_pixels=mask"}), IsEmpty());
}

TEST(CheckSimulation, WritesEveryDatasetUnderANameOfItsOwn) {
  for (const char* taken : {"patterns", "/patterns", "patterns/at", "truth", "truth/at", "/"})
    EXPECT_THAT(simulation_complaint({text("data.positions=", taken)}),
                AllOf(HasSubstr("data.positions"), HasSubstr(taken)))
        << taken;
  EXPECT_THAT(simulation_complaint({"data.positions=patterns_at"}), IsEmpty());
}

TEST(DifferingKey, IsNoneThatTheDeckLeavesToThePatterns) {
  const auto differing = [](const std::string& asked, const std::string& found) {
    const auto adam = [](const std::string& key) {
      return parsed(xray_deck, {"solver.method=adam", key});
    };
    return differing_key(adam(asked), adam(found));
  };
  EXPECT_EQ(differing("solver.object_step=auto", "solver.object_step=0.02"), "");
  EXPECT_EQ(differing("solver.noise=auto", "solver.noise=poisson"), "");
  EXPECT_EQ(differing("solver.object_step=0.01", "solver.object_step=0.02"), "solver.object_step");
  EXPECT_EQ(differing("solver.noise=amplitude", "solver.noise=poisson"), "solver.noise");
  EXPECT_EQ(differing("solver.epochs=10", "solver.epochs=20"), "");
  EXPECT_EQ(differing("solver.probe_step=0.1", "solver.epochs=10"), "solver.probe_step");
  EXPECT_EQ(differing_key(parsed(xray_deck, {"probe.opr_trial_epoch=5"}),
                          parsed(xray_deck, {"probe.opr_trial_epoch=5", "probe.opr_modes=2"})),
            "");
  EXPECT_EQ(differing("solver.epochs=10", "probe.opr_modes=2"), "probe.opr_modes");
}

}  // namespace
}  // namespace tessera::deck
