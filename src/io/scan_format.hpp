#pragma once
/// The seam for file formats: a format says how to recognise its files and how to read ranges of
/// them. What ranks exchange, how patterns are framed and checked, and masks is not its concern.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/box.hpp"
#include "tessera/base/image_stack.hpp"

#include "io/scan_description.hpp"
#include "io/scan_reader.hpp"

namespace tessera::io {

/// The patterns as they were recorded, before any is read.
struct RecordedPatterns {
  int n_positions = 0;
  std::vector<int> raster;              ///< (rows, columns), if the file knows them
  Shape2 shape;                         ///< of the detector
  PatternType type = PatternType::f32;  ///< in which every value fits
  std::int64_t element_bytes = 4;       ///< of a value in the file, before compression
  /// Scan positions (rows, columns) that are decoded together; (n, 1) without a raster.
  Shape2 positions_per_chunk{1, 1};
  bool is_deflated = false;  ///< chunks are compressed by gzip
  bool is_virtual = false;   ///< the patterns lie in other files that this one refers to
};

/// One open scan file, used by this rank alone. Every function throws InputError that names the
/// file, or what in it is wrong, and the remedy.
class ScanReader {
 public:
  virtual ~ScanReader() = default;

  virtual RecordedPatterns patterns() const = 0;
  /// Metres, (y, x), by scan position; empty: the file has none, or the source wants none.
  virtual std::vector<Vec2> positions_m() const = 0;
  /// Whether each pattern has a mask of its own.
  virtual bool has_own_masks() const = 0;
  /// (1, h, w), as recorded, 1 = trust, 0 = bad; empty: every pixel, or masks of patterns' own.
  virtual ImageStack<double> valid_pixels() const = 0;
  /// (n, h, w), as recorded, counts in a pattern; empty: none.
  virtual ImageStack<double> background() const = 0;
  /// (n, h, w), other images of the detector, such as a vacuum measurement, by the deck's name.
  virtual ImageStack<double> detector_images(const std::string& name) const = 0;
  /// (mode, h, w), by the deck's name.
  virtual WaveStack start_probe(const std::string& name) const = 0;

  /// Called once before what follows: patterns are wanted in this type, which holds the file's.
  virtual void start_reading(PatternType as) = 0;
  /// Patterns of a box of the scan (rows, columns; without a raster one column), cut to a box of
  /// pixels, as recorded, in C order. Any number of times; allocates nothing.
  virtual void read_patterns(const Box& positions, const Box& pixels, std::byte* patterns) = 0;
  /// The same of the masks of patterns' own, 1 = trust.
  virtual void read_masks(const Box& positions, const Box& pixels, std::uint8_t* valid) = 0;
  /// Of the open file at this moment: less than before when it was cut.
  virtual std::int64_t bytes() const = 0;
};

struct ScanFormat {
  std::string_view name;  ///< data.format
  std::string_view what;  ///< for messages: "an HDF5 file"
  /// Looks at what a readable file holds, not at its name. Null: what is told by its name only.
  bool (*recognises)(const ScanSource& source);
  /// @param comm if not null, all its ranks open the file at this moment, to read by themselves
  std::unique_ptr<ScanReader> (*open)(const ScanSource& source, const comm::Communicator* comm);
  /// What a file of this format says, for decks. Null: nothing.
  std::optional<ScanDescription> (*describe)(const ScanSource& source) = nullptr;
};

/// What a deck leaves as it is by default: in the formats that know their names, the file's own.
inline constexpr std::string_view default_patterns = "patterns";
inline constexpr std::string_view default_positions = "positions_m";

/// All formats, the ones that recognise less first: data.format = "auto" takes the first that
/// recognises a file.
std::span<const ScanFormat> scan_formats();

/// The first that recognises the source's file, or the one that it names. @throws InputError
const ScanFormat& find_format(const ScanSource& source,
                              std::span<const ScanFormat> formats = scan_formats());

/// A file's scan, as the file itself names it.
struct DescribedScan {
  const ScanFormat* format = nullptr;
  ScanDescription said;
  ScanSource source;
};

/// By this rank alone. @throws InputError if no format knows the file, or it holds no patterns
DescribedScan describe_scan(const std::string& path, Links links = Links::beside);

/// read_scan_info among these formats.
ScanInfo read_scan_info(const ScanSource& source, const comm::Communicator& comm,
                        std::span<const ScanFormat> formats);

}  // namespace tessera::io
