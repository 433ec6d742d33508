// Plain numbers as others write them: NumPy, Merlin, EMPAD, raw.
#include <array>

#include "tessera/base/text.hpp"

#include "io/known_formats.hpp"

namespace tessera::io {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace testing;

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

TEST_F(KnownFormats, ADescriptionOfAFileCutShortNamesIt) {
  source_.path = folder_.file("patterns.npz");
  on_root([&] { write(source_.path, "PK\3\4 and no more"); });
  EXPECT_THAT(agreed_error([&] { world().together([&] { describe_scan(source_.path); }); }),
              AllOf(HasSubstr(source_.path), HasSubstr("cut short")));
}

TEST_F(KnownFormats, NumpyHeadersThatCannotBe) {
  source_.path = folder_.file("patterns.npy");
  source_.positions.reset();
  using Header = std::array<const char*, 3>;  // type, shape, words of the error
  for (const auto& [type, extents, words] : {Header{"<u2", "99999999999999999999, 5, 6", "shape"},
                                             {"<u2", "-9, 5, 6", "shape"},
                                             {"<u2", "9, 2147483647, 2147483647", "cut short"},
                                             {"<u0", "9, 5, 6", "'u0'"},
                                             {"<q2", "9, 5, 6", "'q2'"},
                                             {"<t101", "9, 5, 6", "'t101'"},
                                             {"<c8", "9, 5, 6", "'c8'"},
                                             {"<u2", "9, 30", "shape (9, 30)"}}) {
    world().barrier();  // all have read the one before
    on_root(
        [&] { write(source_.path, numpy_header(type, extents) + std::string(9 * 60 * 4, 'x')); });
    EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }),
                AllOf(HasSubstr("data.file"), HasSubstr(source_.path), HasSubstr(words)));
  }
}

TEST_F(KnownFormats, AFileBesideWhoseNumbersAreNotReadIsNamed) {
  source_.path = folder_.file("patterns.npy");
  source_.positions.reset();
  source_.bad_pixels = "mask";
  source_.mask_file = folder_.file("mask.npy");
  on_root([&] {
    write(source_.path, numpy_header("|u1", "9, 5, 6") + std::string(9 * 30, '\3'));
    write(source_.mask_file, numpy_header("<q2", "5, 6") + std::string(60, '\1'));
  });
  EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }),
              AllOf(HasSubstr(source_.mask_file), HasSubstr("'q2'")));
}

/// As Merlin writes it: a header before each frame.
std::string merlin_file() {
  std::string bytes;
  const Numbers all = patterns(0, 9);
  for (int p = 0; p < n_positions; ++p) {
    std::string header = "MQ1,00000" + std::to_string(p + 1) + ",00384,01,0006,0005,U16,1x1,01,";
    header.resize(384, ' ');
    bytes += header;
    for (int r = 0; r < shape.size(); ++r)
      append(bytes, static_cast<std::uint16_t>(all[static_cast<std::size_t>(p * 30 + r)]), true);
  }
  return bytes;
}

TEST_F(KnownFormats, Merlin) {
  source_.path = folder_.file("scan.mib");
  source_.positions.reset();
  on_root([&] { write(source_.path, merlin_file()); });
  expect_the_scan("mib", false);
}

TEST_F(KnownFormats, MerlinWithItsHeaderFile) {
  source_.path = folder_.file("scan.hdr");
  source_.positions.reset();
  on_root([&] {
    write(folder_.file("scan.mib"), merlin_file());
    write(source_.path,
          "HDR,\t\nTime and Date Stamp (day, mnth, yr, hr, min, s):\t18/05/2020 16:51:48\r\n"
          "Frames in Acquisition (Number):\t9\nFrames per Trigger (Number):\t3\nEnd\t");
  });
  expect_the_scan("mib", false);
  EXPECT_EQ(read_scan_info(source_, world()).raster, (std::vector<int>{3, 3}));
  EXPECT_THAT(description().statements, says("measured_at", "\"18/05/2020 16:51:48\""));
}

/// Frames of 128 x 128 that hold their number and a pattern in a corner, with rows behind.
std::string empad_frames(int n_frames, int n_rows_behind) {
  std::string bytes;
  for (int p = 0; p < n_frames; ++p)
    for (int y = 0; y < 128 + n_rows_behind; ++y)
      for (int x = 0; x < 128; ++x)
        append(bytes, y < 128 ? static_cast<float>(1000 * p + 7 * y + x) : -1e9F);
  return bytes;
}

class Empad : public KnownFormats {
 protected:
  void expect_the_frames() {
    source_.positions.reset();
    const ScanInfo info = read_scan_info(source_, world());
    EXPECT_EQ(info.format->name, "empad");
    EXPECT_EQ(info.raster, (std::vector<int>{2, 3}));
    const std::vector<int> owner(6, 0);
    const std::vector<int> mine = positions_of(owner, world().rank());
    const AllPatterns read = read_all(source_, info, owner, mine, world());
    const auto* values = reinterpret_cast<const float*>(read.values.data());
    for (const int p : mine)
      for (int y = 0; y < 128; ++y)
        for (int x = 0; x < 128; ++x) ASSERT_EQ(*values++, 1000 * p + 7 * y + x);
  }
};

TEST_F(Empad, WithThePathOfTheMicroscopesComputerAndWhatWasSearchedWith) {
  source_.path = folder_.file("scan.xml");
  on_root([&] {
    write(folder_.file("scan_x3_y2.raw"), empad_frames(6, 2));
    write(source_.path,
          "<root name=\"a\"><raw_file filename=\"/home/empad/scan_x3_y2.raw\"/>"
          "<scan_parameters mode=\"search\"><scan_resolution_y>9</scan_resolution_y>"
          "<scan_resolution_x>9</scan_resolution_x></scan_parameters>"
          "<scan_parameters mode=\"acquire\"><scan_size>0.5</scan_size>"
          "<scan_resolution_y>2</scan_resolution_y><scan_resolution_x>3</scan_resolution_x>"
          "</scan_parameters><iom_measurements><full_scan_field_of_view><scale_factor>0.5"
          "</scale_factor><x>6e-9</x><y>6e-9</y></full_scan_field_of_view>"
          "<high_voltage>300000.0</high_voltage></iom_measurements></root>");
  });
  expect_the_frames();
  EXPECT_THAT(description().statements,
              AllOf(says("experiment.voltage_V", "3e+05"), says("data.raster_step_m", "[4e-09, ")));
  EXPECT_THAT(description().warnings, ::testing::Contains(HasSubstr("scan_size = 0.5")));
  source_.path = folder_.file("scan_x3_y2.raw");  // its XML is found
  expect_the_frames();
}

TEST_F(Empad, RawFileWithoutXml) {
  for (const int rows_behind : {2, 0}) {
    source_.path = folder_.file("scan_x3_y2.raw");
    world().barrier();  // all have read the one before
    on_root([&] { write(source_.path, empad_frames(6, rows_behind)); });
    expect_the_frames();
  }
}

TEST_F(Empad, AnXmlThatNamesNoFileOrAMissingOneIsBadInput) {
  source_.path = folder_.file("scan.xml");
  for (const auto& [named, words] :
       {std::pair("", "is a folder"), std::pair("none.raw", "exist")}) {
    world().barrier();  // all have read the one before
    on_root([&] {
      write(source_.path, text("<root><sensor><type>EMPAD2</type></sensor><scan><shape>(2, 3)"
                               "</shape></scan><rawfile><datatype>float32</datatype><filename>",
                               named, "</filename></rawfile></root>"));
    });
    EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }),
                AllOf(HasSubstr("data.file"), HasSubstr(words)));
  }
}

TEST_F(Empad, OfTheSecondGenerationAsNumbersOrAsItsOwnWords) {
  source_.path = folder_.file("scan.xml");
  on_root([&] {
    write(folder_.file("scan.raw"), empad_frames(6, 0));
    write(
        source_.path,
        "<root><sensor><type>EMPAD2</type><shape>(128, 128)</shape></sensor><scan><type>scan"
        "</type><shape>(2, 3)</shape></scan><iom_measurements><calibrated_diffraction_angle>"
        "0.00025</calibrated_diffraction_angle></iom_measurements><rawfile><framecount>8"
        "</framecount><datatype>float32</datatype><filename>scan.raw</filename></rawfile></root>");
  });
  expect_the_frames();
  EXPECT_THAT(description().statements, says("experiment.detector_pixel_rad", "0.00025"));
  world().barrier();  // all have read it
  on_root([&] { write(folder_.file("scan.raw"), empad_frames(8, 0)); });
  EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }),
              AllOf(HasSubstr("scan.raw"), HasSubstr("empad2")));
}

/// Bytes before the first pattern and between patterns.
std::string raw_file(std::size_t offset, std::size_t gap, bool big_endian) {
  std::string bytes(offset, 'x');
  const Numbers all = patterns(0, n_positions);
  for (int i = 0; i < n_positions * shape.size(); ++i) {
    if (i > 0 && i % shape.size() == 0) bytes.append(gap, 'x');
    append(bytes, static_cast<std::uint16_t>(all[static_cast<std::size_t>(i)]), big_endian);
  }
  return bytes;
}

TEST_F(KnownFormats, RawNumbersAsTheDeckSays) {
  source_.path = folder_.file("scan.bin");
  source_.positions.reset();
  source_.format = "raw";
  for (const auto& [raw, behind] : {std::pair{RawNumbers{"u16", shape}, 0},
                                    {{"u16be", shape, 11}, 0},
                                    {{"u16", shape, 7, 3}, 0},
                                    {{"u16", shape, 7, 3}, 3}}) {
    source_.raw = raw;
    world().barrier();  // all have read the one before
    on_root([&] {
      write(source_.path,
            raw_file(static_cast<std::size_t>(raw.first_byte),
                     static_cast<std::size_t>(raw.bytes_between), raw.type == "u16be") +
                std::string(static_cast<std::size_t>(behind), 'x'));
    });
    expect_the_scan("raw", false);
  }
}

TEST_F(KnownFormats, RawNumbersOfEveryType) {
  source_.path = folder_.file("scan.bin");
  source_.positions.reset();
  source_.format = "raw";
  on_root([&] { write(source_.path, std::string(2 * 240, '\0')); });
  using Width = std::pair<const char*, PatternType>;
  for (const auto& [type, wanted] : {Width{"u8", PatternType::u8},
                                     {"u32", PatternType::u32},
                                     {"u32be", PatternType::u32},
                                     {"i16", PatternType::f32},
                                     {"i32", PatternType::f32},
                                     {"f32", PatternType::f32},
                                     {"f64", PatternType::f32}}) {
    source_.raw = {type, shape};
    const ScanInfo info = read_scan_info(source_, world());
    EXPECT_EQ(info.type, wanted) << type;
    EXPECT_EQ(info.n_positions, 480 / (30 * (std::atoi(type + 1) / 8))) << type;
  }
}

TEST_F(KnownFormats, RawNumbersThatAreNoWholePatterns) {
  source_.path = folder_.file("scan.bin");
  source_.format = "raw";
  on_root([&] { write(source_.path, raw_file(0, 0, false)); });
  for (const RawNumbers& raw :
       {RawNumbers{"u16", {5, 7}}, RawNumbers{"f32", shape}, RawNumbers{"u16", shape, 1},
        RawNumbers{"u16", shape, 541}, RawNumbers{"u16", shape, 0, 7}}) {
    source_.raw = raw;
    EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }),
                AllOf(HasSubstr("data.file"), HasSubstr("scan.bin\" has 540 bytes"),
                      HasSubstr("data.raw_shape = [5, "), HasSubstr("cut short")));
  }
  source_.format = "auto";
  EXPECT_THAT(agreed_error([&] { read_scan_info(source_, world()); }),
              AllOf(HasSubstr("data.format = \"raw\""), HasSubstr("data.raw_shape")));
}

}  // namespace
}  // namespace tessera::io
