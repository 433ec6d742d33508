// DigitalMicrograph's files.
#include "io/known_formats.hpp"

namespace tessera::io {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;

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
  const Numbers values = patterns(0, n_positions);
  const bool has_frames_last = n_axes == 4 && !is_swapped;
  for (std::int64_t i = 0; i < std::ssize(values); ++i) {
    const std::int64_t from =
        has_frames_last ? i % n_positions * shape.size() + i / n_positions : i;
    append(dm.bytes, static_cast<std::uint16_t>(values[static_cast<std::size_t>(from)]));
  }
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
  EXPECT_THAT(said.statements, says("experiment.voltage_V", "3e+05"));
  // 0.5 / nm times 1.96875 pm.
  EXPECT_THAT(said.statements, says("experiment.detector_pixel_rad", "0.00098437"));
  EXPECT_THAT(said.statements, says("data.raster_step_m", "[2e-06, 2e-09]"));

  world().barrier();  // all have read it
  on_root([&] { write(source_.path, dm_file(4, {cube[2], cube[3], cube[0], cube[1]}, false)); });
  expect_the_scan("dm", false);
  EXPECT_EQ(describe_scan(source_.path).said.statements.size(), said.statements.size());
  EXPECT_THAT(describe_scan(source_.path).said.statements,
              says("data.raster_step_m", "[2e-06, 2e-09]"));

  world().barrier();
  on_root([&] { write(source_.path, dm_file(4, {cube[0], cube[1], {9, 1, u""}}, false)); });
  expect_the_scan("dm", false);
}

TEST_F(KnownFormats, DigitalMicrographThatCannotBeRead) {
  source_.path = folder_.file("scan.dm4");
  source_.positions.reset();
  const std::vector<DmAxis> cube{{3, 1, u""}, {3, 1, u""}, {6, 1, u""}, {5, 1, u""}};
  on_root([&] { write(source_.path, dm_file(4, {cube[0], cube[1]}, true)); });
  EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }), HasSubstr("no scan"));
  for (const int n_bytes : {20, 60, 150, 400})
    for (const int version : {3, 4}) {
      on_root([&] { write(source_.path, dm_file(version, cube, true).substr(0, n_bytes)); });
      EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }),
                  AllOf(HasSubstr("scan.dm4"), HasSubstr("cut short")));
    }
}

}  // namespace
}  // namespace tessera::io
