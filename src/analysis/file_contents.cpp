#include "file_contents.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "deck/parse.hpp"
#include "io/array_file.hpp"
#include "io/held_values.hpp"
#include "scan_source.hpp"

namespace tessera::analysis {
namespace {

constexpr std::int64_t piece_bytes = 64 << 20;

ScanContents contents_of_deck(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw InputError(text("cannot read the deck \"", path, "\"; check its name"));
  std::ostringstream toml;
  toml << in.rdbuf();
  const deck::Deck deck = deck::parse(toml.str(), path, {});
  const deck::Data& data = deck.data;
  return {data.file,
          data.patterns,
          data.positions,
          data.valid_pixels,
          data.zero_frequency,
          io::links(data.follow_links),
          deck};
}

std::string largest_patterns(const io::File& file) {
  std::string largest;
  std::int64_t max = 0;
  for (const auto& [name, info] : datasets(file)) {
    const std::size_t n_axes = info.extents.size();
    if ((n_axes != 3 && n_axes != 4) || !io::is_real(info.type)) continue;
    const std::int64_t size = std::accumulate(info.extents.begin(), info.extents.end(),
                                              std::int64_t{1}, std::multiplies<>());
    if (size <= max) continue;
    max = size;
    largest = name;
  }
  if (largest.empty())
    throw InputError(text('"', file.path(),
                          "\" holds neither a result (datasets object, probe) nor "
                          "patterns (a 3-D or 4-D dataset of numbers)"));
  return largest;
}

std::optional<std::string> mask_dataset(const io::File& file, Shape2 pattern) {
  for (const auto& [name, info] : datasets(file))
    if (name.find("valid") != std::string::npos &&
        info.extents == io::Extents{pattern.h, pattern.w})
      return name;
  return {};
}

}  // namespace

ScanContents scan_contents(const std::string& path) {
  if (is_deck(path)) return contents_of_deck(path);
  const io::File file = io::File::open(path);
  ScanContents contents;
  contents.path = path;
  contents.patterns = largest_patterns(file);
  const PatternExtents extents = pattern_extents(file, contents.patterns);
  contents.positions = positions_dataset(file, extents.n);
  contents.valid_pixels = mask_dataset(file, extents.pattern);
  return contents;
}

bool is_result(const io::File& file) {
  return file.has("object") && file.has("probe");
}

bool is_deck(const std::string& path) {
  return path.ends_with(".toml");
}

std::optional<deck::Deck> deck_of_result(const io::File& file) {
  if (!file.has("deck")) return {};
  const std::string toml = file.read_text("deck");
  try {
    return deck::parse(toml, file.path(), {});
  } catch (const InputError&) {
    return {};
  }
}

std::vector<std::pair<std::string, io::DatasetInfo>> datasets(const io::File& file) {
  std::vector<std::pair<std::string, io::DatasetInfo>> found;
  for (const std::string& name : file.names()) {
    if (!file.has_dataset(name)) continue;
    try {
      found.emplace_back(name, file.info(name));
    } catch (const InputError&) {
      continue;  // of a shape that cannot be
    }
  }
  return found;
}

std::optional<std::string> positions_dataset(const io::File& file, std::int64_t n) {
  for (const auto& [name, info] : datasets(file))
    if (name.find("positions_m") != std::string::npos && info.extents == io::Extents{n, 2})
      return name;
  return {};
}

std::vector<Vec2> read_positions(const io::File& file, const ScanContents& contents) {
  if (!contents.deck) return read_points(file, *contents.positions);
  io::ScanSource source = scan_source(*contents.deck);
  if (source.positions_file.empty()) source.positions_file = source.path;
  try {
    return io::read_positions_file(source);
  } catch (const InputError& error) {
    throw InputError(text("positions \"", *contents.positions, "\" of \"", source.positions_file,
                          "\": ", error.what()));
  }
}

std::vector<Vec2> read_points(const io::File& file, const std::string& name) {
  const io::DatasetInfo info = file.info(name);
  const std::int64_t n_values = std::accumulate(info.extents.begin(), info.extents.end(),
                                                std::int64_t{1}, std::multiplies<>());
  if (info.extents.empty() || info.extents.back() != 2 || n_values == 0 || !io::is_real(info.type))
    throw InputError(
        text("dataset \"", name, "\" of \"", file.path(),
             "\" must hold pairs (y, x) of real numbers: its last axis must be 2 long"));
  io::check_holds_values(file.path(), name, info);
  static_assert(sizeof(Vec2) == 2 * sizeof(double));
  std::vector<Vec2> points(static_cast<std::size_t>(n_values / 2));
  file.read_slab_alone(name, io::Extents(info.extents.size(), 0), info.extents,
                       io::ElementType::f64, points.data());
  return points;
}

PatternExtents pattern_extents(const io::File& file, const std::string& name) {
  const io::DatasetInfo info = file.info(name);
  const io::Extents& extents = info.extents;
  const std::size_t n_axes = extents.size();
  if (n_axes != 3 && n_axes != 4)
    throw InputError(
        text("dataset \"", name, "\" of \"", file.path(), "\" has ", n_axes,
             " axes; patterns need 3, (position, y, x), or 4, (scan_y, scan_x, y, x)"));
  if (!info.is_virtual && info.stored_bytes == 0)
    throw InputError(text("dataset \"", name, "\" of \"", file.path(),
                          "\" was never written: it holds no pattern"));
  io::check_holds_values(file.path(), name, info);
  constexpr std::int64_t max_px = 1 << 14;
  const std::int64_t h = extents[n_axes - 2];
  const std::int64_t w = extents[n_axes - 1];
  if (std::min(h, w) < 1 || std::max(h, w) > max_px)
    throw InputError(text("dataset \"", name, "\" of \"", file.path(), "\" holds patterns of ", h,
                          " x ", w, "; each side must be 1 to ", max_px));
  return {n_axes == 3 ? extents[0] : extents[0] * extents[1],
          {static_cast<int>(h), static_cast<int>(w)}};
}

void for_each_pattern(const io::File& file, const std::string& name,
                      const std::function<void(const double*)>& use) {
  const io::Extents extents = file.info(name).extents;
  const Shape2 pattern = pattern_extents(file, name).pattern;
  // A 4-D scan is read row by row: a slab cannot run from one row into the next.
  const bool by_rows = extents.size() == 4;
  const std::int64_t n_rows = by_rows ? extents[0] : 1;
  const std::int64_t n_in_row = by_rows ? extents[1] : extents[0];
  const std::int64_t max = std::max<std::int64_t>(1, piece_bytes / (8 * pattern.size()));
  std::vector<double> piece;
  for (std::int64_t row = 0; row < n_rows; ++row)
    for (std::int64_t first = 0; first < n_in_row; first += max) {
      const std::int64_t n = std::min(max, n_in_row - first);
      io::Extents begin{first, 0, 0};
      io::Extents count{n, pattern.h, pattern.w};
      if (by_rows) begin.insert(begin.begin(), row);
      if (by_rows) count.insert(count.begin(), 1);
      piece.resize(static_cast<std::size_t>(n * pattern.size()));
      file.read_slab_alone(name, begin, count, io::ElementType::f64, piece.data());
      for (std::int64_t i = 0; i < n; ++i) use(piece.data() + i * pattern.size());
    }
}

}  // namespace tessera::analysis
