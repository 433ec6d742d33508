// HDF5 files as others write them.
#include <filesystem>

#include "io/known_formats.hpp"

namespace tessera::io {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using namespace testing;

TEST_F(KnownFormats, Cxi) {
  on_root([&] {
    add("entry_1/data_1/data", {{n, 5, 6}, H5T_STD_U16LE, {2, 5, 6}, 1}, patterns(0, 9));
    add("entry_1/data_1/translation", {.extents = {n, 3}},
        of_all([](Vec2 at) { return Numbers{at.x, at.y, 0}; }));
    Numbers mask(30, 0);
    mask[0] = 1;      // invalid
    mask[8] = 0x820;  // in a peak, corrected: harmless
    add("entry_1/instrument_1/detector_1/mask", {{5, 6}, H5T_STD_U32LE}, mask);
    add_number("entry_1/instrument_1/source_1/energy", 1.602176634e-15);
    add_number("entry_1/instrument_1/detector_1/distance", 2.5);
    add_number("entry_1/instrument_1/detector_1/x_pixel_size", 75e-6);
  });
  expect_the_scan("cxi");
  EXPECT_THAT(description().statements,
              AllOf(Contains(AllOf(Field(&Statement::key, "experiment.energy_eV"),
                                   Field(&Statement::value, "10000"))),
                    Contains(AllOf(Field(&Statement::key, "experiment.distance_m"),
                                   Field(&Statement::value, "2.5")))));
}

TEST_F(KnownFormats, NexusOfPtychography) {
  on_root([&] {
    const std::string sample = "entry/sample/transformations/sample_";
    add("entry/data/data", {{n, 5, 6}, H5T_STD_U16LE}, patterns(0, 9));
    add_number("entry/instrument/detector/distance", 2.5);
    add(sample + "y", {.extents = {n}}, of_all([](Vec2 at) { return Numbers{at.y}; }));
    add(sample + "x", {.extents = {n}}, of_all([](Vec2 at) { return Numbers{at.x}; }));
  });
  expect_the_scan("dectris");
}

TEST_F(KnownFormats, WhatNexusCallsTheProbeIsNoWave) {
  on_root([&] {
    add("entry_1/data_1/data", {{n, 5, 6}, H5T_STD_U16LE}, patterns(0, 9));
    add_number("entry_1/instrument_1/source_1/probe", 1);
    add("entry_1/instrument_1/detector_1/probe", {.extents = {5, 6}}, Numbers(30, 1));
  });
  EXPECT_EQ(description().probe, "entry_1/instrument_1/detector_1/probe");
}

TEST_F(KnownFormats, PositionsOfMatlabAndAMaskThatLiesApart) {
  source_.path = path_;
  source_.bad_pixels = "mask";
  source_.mask_file = folder_.file("mask.h5");
  on_root([&] {
    Numbers columns;
    for (int p = 0; p < n_positions; ++p) columns.push_back(position(p).y);
    for (int p = 0; p < n_positions; ++p) columns.push_back(position(p).x);
    add("patterns", {{n, 8, 8}, H5T_STD_U16LE}, Numbers(n * 64, 1));
    add("positions", {.extents = {2, n}}, columns);
    Numbers mask(64, 0);
    mask[0] = 1;
    add_dataset(source_.mask_file, "mask", {.extents = {8, 8}}, mask);
  });
  EXPECT_EQ(description().positions, "positions");
  source_.positions = "positions";
  const ScanInfo info = read_scan_info(source_, world());
  EXPECT_DOUBLE_EQ(info.positions_m[3].y, position(3).y);
  EXPECT_DOUBLE_EQ(info.positions_m[3].x, position(3).x);
  EXPECT_EQ(info.valid_pixels(0, 0, 0), 0);
  const std::vector<int> owner(n_positions, 0);
  EXPECT_NO_THROW(read_all(source_, info, owner, positions_of(owner, world().rank()), world(), 1));
}

TEST_F(KnownFormats, CxiOfPynxWithColumnsFirstAndRowsThatRunUp) {
  on_root([&] {
    add("entry_1/instrument_1/detector_1/data", {{n, 5, 6}, H5T_STD_U16LE}, patterns(0, 9));
    Numbers translation(3 * n, 0);
    for (int p = 0; p < n_positions; ++p) {
      translation[static_cast<std::size_t>(p)] = position(p).x;
      translation[n + static_cast<std::size_t>(p)] = -position(p).y;
    }
    add("entry_1/sample_1/geometry_1/translation", {.extents = {3, n}}, translation);
    add("entry_1/instrument_1/detector_1/basis_vectors", {.extents = {2, 3}},
        {0, 75e-6, 0, -75e-6, 0, 0});
    add_number("entry_1/instrument_1/source_1/energy", 9500);  // not joules
  });
  expect_the_scan("cxi");
  EXPECT_THAT(description().warnings, Contains(HasSubstr("rows run up")));
  EXPECT_THAT(description().warnings,
              Contains(AllOf(HasSubstr("energy"), HasSubstr("taken as eV"))));
}

TEST_F(KnownFormats, DectrisMasterWithFilesOfFrames) {
  write_dectris();
  source_.positions.reset();
  expect_the_scan("dectris", false);
  EXPECT_THAT(description().statements, says("data.saturation_counts", "65535"));
  EXPECT_THAT(description().statements,
              Contains(AllOf(Field(&Statement::key, "experiment.energy_eV"),
                             Field(&Statement::value, "8000"))));
}

TEST_F(KnownFormats, CxiOfSpeckleTracking) {
  on_root([&] {
    add("entry_1/data_1/data", {{n, 5, 6}, H5T_STD_U16LE}, patterns(0, 9));
    add("entry_1/sample_3/geometry/translations", {.extents = {n, 3}},
        of_all([](Vec2 at) { return Numbers{1e6 * at.x, 1e6 * at.y, 0}; }));
    add_text(path_, "entry_1/sample_3/geometry/translations", "units", "um");
    Numbers mask(30, 1);
    mask[0] = 0;
    add("speckle_tracking/mask", {.extents = {5, 6}}, mask);
    add("entry_1/instrument_1/detector_1/mask", {.extents = {5, 6}}, Numbers(30, 0));
  });
  const ScanInfo info = read_scan_info(source_, world());
  EXPECT_EQ(info.valid_pixels(0, 0, 0), 0);
  EXPECT_EQ(std::accumulate(info.valid_pixels.begin(), info.valid_pixels.end(), 0), 29);
  for (int p = 0; p < n_positions; ++p)
    EXPECT_NEAR(info.positions_m[static_cast<std::size_t>(p)].y, position(p).y, 1e-18);
}

TEST_F(KnownFormats, DectrisMasterBesideTheMicroscopesFile) {
  source_.path = folder_.file("scan_master.h5");
  write_dectris();
  on_root([&] {
    std::filesystem::rename(path_, source_.path);
    const std::string beside = folder_.file("scan_em_metadata.h5");
    const std::string scan = "electron_microscope/scan_controller/regular_scan/";
    add_dataset(beside, scan + "n_pixels_y", {.extents = {1}}, {3});
    add_dataset(beside, scan + "n_pixels_x", {.extents = {1}}, {3});
    for (const std::string axis : {"y", "x"}) {
      add_dataset(beside, scan + "pixel_size_" + axis, {.extents = {1}}, {0.5});
      add_text(beside, scan + "pixel_size_" + axis, "units", "nm");
    }
    const std::string angle = "electron_microscope/illumination_system/semi_convergence_angle";
    add_dataset(beside, angle, {.extents = {1}}, {20});
    add_text(beside, angle, "units", "mrad");
  });
  EXPECT_THAT(description().statements, AllOf(says("data.raster_shape", "[3, 3]"),
                                              says("data.raster_step_m", "[5e-10, 5e-10]"),
                                              says("probe.semi_angle_rad", "0.02")));
  world().barrier();  // all have read it
  on_root([&] {
    std::filesystem::remove(folder_.file("scan_em_metadata.h5"));
    const std::string beside = folder_.file("scan.h5");
    add_dataset(beside, "STEM Metadata/nothing", {.extents = {1}}, {0});
    const hid_t file = H5Fopen(beside.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hsize_t one = 1;
    const hid_t space = H5Screate_simple(1, &one, nullptr);
    const hid_t size = H5Acreate_by_name(file, "STEM Metadata", "Pixel Size", H5T_NATIVE_DOUBLE,
                                         space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const double nm = 0.25;
    H5Awrite(size, H5T_NATIVE_DOUBLE, &nm);
    H5Aclose(size);
    H5Sclose(space);
    H5Fclose(file);
  });
  EXPECT_THAT(description().statements, says("data.raster_step_m", "[2.5e-10, 2.5e-10]"));
}

TEST_F(KnownFormats, AnyHdf5FileWithLinksAndPositionsByTheirNamesAndUnits) {
  on_root([&] {
    add_dataset(folder_.file("frames.h5"), "frames", {{n, 9, 8}, H5T_STD_U16LE},
                encoded_patterns(n_positions, {9, 8}, 1));
    add("entry/measurement/spectra", {{n, 4, 200}, H5T_STD_U16LE}, Numbers(n * 800, 1));
    add("entry/measurement/lab_sy", {.extents = {n}},
        of_all([](Vec2 at) { return Numbers{1e6 * at.y}; }));
    add("entry/measurement/lab_sx", {.extents = {n}},
        of_all([](Vec2 at) { return Numbers{1e3 * at.x}; }));
    add_text(path_, "entry/measurement/lab_sy", "units", "\xc2\xb5m");
    add_text(path_, "entry/measurement/lab_sx", "units", "mm");
    add_link(path_, "entry/detector", "frames.h5", "/");
  });
  const ScanDescription said = description();
  EXPECT_EQ(said.patterns, "entry/detector/frames");
  EXPECT_EQ(said.positions, "entry/measurement/lab_sy, entry/measurement/lab_sx");
  EXPECT_EQ(said.positions_scale, (Vec2{1e-6, 1e-3}));
}

TEST_F(KnownFormats, VeloxWithFramesLastAndJson) {
  on_root([&] {
    const Numbers frames = patterns(0, 9);
    Numbers frames_last(frames.size());
    for (int p = 0; p < n_positions; ++p)
      for (int r = 0; r < shape.size(); ++r)
        frames_last[static_cast<std::size_t>(r * n_positions + p)] =
            frames[static_cast<std::size_t>(p * shape.size() + r)];
    add("Data/Image/a4/Data", {{5, 6, n}, H5T_STD_U16LE, {5, 6, 2}, 1}, frames_last);
    const std::string words =
        R"({"Optics": {"AccelerationVoltage": "300000", "BeamConvergence": "0.02"},
            "BinaryResult": {"PixelSize": {"width": "5e8"}, "PixelUnitX": "1/m"}})";
    Numbers metadata(2 * words.size() + 20, 0);
    for (std::size_t i = 0; i < words.size(); ++i) metadata[2 * i] = words[i];
    add("Data/Image/a4/Metadata", {{words.size() + 10, 2}, H5T_STD_U8LE}, metadata);
  });
  source_.positions.reset();
  expect_the_scan("velox", false);
  EXPECT_THAT(description().statements,
              AllOf(says("experiment.voltage_V", "3e+05"), says("probe.semi_angle_rad", "0.02"),
                    says("experiment.detector_pixel_rad", "0.00098437")));
}

TEST_F(KnownFormats, NionWithJson) {
  on_root([&] {
    add("data/x1", {{3, 3, 5, 6}, H5T_STD_U16LE}, patterns(0, 9));
    add_text(path_, "data/x1", "properties",
             R"({"spatial_calibrations": [{"scale": 2, "units": "nm"}, {"scale": 3, "units": "nm"},
                 {"scale": 4e-5, "units": "rad"}, {"scale": 4e-5, "units": "rad"}],
                 "metadata": {"instrument": {"high_tension": 60000}}})");
  });
  source_.positions.reset();
  expect_the_scan("nion", false);
  EXPECT_THAT(description().statements, AllOf(says("experiment.voltage_V", "60000"),
                                              says("data.raster_step_m", "[2e-09, 3e-09]"),
                                              says("experiment.detector_pixel_rad", "4e-05")));
}

TEST_F(KnownFormats, DectrisMasterWhoseFramesAreNotThere) {
  write_dectris();
  on_root([&] { std::filesystem::remove(folder_.file("scan_data_000002.h5")); });
  EXPECT_THAT(
      agreed_error([&] { read_scan_info(source_, world()); }),
      AllOf(HasSubstr("data_000002"), HasSubstr("scan_data_000002.h5"), HasSubstr("not there")));
}

TEST_F(KnownFormats, PtypyWithSeveralChunks) {
  on_root([&] {
    const Numbers positions = of_all([](Vec2 at) { return Numbers{at.y, at.x}; });
    for (int chunk = 0; chunk < 3; ++chunk) {
      const std::string group = "chunks/" + std::to_string(chunk);
      add(group + "/data", {{3, 5, 6}, H5T_STD_U16LE}, patterns(3 * chunk, 3 * chunk + 3));
      add(group + "/positions", {.extents = {3, 2}},
          {positions.begin() + 6 * chunk, positions.begin() + 6 * chunk + 6});
    }
    Numbers weight(30, 1);
    weight[0] = 0;
    add("meta/weight2d", {.extents = {5, 6}}, weight);
    add_number("meta/energy", 7.2);
  });
  expect_the_scan("ptypy");
  EXPECT_THAT(description().statements,
              Contains(AllOf(Field(&Statement::key, "experiment.energy_eV"),
                             Field(&Statement::value, "7200"))));
}

TEST_F(KnownFormats, PtychodusPair) {
  const std::string parameters = folder_.file("star_para.hdf5");
  source_.path = folder_.file("star_dp.hdf5");
  on_root([&] {
    add_dataset(source_.path, "dp", {{n, 5, 6}, H5T_STD_U16LE}, patterns(0, 9));
    add_dataset(parameters, "probe_position_y_m", {.extents = {n}},
                of_all([](Vec2 at) { return Numbers{at.y}; }));
    add_dataset(parameters, "probe_position_x_m", {.extents = {n}},
                of_all([](Vec2 at) { return Numbers{at.x}; }));
  });
  expect_the_scan("ptychodus");
}

TEST_F(KnownFormats, Py4dstem) {
  on_root([&] {
    const std::string cube = "datacube_root/datacube";
    add(cube + "/data", {{3, 3, 5, 6}, H5T_STD_U16LE}, patterns(0, 9));
    for (const int axis : {0, 1}) {
      const std::string dim = cube + "/dim" + std::to_string(axis);
      add(dim, {.extents = {2}}, {0, 2.5});
      add_text(path_, dim, "units", "A");
    }
    for (const int axis : {2, 3}) {
      const std::string dim = cube + "/dim" + std::to_string(axis);
      add(dim, {.extents = {2}}, {0, 0.4});
      add_text(path_, dim, "units", "mrad");
    }
    add_text(path_, cube, "emd_group_type", "array");
  });
  source_.positions.reset();
  expect_the_scan("emd", false);
  EXPECT_EQ(read_scan_info(source_, world()).raster, (std::vector<int>{3, 3}));
  EXPECT_THAT(description().statements,
              AllOf(Contains(AllOf(Field(&Statement::key, "data.raster_step_m"),
                                   Field(&Statement::value, "[2.5e-10, 2.5e-10]"))),
                    Contains(AllOf(Field(&Statement::key, "experiment.detector_pixel_rad"),
                                   Field(&Statement::value, "4e-04")))));
}

TEST_F(KnownFormats, AFileThatIsNotWhatItIsSaidToBe) {
  on_root([&] { add("data", {{n, 5, 6}, H5T_STD_U16LE}, patterns(0, 9)); });
  source_.format = "cxi";
  EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }),
              AllOf(HasSubstr("scan.h5"), HasSubstr("data.format = \"cxi\"")));
}

TEST_F(KnownFormats, AFileOfAnotherKindThanForced) {
  on_root([&] { add("data", {{n, 5, 6}, H5T_STD_U16LE}, patterns(0, 9)); });
  for (const std::string format : {"numpy", "mib", "empad", "dm", "tiff", "matlab"}) {
    source_.format = format;
    EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }),
                AllOf(HasSubstr("scan.h5"), HasSubstr("data.format = \"" + format + '"')));
  }
}

TEST_F(KnownFormats, DatasetsThatAreNamedAreReadWhateverElseTheFileIs) {
  on_root([&] {
    add("entry_1/data_1/data", {{n, 5, 6}, H5T_STD_U16LE}, Numbers(270, 1));
    add("better", {{n, 5, 6}, H5T_STD_U16LE}, patterns(0, 9));
  });
  source_.patterns = "better";
  source_.positions.reset();
  expect_the_scan("hdf5", false);
}

}  // namespace
}  // namespace tessera::io
