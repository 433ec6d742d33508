// Files as others write them hold the same scan as a plain HDF5 file: positions, mask, patterns.
#include <cstring>
#include <fstream>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "io/all_patterns.hpp"
#include "io/scan_file.hpp"
#include "io/scan_format.hpp"

namespace tessera::io {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace testing;
using tessera::testing::world;

constexpr int n_positions = 9;
const Shape2 shape{5, 6};
const auto n = static_cast<hsize_t>(n_positions);

Vec2 position(int p) {
  return {1e-6 * p, -2e-6 * p + 1e-7};
}

/// Some numbers of every position, one after another.
template <class NumbersOf>
std::vector<double> of_all(const NumbersOf& numbers_of) {
  std::vector<double> all;
  for (int p = 0; p < n_positions; ++p)
    for (const double value : numbers_of(position(p))) all.push_back(value);
  return all;
}

using Numbers = std::vector<double>;

Numbers patterns(int begin, int end) {
  const Numbers all = encoded_patterns(n_positions, shape, 1);
  return {all.begin() + begin * shape.size(), all.begin() + end * shape.size()};
}

void add_text(const std::string& path, const std::string& object, const std::string& name,
              const std::string& value) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, value.size() + 1);
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate_by_name(file, object.c_str(), name.c_str(), type, space,
                                            H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, value.c_str());
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
  H5Fclose(file);
}

void add_link(const std::string& path, const std::string& name, const std::string& to_file,
              const std::string& to_name) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  H5Lcreate_external(to_file.c_str(), to_name.c_str(), file, name.c_str(), links, H5P_DEFAULT);
  H5Pclose(links);
  H5Fclose(file);
}

/// The header of NumPy's format 1.0, as numpy.save writes it.
std::string numpy_header(const std::string& type, const std::string& extents) {
  std::string words =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + extents + "), }";
  words.resize((words.size() + 11 + 63) / 64 * 64 - 11, ' ');
  words += '\n';
  std::string header = "\x93NUMPY\x01";
  header += '\0';
  header += static_cast<char>(words.size() % 256);
  header += static_cast<char>(words.size() / 256);
  return header + words;
}

template <class T>
void append(std::string& bytes, T value, bool big_endian = false) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  if (big_endian) std::reverse(raw, raw + sizeof(T));
  bytes.append(raw, sizeof(T));
}

class KnownFormats : public ::testing::Test {
 protected:
  void add(const std::string& name, const Storage& storage, const Numbers& values) {
    add_dataset(path_, name, storage, values);
  }
  void add_number(const std::string& name, double value) { add(name, {.extents = {1}}, {value}); }
  void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  /// Patterns, positions and a mask that leaves out pixel (0, 0), as every file here holds them.
  void expect_the_scan(const std::string& format, bool has_positions = true) {
    const ScanInfo info = read_scan_info(source_, world());
    EXPECT_EQ(info.format->name, format);
    ASSERT_EQ(info.n_positions, n_positions);
    EXPECT_EQ(info.type, PatternType::u16);
    const bool has_mask = info.valid_pixels(0, 0, 0) == 0;
    EXPECT_EQ(std::accumulate(info.valid_pixels.begin(), info.valid_pixels.end(), 0),
              shape.size() - has_mask);
    ASSERT_EQ(info.positions_m.size(), std::size_t(has_positions ? n_positions : 0));
    for (std::size_t p = 0; p < info.positions_m.size(); ++p) {
      EXPECT_DOUBLE_EQ(info.positions_m[p].y, position(static_cast<int>(p)).y);
      EXPECT_DOUBLE_EQ(info.positions_m[p].x, position(static_cast<int>(p)).x);
    }
    std::vector<int> owner;
    for (int p = 0; p < n_positions; ++p) owner.push_back((p * 5 + 1) % world().size());
    const std::vector<int> mine = positions_of(owner, world().rank());
    const AllPatterns read = read_all(source_, info, owner, mine, world(), 1);
    const auto* values = reinterpret_cast<const std::uint16_t*>(read.values.data());
    for (const int p : mine)
      for (int y = 0; y < shape.h; ++y)
        for (int x = 0; x < shape.w; ++x)
          EXPECT_EQ(*values++, has_mask && y + x == 0 ? 0 : encoded(p, y, x)) << p;
    double bytes_read = static_cast<double>(read.bytes_read);
    world().sum(std::span(&bytes_read, 1));
    EXPECT_EQ(bytes_read, 2.0 * n_positions * shape.h * shape.w) << "each byte once";
  }

  ScanDescription description() {
    ScanSource source{.path = source_.path, .patterns = "", .positions = {}, .valid_pixels = {}};
    return *find_format(source).describe(source_.path);
  }

  /// A master file and two files of frames.
  void write_dectris() {
    on_root([&] {
      add_dataset(folder_.file("scan_data_000001.h5"), "entry/data/data",
                  {{4, 5, 6}, H5T_STD_U16LE, {1, 5, 6}, 1}, patterns(0, 4));
      add_dataset(folder_.file("scan_data_000002.h5"), "entry/data/data",
                  {{5, 5, 6}, H5T_STD_U16LE, {1, 5, 6}, 1}, patterns(4, 9));
      Numbers mask(30, 0);
      mask[0] = 2;
      add("entry/instrument/detector/detectorSpecific/pixel_mask", {{5, 6}, H5T_STD_U32LE}, mask);
      add_number("entry/instrument/beam/incident_wavelength", 1.5498024804150032);
      add_number("entry/instrument/detector/x_pixel_size", 75e-6);
      add_link(path_, "entry/data/data_000001", "scan_data_000001.h5", "/entry/data/data");
      add_link(path_, "entry/data/data_000002", "scan_data_000002.h5", "/entry/data/data");
    });
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.file("scan.h5");
  ScanSource source_{path_, "patterns", "positions_m", {}, false};
};

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
  EXPECT_THAT(description().statements,
              Contains(AllOf(Field(&Statement::key, "experiment.energy_eV"),
                             Field(&Statement::value, "8000"))));
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

TEST_F(KnownFormats, NumpyWithTextBesideIt) {
  source_.path = folder_.file("patterns.npy");
  source_.positions_file = folder_.file("positions.csv");
  source_.positions_columns = std::array{2, 1};
  source_.positions_scale = {1e-6, -1e-6};
  source_.bad_pixels = "mask";
  source_.mask_file = folder_.file("mask.npy");
  on_root([&] {
    std::string bytes = numpy_header(">u2", "9, 5, 6");
    for (const double value : patterns(0, 9))
      append(bytes, static_cast<std::uint16_t>(value), true);
    write(source_.path, bytes);
    std::string mask = numpy_header("|b1", "5, 6") + std::string(30, '\0');
    mask[mask.size() - 30] = 1;
    write(source_.mask_file, mask);
    std::ofstream table(source_.positions_file);
    table.precision(17);
    table << "# from the stage\nn; x_um; y_um\n";
    for (int p = 0; p < n_positions; ++p)
      table << p << "; " << -1e6 * position(p).x << "; " << 1e6 * position(p).y << '\n';
  });
  const ScanInfo info = read_scan_info(source_, world());
  for (int p = 0; p < n_positions; ++p) {
    EXPECT_NEAR(info.positions_m[static_cast<std::size_t>(p)].y, position(p).y, 1e-20);
    EXPECT_NEAR(info.positions_m[static_cast<std::size_t>(p)].x, position(p).x, 1e-20);
  }
  source_.positions_file.clear();
  source_.positions.reset();
  expect_the_scan("numpy", false);
}

TEST_F(KnownFormats, NumpyCutShort) {
  source_.path = folder_.file("patterns.npy");
  on_root([&] { write(source_.path, numpy_header("<u2", "9, 5, 6") + std::string(100, 'x')); });
  EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }),
              AllOf(HasSubstr("data.file"), HasSubstr("patterns.npy"), HasSubstr("cut short")));
}

TEST_F(KnownFormats, Merlin) {
  source_.path = folder_.file("scan.mib");
  source_.positions.reset();
  on_root([&] {
    std::string bytes;
    const Numbers all = patterns(0, 9);
    for (int p = 0; p < n_positions; ++p) {
      std::string header = "MQ1,00000" + std::to_string(p + 1) + ",00384,01,0006,0005,U16,1x1,01,";
      header.resize(384, ' ');
      bytes += header;
      for (int r = 0; r < shape.size(); ++r)
        append(bytes, static_cast<std::uint16_t>(all[static_cast<std::size_t>(p * 30 + r)]), true);
    }
    write(source_.path, bytes);
  });
  expect_the_scan("mib", false);
}

/// What write_tiff makes has floats; a stack of 16-bit pages, big endian, as ImageJ writes them.
TEST_F(KnownFormats, TiffWithAPageForEachPattern) {
  source_.path = folder_.file("scan.tif");
  source_.positions.reset();
  on_root([&] {
    const Numbers all = patterns(0, 9);
    std::string bytes("MM\0*", 4);
    append(bytes, std::uint32_t{8}, true);
    for (int p = 0; p < n_positions; ++p) {
      const auto at = static_cast<std::uint32_t>(bytes.size());
      const std::uint32_t values_at = at + 2 + 6 * 12 + 4;
      append(bytes, std::uint16_t{6}, true);
      for (const auto& [tag, value] : std::vector<std::pair<int, std::uint32_t>>{
               {256, 6}, {257, 5}, {258, 16}, {259, 1}, {273, values_at}, {279, 60}}) {
        append(bytes, static_cast<std::uint16_t>(tag), true);
        append(bytes, std::uint16_t{4}, true);
        append(bytes, std::uint32_t{1}, true);
        append(bytes, value, true);
      }
      append(bytes, p + 1 < n_positions ? values_at + 60 : std::uint32_t{0}, true);
      for (int r = 0; r < shape.size(); ++r)
        append(bytes, static_cast<std::uint16_t>(all[static_cast<std::size_t>(p * 30 + r)]), true);
    }
    write(source_.path, bytes);
  });
  expect_the_scan("tiff", false);
  on_root([&] { std::filesystem::resize_file(source_.path, 500); });
  EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }), HasSubstr("cut short"));
}

/// (y, x, position) in MATLAB's order.
std::string matlab_array() {
  std::string bytes;
  const auto add = [&](const std::vector<std::uint32_t>& words) {
    for (const std::uint32_t word : words) append(bytes, word);
  };
  add({14, 16 + 24 + 16 + 8 + 544, 6, 8, 11, 0, 5, 12, 5, 6, n_positions, 0, 1, 4});
  bytes += std::string("scan\0\0\0\0", 8);
  add({4, 540});
  const Numbers all = patterns(0, 9);
  for (int p = 0; p < n_positions; ++p)
    for (int x = 0; x < shape.w; ++x)
      for (int y = 0; y < shape.h; ++y)
        append(bytes,
               static_cast<std::uint16_t>(all[static_cast<std::size_t>(p * 30 + y * shape.w + x)]));
  bytes.resize(bytes.size() + 4);
  return bytes;
}

/// As `save -v7`, MATLAB's default, writes it.
std::string deflated(const std::string& array) {
  std::string packed(compressBound(array.size()), '\0');
  auto n_packed = static_cast<uLongf>(packed.size());
  EXPECT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &n_packed,
                     reinterpret_cast<const Bytef*>(array.data()), array.size()),
            Z_OK);
  packed.resize(n_packed);
  std::string bytes;
  append(bytes, std::uint32_t{15});
  append(bytes, static_cast<std::uint32_t>(n_packed));
  return bytes + packed;
}

std::string matlab_file(const std::string& array) {
  std::string bytes = "MATLAB 5.0 MAT-file";
  bytes.resize(124, ' ');
  append(bytes, std::uint16_t{0x0100});
  return bytes + "IM" + array;
}

TEST_F(KnownFormats, MatlabWithRowsFastest) {
  source_.path = folder_.file("scan.mat");
  source_.positions.reset();
  source_.turn.transpose = true;
  for (const std::string& array : {matlab_array(), deflated(matlab_array())}) {
    on_root([&] { write(source_.path, matlab_file(array)); });
    expect_the_scan("matlab", false);
    world().barrier();  // all have read it
    on_root([&] { std::filesystem::resize_file(source_.path, array.size() + 100); });
    EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }), HasSubstr("cut short"));
  }
  std::string damaged = deflated(matlab_array());
  for (std::size_t i = 60; i < damaged.size(); ++i) damaged[i] = '\xff';
  on_root([&] { write(source_.path, matlab_file(damaged)); });
  EXPECT_THAT(agreed_error([&] { expect_the_scan("matlab", false); }),
              AllOf(HasSubstr("scan.mat"), HasSubstr("damaged")));
}

/// Tags as DigitalMicrograph writes them, versions 3 (words of 4 bytes) and 4 (of 8).
class DmBytes {
 public:
  explicit DmBytes(int version) : version_(version) {
    append(bytes, static_cast<std::uint32_t>(version), true);
    word(0);
    append(bytes, std::uint32_t{1}, true);  // data are little endian
    append(bytes, std::uint16_t{0}, true);
    word(1);
  }
  void group(const std::string& name, std::int64_t n_tags) {
    start(20, name);
    append(bytes, std::uint16_t{0}, true);
    word(n_tags);
  }
  template <class T>
  void number(const std::string& name, std::int64_t type, T value) {
    define(name, {type});
    append(bytes, value);
  }
  void words(const std::string& name, const std::u16string& units) {
    define(name, {20, 4, std::ssize(units)});
    for (const char16_t unit : units) append(bytes, static_cast<std::uint16_t>(unit));
  }
  void define(const std::string& name, const std::vector<std::int64_t>& definition) {
    start(21, name);
    bytes += "%%%%";
    word(std::ssize(definition));
    for (const std::int64_t part : definition) word(part);
  }
  std::string bytes;

 private:
  void start(int kind, const std::string& name) {
    bytes += static_cast<char>(kind);
    append(bytes, static_cast<std::uint16_t>(name.size()), true);
    bytes += name;
    if (version_ == 4) append(bytes, std::uint64_t{0}, true);
  }
  void word(std::int64_t value) {
    if (version_ == 4)
      append(bytes, static_cast<std::uint64_t>(value), true);
    else
      append(bytes, static_cast<std::uint32_t>(value), true);
  }
  int version_;
};

struct DmAxis {
  int extent;
  float scale;
  std::u16string units;
};

/// One image of 16-bit counts, behind a struct and a small picture.
std::string dm_file(int version, const std::vector<DmAxis>& axes, bool is_swapped) {
  DmBytes dm(version);
  const auto n_axes = static_cast<std::int64_t>(axes.size());
  dm.group("ImageList", 2);
  dm.group("", 1);
  dm.group("ImageData", 3);
  dm.number("DataType", 5, std::uint32_t{23});
  dm.define("Place", {15, 0, 2, 0, 5, 0, 6});
  dm.bytes += "12345678";
  dm.define("Data", {20, 15, 0, 2, 0, 10, 0, 10, 3});
  dm.bytes += "123456";
  dm.group("", 2);
  dm.group("ImageData", 4);
  dm.group("Calibrations", 1);
  dm.group("Dimension", n_axes);
  for (const DmAxis& axis : axes) {
    dm.group("", 2);
    dm.number("Scale", 6, axis.scale);
    dm.words("Units", axis.units);
  }
  dm.define("Data", {20, 4, n_positions * shape.size()});
  for (const double value : patterns(0, n_positions))
    append(dm.bytes, static_cast<std::uint16_t>(value));
  dm.number("DataType", 5, std::uint32_t{10});
  dm.group("Dimensions", n_axes);
  for (const DmAxis& axis : axes) dm.number("", 5, static_cast<std::uint32_t>(axis.extent));
  dm.group("ImageTags", 2);
  dm.group("Meta Data", 1);
  dm.number("Data Order Swapped", 8, static_cast<std::uint8_t>(is_swapped));
  dm.group("Microscope Info", 1);
  dm.number("Voltage", 6, 300000.F);
  return dm.bytes;
}

TEST_F(KnownFormats, DigitalMicrograph) {
  source_.path = folder_.file("scan.dm4");
  source_.positions.reset();
  const std::vector<DmAxis> cube{
      {6, 0.5F, u"1/nm"}, {5, 0.5F, u"1/nm"}, {3, 2, u"nm"}, {3, 2, u"\u00B5m"}};
  for (const int version : {3, 4}) {
    on_root([&] { write(source_.path, dm_file(version, cube, true)); });
    expect_the_scan("dm", false);
    EXPECT_THAT(read_scan_info(source_, world()).raster, ElementsAre(3, 3));
  }
  const ScanDescription said = describe_scan(source_.path).said;
  const auto says = [](const std::string& key, const std::string& value) {
    return Contains(
        AllOf(Field(&Statement::key, key), Field(&Statement::value, StartsWith(value))));
  };
  EXPECT_THAT(said.statements, says("experiment.voltage_V", "3e+05"));
  // 0.5 / nm times 1.96875 pm.
  EXPECT_THAT(said.statements, says("experiment.detector_pixel_rad", "0.00098437"));
  EXPECT_THAT(said.statements, says("data.raster_step_m", "[2e-06, 2e-09]"));

  world().barrier();  // all have read it
  on_root([&] { write(source_.path, dm_file(4, {cube[0], cube[1], {9, 1, u""}}, false)); });
  expect_the_scan("dm", false);
}

TEST_F(KnownFormats, DigitalMicrographThatCannotBeRead) {
  source_.path = folder_.file("scan.dm4");
  source_.positions.reset();
  const std::vector<DmAxis> cube{{3, 1, u""}, {3, 1, u""}, {6, 1, u""}, {5, 1, u""}};
  on_root([&] { write(source_.path, dm_file(4, cube, false)); });
  EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }),
              AllOf(HasSubstr("scan.dm4"), HasSubstr("rsciio")));
  on_root([&] { write(source_.path, dm_file(4, {cube[0], cube[1]}, true)); });
  EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }), HasSubstr("no scan"));
  for (const int n_bytes : {20, 60, 150, 400})
    for (const int version : {3, 4}) {
      on_root([&] { write(source_.path, dm_file(version, cube, true).substr(0, n_bytes)); });
      EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }),
                  AllOf(HasSubstr("scan.dm4"), HasSubstr("cut short")));
    }
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
