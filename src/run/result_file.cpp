#include "result_file.hpp"

#include <algorithm>
#include <cmath>

#include "tessera/base/host.hpp"
#include "tessera/base/text.hpp"
#include "tessera/deck/parse.hpp"
#include "tessera/io/hdf5.hpp"
#include "tessera/run/versions.hpp"

#include "parameters_file.hpp"

namespace tessera::run {
namespace {

using device::complex;

constexpr io::ElementType complex_type =
    sizeof(Real) == 4 ? io::ElementType::complex64 : io::ElementType::complex128;

/// Each rank its owned box: no rank sees more of the object than it holds.
void write_object(io::File& file, const Scan& scan, const physics::ObjectView& object) {
  const auto n_slices = static_cast<std::int64_t>(object.extent(0));
  file.create_dataset("object", {n_slices, scan.grid.object.h, scan.grid.object.w}, complex_type);
  const Box& owned = scan.tile().owned;
  const Pixel first{owned.begin.y - scan.tile().ghosted.begin.y,
                    owned.begin.x - scan.tile().ghosted.begin.x};
  const bool empty = owned.empty();
  const auto in_tile =
      Kokkos::subview(object, Kokkos::ALL, std::pair(first.y, first.y + owned.height()),
                      std::pair(first.x, first.x + owned.width()));
  const device::DeviceView<complex***> packed(
      Kokkos::view_alloc("tessera::run::owned", Kokkos::WithoutInitializing), object.extent(0),
      owned.height(), owned.width());
  Kokkos::deep_copy(packed, in_tile);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), packed);
  file.write_slab("object", {0, empty ? 0 : owned.begin.y, empty ? 0 : owned.begin.x},
                  {empty ? 0 : n_slices, owned.height(), owned.width()}, complex_type, host.data());
}

void write_probe(io::File& file, const physics::ProbeView& probe, bool is_root) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), probe);
  const io::Extents extents{static_cast<std::int64_t>(probe.extent(0)),
                            static_cast<std::int64_t>(probe.extent(1)),
                            static_cast<std::int64_t>(probe.extent(2))};
  file.create_dataset("probe", extents, complex_type);
  file.write_slab("probe", {0, 0, 0}, is_root ? extents : io::Extents{0, 0, 0}, complex_type,
                  host.data());
}

/// As they were used: sub-pixel parts that were ignored are not in them.
/// @param displacement_px of every position (y, x); empty: none
void write_positions(io::File& file, const Scan& scan, const std::vector<double>& displacement_px) {
  const geometry::WindowGrid& grid = scan.grid;
  std::vector<double> corner_px;
  std::vector<double> position_m;
  for (std::size_t i = 0; i < grid.corner.size(); ++i) {
    Vec2 corner{grid.corner[i].y + grid.subpixel[i].y, grid.corner[i].x + grid.subpixel[i].x};
    if (!displacement_px.empty())
      corner = {corner.y + displacement_px[2 * i], corner.x + displacement_px[2 * i + 1]};
    corner_px.insert(corner_px.end(), {corner.y, corner.x});
    position_m.insert(position_m.end(), {grid.origin_m.y + corner.y * grid.pixel_m,
                                         grid.origin_m.x + corner.x * grid.pixel_m});
  }
  const auto n = static_cast<std::int64_t>(grid.corner.size());
  file.write_doubles("positions_m", {n, 2}, position_m);
  file.write_doubles("window_corner_px", {n, 2}, corner_px);
  file.write_doubles("object_origin_m", {2}, {grid.origin_m.y, grid.origin_m.x});
}

void write_history(io::File& file, const std::vector<EpochFigures>& history) {
  const auto write = [&](const std::string& name, auto field) {
    std::vector<double> values;
    values.reserve(history.size());
    for (const EpochFigures& epoch : history) values.push_back(static_cast<double>(epoch.*field));
    file.write_doubles("history/" + name, {static_cast<std::int64_t>(values.size())}, values);
  };
  write("error", &EpochFigures::error);
  write("r_factor", &EpochFigures::r_factor);
  write("stage", &EpochFigures::stage);
  const bool validated = std::ranges::any_of(
      history, [](const EpochFigures& epoch) { return std::isfinite(epoch.validation_error); });
  if (validated) write("validation_error", &EpochFigures::validation_error);
}

void write_boxes(io::File& file, const std::string& name, const std::vector<Box>& boxes,
                 bool is_root) {
  std::vector<std::int64_t> edges;
  for (const Box& box : boxes)
    edges.insert(edges.end(), {box.begin.y, box.begin.x, box.end.y, box.end.x});
  const io::Extents extents{static_cast<std::int64_t>(boxes.size()), 4};
  file.create_dataset(name, extents, io::ElementType::i64);
  file.write_slab(name, {0, 0}, is_root ? extents : io::Extents{0, 0}, io::ElementType::i64,
                  edges.data());
}

void write_tiles(io::File& file, const decomposition::Tiling& tiling, bool is_root) {
  std::vector<Box> owned;
  std::vector<Box> ghosted;
  for (const decomposition::Tile& tile : tiling.tiles) {
    owned.push_back(tile.owned);
    ghosted.push_back(tile.ghosted);
  }
  write_boxes(file, "tiles/owned", owned, is_root);
  write_boxes(file, "tiles/ghosted", ghosted, is_root);
}

void write_attributes(io::File& file, const ResultContents& contents) {
  file.set_attribute("/", "format", "tessera-result 1");
  file.set_attribute("/", "title", contents.deck.title);
  file.set_attribute("/", "status", contents.status);
  file.set_attribute("/", "object_pixel_m", contents.scan.grid.pixel_m);
  file.set_attribute("/", "wavelength_m", contents.scan.plan.optics.wavelength_m);
  file.set_attribute("/", "epochs", static_cast<double>(contents.history.size()));
  file.set_attribute("/", "final_error", contents.final_figures.error);
  file.set_attribute("/", "final_r_factor", contents.final_figures.r_factor);
  if (std::isfinite(contents.final_figures.validation_error))
    file.set_attribute("/", "final_validation_error", contents.final_figures.validation_error);
}

}  // namespace

std::int64_t result_bytes(const Scan& scan, const solvers::Unknowns& unknowns) {
  const auto value_bytes = static_cast<std::int64_t>(sizeof(complex));
  const std::int64_t object =
      scan.grid.object.size() * value_bytes * static_cast<std::int64_t>(unknowns.object.extent(0));
  const auto probe = static_cast<std::int64_t>(unknowns.probe.size()) * value_bytes;
  const std::int64_t bytes_per_position =
      32 + 8 * (3 + static_cast<std::int64_t>(unknowns.parameters.opr_weight.extent(1)));
  constexpr std::int64_t slack = 1 << 20;  // history, texts, HDF5's own tables
  return object + probe + scan.n_positions() * bytes_per_position + slack;
}

void write_result_file(const ResultContents& contents, const comm::Communicator& comm) {
  const std::vector<std::string> hosts = comm.all_gather(host_name());
  io::AtomicFile atomic(contents.deck.output.file, result_bytes(contents.scan, contents.unknowns),
                        comm);
  io::File file = io::File::create(atomic.partial_path(), comm);
  write_object(file, contents.scan, contents.unknowns.object);
  write_probe(file, contents.unknowns.probe, comm.is_root());
  std::vector<double> displacement_px;
  if (comm.any(contents.displacement.size() > 0))
    displacement_px = rows_of_all(contents.scan, on_host(contents.displacement), 2, comm);
  write_positions(file, contents.scan, displacement_px);
  write_parameters(file, contents.scan, contents.unknowns.parameters, displacement_px, comm);
  write_history(file, contents.history);
  write_tiles(file, contents.scan.tiling, comm.is_root());
  file.write_text("deck", deck::resolved_text(contents.deck));
  file.write_text("versions", versions());
  file.write_text("hosts", joined(hosts, "\n"));
  write_attributes(file, contents);
  file.close();
  atomic.commit();
}

}  // namespace tessera::run
