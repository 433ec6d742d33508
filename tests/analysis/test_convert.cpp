// Results and scans as other programs read them, by readers of the test's own where there is none.

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"

#include "analysis/convert.hpp"
#include "analysis/init.hpp"
#include "io/array_file.hpp"
#include "io/scan_reader.hpp"
#include "support/scratch_folder.hpp"
#include "support/world.hpp"

namespace tessera::analysis {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::world;

constexpr int n = 2;  // slices, and modes
const Shape2 shape{3, 5};

/// A value of image i that floats hold exactly.
std::complex<double> value(int i, int y, int x) {
  return {1 + 0.25 * i + 0.5 * y, 0.125 * x - i};
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
T number_in(const std::string& bytes, std::size_t at) {
  T number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

/// The real parts of MATLAB's arrays, or the imaginary ones behind "name i", as they stand.
std::map<std::string, std::vector<double>> read_mat(const std::string& path) {
  const std::string bytes = bytes_of(path);
  std::map<std::string, std::vector<double>> arrays;
  const auto next = [](std::uint32_t size) { return (size + 7) / 8 * 8; };
  for (std::size_t at = 128; at < bytes.size();) {
    EXPECT_EQ(number_in<std::uint32_t>(bytes, at), 14u) << "a matrix";
    const std::size_t end = at + 8 + number_in<std::uint32_t>(bytes, at + 4);
    at += 8 + 16;
    at += 8 + next(number_in<std::uint32_t>(bytes, at + 4));  // extents
    const auto n_name = number_in<std::uint32_t>(bytes, at + 4);
    std::string name = bytes.substr(at + 8, n_name);
    for (at += 8 + next(n_name); at < end; name += " i") {
      const auto size = number_in<std::uint32_t>(bytes, at + 4);
      std::vector<double>& values = arrays[name];
      for (std::size_t i = 0; i < size / 8; ++i)
        values.push_back(number_in<double>(bytes, at + 8 + 8 * i));
      at += 8 + next(size);
    }
    EXPECT_EQ(at, end);
  }
  return arrays;
}

/// Fields of a TIFF's directories by tag; a ratio as its quotient.
std::vector<std::map<int, double>> read_tiff_fields(const std::string& bytes) {
  EXPECT_EQ(bytes.substr(0, 4), std::string("II*\0", 4));
  std::vector<std::map<int, double>> pages;
  for (std::size_t at = number_in<std::uint32_t>(bytes, 4); at != 0;) {
    const auto n_fields = number_in<std::uint16_t>(bytes, at);
    std::map<int, double> fields;
    for (std::size_t field = at + 2; field < at + 2 + 12u * n_fields; field += 12) {
      const auto held = number_in<std::uint32_t>(bytes, field + 8);
      const bool is_ratio = number_in<std::uint16_t>(bytes, field + 2) == 5;
      fields[number_in<std::uint16_t>(bytes, field)] =
          is_ratio ? double(number_in<std::uint32_t>(bytes, held)) /
                         number_in<std::uint32_t>(bytes, held + 4)
                   : held;
    }
    pages.push_back(fields);
    at = number_in<std::uint32_t>(bytes, at + 2 + 12u * n_fields);
  }
  return pages;
}

class Convert : public ::testing::Test {
 protected:
  Convert() {
    io::File file = io::File::create(result_);
    std::vector<std::complex<double>> values;
    for (int i = 0; i < n; ++i)
      for (int y = 0; y < shape.h; ++y)
        for (int x = 0; x < shape.w; ++x) values.push_back(value(i, y, x));
    for (const char* name : {"object", "probe"}) {
      file.create_dataset(name, {n, shape.h, shape.w}, io::ElementType::complex64);
      file.write_slab(name, {0, 0, 0}, {n, shape.h, shape.w}, io::ElementType::complex128,
                      values.data());
    }
    file.write_doubles("positions_m", {2, 2}, {1e-6, 2e-6, 3e-6, 4e-6});
    file.write_doubles("object_origin_m", {2}, {-1e-7, -2e-7});
    file.set_attribute("/", "object_pixel_m", 1.5e-8);
    file.set_attribute("/", "wavelength_m", 1.5498024804150033e-10);
    file.set_attribute("/", "sample", "a star");
    file.close();
  }
  std::string converted(const std::string& name) {
    const std::string out = folder_.path(name);
    EXPECT_THAT(convert(result_, out, world()), HasSubstr(out));
    return out;
  }
  void expect_waves(const io::File& file, const std::string& name) {
    const WaveStack waves = file.read_waves(name);
    ASSERT_EQ(waves.shape(), shape);
    for (int i = 0; i < n; ++i)
      for (int y = 0; y < shape.h; ++y)
        for (int x = 0; x < shape.w; ++x) EXPECT_EQ(waves(i, y, x), value(i, y, x)) << name;
  }

  const testing::ScratchFolder folder_;
  const std::string result_ = folder_.path("result.h5");
};

TEST_F(Convert, ToCxi) {
  const io::File file = io::File::open(converted("out.cxi"));
  expect_waves(file, "entry_1/image_1/data");
  expect_waves(file, "entry_1/instrument_1/source_1/probe");
  EXPECT_EQ(file.read_doubles("entry_1/sample_1/geometry_1/translation"),
            (std::vector<double>{2e-6, 1e-6, 0, 4e-6, 3e-6, 0}));
  EXPECT_NEAR(file.read_doubles("entry_1/instrument_1/source_1/energy")[0], 1.2817413e-15, 1e-21);
  EXPECT_EQ(file.text_attribute("entry_1/instrument_1/source_1/energy", "units"), "J");
  EXPECT_EQ(file.read_doubles("entry_1/image_1/x_pixel_size")[0], 1.5e-8);
  EXPECT_EQ(file.read_text("entry_1/sample_1/name"), "a star");
}

TEST_F(Convert, ToPtypy) {
  const io::File file = io::File::open(converted("out.ptyr"));
  expect_waves(file, "content/obj/SscanG00/data");
  expect_waves(file, "content/probe/SscanG00/data");
  EXPECT_EQ(file.read_doubles("content/obj/SscanG00/_psize"),
            (std::vector<double>{1.5e-8, 1.5e-8}));
  EXPECT_EQ(file.read_doubles("content/obj/SscanG00/_origin"), (std::vector<double>{-1e-7, -2e-7}));
  EXPECT_NEAR(file.read_doubles("content/meta/energy")[0], 8.0, 1e-6);
}

TEST_F(Convert, ToNumpy) {
  const std::string out = converted("out.npz");
  const WaveStack probe = io::read_probe_file(out, "probe");
  for (int i = 0; i < n; ++i)
    for (int y = 0; y < shape.h; ++y)
      for (int x = 0; x < shape.w; ++x) EXPECT_EQ(probe(i, y, x), value(i, y, x));
  EXPECT_EQ(io::read_array(out, "positions_m").values,
            (std::vector<double>{1e-6, 2e-6, 3e-6, 4e-6}));
  EXPECT_EQ(io::read_array(out, "object_pixel_m").values, (std::vector<double>{1.5e-8}));
}

TEST_F(Convert, ToMatlabWithRowsFirst) {
  auto arrays = read_mat(converted("out.mat"));
  std::size_t at = 0;
  for (int i = 0; i < n; ++i)
    for (int x = 0; x < shape.w; ++x)
      for (int y = 0; y < shape.h; ++y, ++at) {
        EXPECT_EQ(arrays["object"].at(at), value(i, y, x).real());
        EXPECT_EQ(arrays["object i"].at(at), value(i, y, x).imag());
      }
  EXPECT_EQ(arrays["positions_m"], (std::vector<double>{1e-6, 3e-6, 2e-6, 4e-6}));
  EXPECT_EQ(arrays["wavelength_m"], (std::vector<double>{1.5498024804150033e-10}));
}

TEST_F(Convert, ToTiffWithItsScale) {
  const std::string bytes = bytes_of(converted("out.tif"));
  auto pages = read_tiff_fields(bytes);
  ASSERT_EQ(pages.size(), 2u * n);
  for (std::size_t page = 0; page < pages.size(); ++page) {
    auto& fields = pages[page];
    EXPECT_EQ(fields[256], shape.w);
    EXPECT_EQ(fields[257], shape.h);
    EXPECT_EQ(fields[339], 3) << "floats";
    EXPECT_NEAR(0.01 / fields[282], 1.5e-8, 1e-16) << "centimetres per pixel";
    for (int y = 0; y < shape.h; ++y)
      for (int x = 0; x < shape.w; ++x) {
        const auto expected = value(static_cast<int>(page) / 2, y, x);
        const auto found =
            number_in<float>(bytes, static_cast<std::size_t>(fields[273]) + 4u * (y * shape.w + x));
        EXPECT_EQ(found, static_cast<float>(page % 2 ? std::arg(expected) : std::abs(expected)));
      }
  }
}

TEST_F(Convert, RefusesEndingsItsOwnInputAndWhatIsThere) {
  const std::string there = folder_.path("measured.cxi");
  io::File::create(there).close();
  for (const std::string& out : {folder_.path("out.xyz"), result_, there}) try {
      convert(result_, out, world());
      ADD_FAILURE() << out;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::bad_input);
    }
}

/// What CXI holds of a scan with everything, and of the same again.
TEST_F(Convert, AScanToCxiKeepsValuesAndUnits) {
  const std::string detector = "entry_1/instrument_1/detector_1/";
  const std::string scan = folder_.path("scan.cxi");
  const io::Extents extents{4, 8, 8};
  std::vector<double> patterns;
  for (int i = 0; i < 256; ++i) patterns.push_back(i % 97 + (i % 8 == 4) * 500);
  std::vector<double> mask(64, 0);
  mask[9] = 1;
  io::File file = io::File::create(scan);
  file.create_dataset("entry_1/data_1/data", extents, io::ElementType::u16);
  file.write_slab("entry_1/data_1/data", {0, 0, 0}, extents, io::ElementType::f64, patterns.data());
  file.write_doubles("entry_1/data_1/translation", {4, 3},
                     {0, 0, 0, 1e-7, 0, 0, 0, 2e-7, 0, 3e-7, 3e-7, 0});
  file.write_doubles(detector + "mask", {8, 8}, mask);
  file.write_doubles(detector + "dark", {8, 8}, std::vector<double>(64, 0.5));
  file.write_doubles(detector + "distance", {}, {1.25});
  file.write_doubles(detector + "x_pixel_size", {}, {55e-6});
  file.write_doubles("entry_1/instrument_1/source_1/energy", {}, {1.25e-15});
  file.write_text("entry_1/title", "a title");
  file.close();
  const std::string out = folder_.path("again.cxi");
  convert(scan, out, world());
  const io::File again = io::File::open(out);
  EXPECT_EQ(again.info(detector + "data").type, io::ElementType::u16);
  EXPECT_EQ(again.read_doubles(detector + "data"), patterns);
  EXPECT_EQ(again.read_doubles(detector + "mask"), mask);
  const auto draft_of = [&](const std::string& path) {
    std::string report = draft_deck(path, folder_.path("scan.toml")).report;
    return report.substr(report.find('\n'), report.rfind("deck") - report.find('\n'));
  };
  EXPECT_EQ(draft_of(out), draft_of(scan));
  for (const auto& [name, expected] :
       {std::pair{detector + "distance", 1.25}, std::pair{detector + "x_pixel_size", 55e-6},
        std::pair{detector + "dark", 0.5}})
    EXPECT_DOUBLE_EQ(again.read_doubles(name)[0], expected);
  EXPECT_NEAR(again.read_doubles("entry_1/instrument_1/source_1/energy")[0], 1.25e-15, 1e-22);
  EXPECT_EQ(again.read_text("entry_1/title"), "a title");
  EXPECT_EQ(again.read_text("entry_1/definition"), "NXcxi_ptycho");
  EXPECT_EQ(again.text_attribute("entry_1/instrument_1/detector_1", "NX_class"), "NXdetector");
  EXPECT_EQ(again.read_doubles("entry_1/data_1/data"), patterns);
  EXPECT_EQ(again.read_doubles("entry_1/data_1/translation")[3], 1e-7);
}

}  // namespace
}  // namespace tessera::analysis
