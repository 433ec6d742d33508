#pragma once
/// What an HDF5 file is, found by looking: for files that come without a deck.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/image_stack.hpp"
#include "tessera/io/hdf5.hpp"

#include "deck/deck.hpp"

namespace tessera::analysis {

/// The scan in a file.
struct ScanContents {
  std::string path;
  std::string patterns;
  std::optional<std::string> positions;
  std::optional<std::string> valid_pixels;
  std::string zero_frequency = "centre";
  io::Links links = io::Links::beside;
  std::optional<deck::Deck> deck;  ///< if it was read from one
};

/// @param path a deck, which names the datasets, or an HDF5 file whose patterns are its largest
/// real 3-D or 4-D dataset, with positions and a mask if something looks like them
/// @throws InputError if there is no such dataset
ScanContents scan_contents(const std::string& path);

/// Result files hold an object and a probe.
bool is_result(const io::File& file);
bool is_deck(const std::string& path);

/// The deck in a result; none if there is none or this version cannot read it.
std::optional<deck::Deck> deck_of_result(const io::File& file);

/// Every dataset with its path.
std::vector<std::pair<std::string, io::DatasetInfo>> datasets(const io::File& file);

/// The (n, 2) dataset of positions in metres.
std::optional<std::string> positions_dataset(const io::File& file, std::int64_t n);

/// Where the scan has positions: as its deck's run reads them, metres.
std::vector<Vec2> read_positions(const io::File& file, const ScanContents& contents);

/// Rows of a dataset (n, 2) or (2).
std::vector<Vec2> read_points(const io::File& file, const std::string& name);

/// (n, h, w) of patterns in 3-D or 4-D.
struct PatternExtents {
  std::int64_t n = 0;
  Shape2 pattern;
};
PatternExtents pattern_extents(const io::File& file, const std::string& name);

/// Calls `use` with one pattern after the other, h * w values; reads in pieces that bound memory.
void for_each_pattern(const io::File& file, const std::string& name,
                      const std::function<void(const double*)>& use);

}  // namespace tessera::analysis
