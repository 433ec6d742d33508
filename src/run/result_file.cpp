#include "result_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tessera/base/host.hpp"
#include "tessera/base/text.hpp"

#include "deck/parse.hpp"
#include "run/versions.hpp"
#include "scan_rows.hpp"
#include "stored_fields.hpp"
#include "stored_history.hpp"
#include "worst_patterns.hpp"

namespace tessera::run {
namespace {

using solvers::Field;
using solvers::Fields;

/// Of this rank's positions (y, x), pixels; empty: positions do not move.
std::vector<double> displacement_here(const ResultContents& contents) {
  const auto found = std::ranges::find(contents.state, ResultFile::displacement_name, &Field::name);
  return found == contents.state.end() ? std::vector<double>() : solvers::to_doubles(*found);
}

/// As they were used: sub-pixel parts that were ignored are not in them.
/// @param displacement_px of this rank's positions (y, x); empty: none
void write_positions(io::StagedFile& file, const Scan& scan,
                     const std::vector<double>& displacement_px, const comm::Communicator& comm) {
  const geometry::WindowGrid& grid = scan.grid;
  std::vector<double> corner_px;
  std::vector<double> position_m;
  for (std::size_t i = 0; i < scan.subpixel.size(); ++i) {
    const auto position = static_cast<std::size_t>(scan.tile().positions[i]);
    Vec2 corner = as_vec2(grid.corner[position]) + scan.subpixel[i];
    if (!displacement_px.empty())
      corner = corner + Vec2{displacement_px[2 * i], displacement_px[2 * i + 1]};
    corner_px.insert(corner_px.end(), {corner.y, corner.x});
    const Vec2 at_m = grid.origin_m + grid.pixel_m * corner;
    position_m.insert(position_m.end(), {at_m.y, at_m.x});
  }
  const io::Extents extents{scan.n_positions(), 2};
  write_rows(file, "positions_m", extents, scan, position_m, comm);
  write_rows(file, "window_corner_px", extents, scan, corner_px, comm);
  file.write_doubles("object_origin_m", {2}, {grid.origin_m.y, grid.origin_m.x});
}

void write_boxes(io::StagedFile& file, const std::string& name, const std::vector<Box>& boxes,
                 bool is_root) {
  std::vector<std::int64_t> edges;
  for (const Box& box : boxes)
    edges.insert(edges.end(), {box.begin.y, box.begin.x, box.end.y, box.end.x});
  const io::Extents extents{static_cast<std::int64_t>(boxes.size()), 4};
  file.create_dataset(name, extents, io::ElementType::i64);
  file.write_slab(name, {0, 0}, is_root ? extents : io::Extents{0, 0}, edges.data());
}

void write_tiles(io::StagedFile& file, const decomposition::Tiling& tiling, bool is_root) {
  std::vector<Box> owned;
  std::vector<Box> ghosted;
  for (const decomposition::Tile& tile : tiling.tiles) {
    owned.push_back(tile.owned);
    ghosted.push_back(tile.ghosted);
  }
  write_boxes(file, "tiles/owned", owned, is_root);
  write_boxes(file, "tiles/ghosted", ghosted, is_root);
}

/// A number for each rank. Collective.
void write_ranks(io::StagedFile& file, const ResultContents& contents,
                 const comm::Communicator& comm) {
  const decomposition::MemoryPlan& memory = contents.scan.memory;
  const auto write = [&](const std::string& name, double mine) {
    const std::vector<double> values = comm.all_gather(std::span<const double>(&mine, 1));
    file.write_doubles("ranks/" + name, {comm.size()}, values);
  };
  write("compute_s", contents.times.compute_s);
  write("halo_s", contents.times.halo_s);
  write("reduce_s", contents.times.reduce_s);
  write("io_s", contents.times.io_s);
  write("device_bytes", static_cast<double>(total_bytes(memory.device)));
  write("host_bytes", static_cast<double>(total_bytes(memory.host)));
}

void write_attributes(io::StagedFile& file, const ResultContents& contents) {
  file.set_attribute("/", "format", "tessera-result 1");
  file.set_attribute("/", "title", contents.deck.title);
  file.set_attribute("/", "sample", contents.deck.sample);
  file.set_attribute("/", "instrument", contents.deck.instrument);
  file.set_attribute("/", "measured_at", contents.deck.measured_at);
  file.set_attribute("/", "status", contents.status);
  file.set_attribute("/", "object_pixel_m", contents.scan.grid.pixel_m);
  file.set_attribute("/", "wavelength_m", contents.scan.plan.optics.wavelength_m);
  file.set_attribute("/", "epochs", static_cast<double>(contents.history.size()));
  file.set_attribute("/", "final_error", contents.final_figures.error);
  file.set_attribute("/", "final_r_factor", contents.final_figures.r_factor);
  if (std::isfinite(contents.final_figures.validation_error))
    file.set_attribute("/", "final_validation_error", contents.final_figures.validation_error);
}

/// Where the windows were when the tiles were cut.
void write_cut(io::StagedFile& file, const Scan& scan, const comm::Communicator& comm) {
  std::vector<double> displacement_px;
  for (const Vec2 moved : scan.displacement_px)
    displacement_px.insert(displacement_px.end(), {moved.y, moved.x});
  write_rows(file, "tiles/displacement_px", {scan.n_positions(), 2}, scan, displacement_px, comm);
}

/// None: no such dataset.
void write_bad_patterns(io::StagedFile& file, const std::vector<int>& bad) {
  if (bad.empty()) return;
  file.write_doubles(ResultFile::bad_patterns_name, {std::ssize(bad)}, {bad.begin(), bad.end()});
}

void write_memory(io::StagedFile& file, const ResultContents& contents,
                  const comm::Communicator& comm) {
  if (contents.memory.empty()) return;
  for (const Field& field : contents.memory) write_field(file, contents.scan, field, comm);
  const auto stage = static_cast<std::size_t>(contents.stage);
  file.set_attribute("memory", "method", contents.deck.solvers[stage].method);
  file.set_attribute("memory", "stage", static_cast<double>(contents.stage));
}

}  // namespace

std::int64_t ResultFile::bytes(const ResultContents& contents) {
  std::int64_t bytes = 1 << 20;  // history, texts, HDF5's own tables
  bytes += contents.scan.n_positions() * 48;
  bytes += WorstPatterns::stored_bytes(contents.scan.info.pattern);
  for (const Fields* fields : {&contents.state, &contents.memory})
    for (const Field& field : *fields) {
      const io::Extents extents = stored_extents(contents.scan, field);
      bytes += n_elements(extents) * static_cast<std::int64_t>(io::size_of(stored_type(field)));
    }
  return bytes;
}

std::unique_ptr<io::BackgroundSave> ResultFile::begin_write(const ResultContents& contents,
                                                            const comm::Communicator& comm,
                                                            io::CopyMemory& memory) {
  const std::string& path = contents.deck.output.file;
  const std::vector<std::string> hosts = comm.all_gather(host_name());
  auto save =
      std::make_unique<io::BackgroundSave>(path, bytes(contents), !contents.is_last, comm, memory);
  io::StagedFile& file = save->file();
  for (const Field& field : contents.state) write_field(file, contents.scan, field, comm);
  write_positions(file, contents.scan, displacement_here(contents), comm);
  write_history(file, contents.history);
  write_tiles(file, contents.scan.tiling, comm.is_root());
  write_cut(file, contents.scan, comm);
  write_bad_patterns(file, contents.scan.bad);
  write_memory(file, contents, comm);
  write_ranks(file, contents, comm);
  if (contents.worst) contents.worst->write(file);
  deck::Deck resolved = contents.deck;
  resolved.solvers = contents.scan.plan.solvers;
  file.write_text("deck", deck::resolved_text(resolved, std::filesystem::path(path).parent_path()));
  file.write_text("versions", versions());
  file.write_text("hosts", joined(hosts, "\n"));
  write_attributes(file, contents);
  file.make_structure();
  file.hand_to_writers(contents.deck.output.writers_per_host);
  for (const Field& field : contents.memory)
    if (field.is_large) write_large_field(file, contents.scan, field, comm);
  save->start();
  return save;
}

}  // namespace tessera::run
