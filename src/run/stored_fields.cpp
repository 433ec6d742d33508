#include "stored_fields.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "scan_rows.hpp"

namespace tessera::run {
namespace {

using solvers::Element;
using solvers::Field;
using solvers::Lives;

/// Each rank its owned box: no rank sees more of the object than it holds.
void write_object(io::StagedFile& file, const Scan& scan, const Field& field) {
  const Box& owned = scan.tile().owned;
  const Box& ghosted = scan.tile().ghosted;
  const io::ElementType type = stored_type(field);
  const auto value_bytes = static_cast<std::int64_t>(io::size_of(type));
  const std::int64_t n_planes = field.extents[0];
  const std::int64_t plane = std::int64_t{owned.height()} * ghosted.width();
  io::FreshBytes values = file.room(copy_bytes(scan, field));
  for (std::int64_t i = 0; i < n_planes; ++i)
    solvers::copy_out(
        field,
        (i * ghosted.height() + owned.begin.y - ghosted.begin.y) * std::int64_t{ghosted.width()},
        plane, values.data() + i * plane * value_bytes);
  // Of whole rows the owned parts move to the front, in place: a tile may be a large part of the
  // memory.
  const auto row_bytes = static_cast<std::size_t>(owned.width() * value_bytes);
  if (owned.width() < ghosted.width()) {
    const char* from = values.data() + (owned.begin.x - ghosted.begin.x) * value_bytes;
    for (std::int64_t row = 0; row < n_planes * owned.height(); ++row)
      std::memmove(values.data() + static_cast<std::size_t>(row) * row_bytes,
                   from + row * ghosted.width() * value_bytes, row_bytes);
    values.resize(row_bytes * static_cast<std::size_t>(n_planes * owned.height()));
  }
  file.create_dataset(field.name, stored_extents(scan, field), type);
  file.write_slab(field.name, {0, owned.begin.y, owned.begin.x},
                  {n_planes, owned.height(), owned.width()}, std::move(values));
}

void write_images(io::StagedFile& file, const Field& field, bool is_root) {
  file.create_dataset(field.name, field.extents, stored_type(field));
  if (!is_root) return;
  io::FreshBytes values = file.room(field.n_bytes());
  solvers::copy_out(field, 0, field.n_values, values.data());
  file.write_slab(field.name, io::Extents(field.extents.size(), 0), field.extents,
                  std::move(values));
}

void write_values(io::StagedFile& file, const Scan& scan, const Field& field,
                  const comm::Communicator& comm) {
  std::vector<double> local = solvers::to_doubles(field);
  if (field.element == Element::integer)
    for (std::size_t i = 0; i < local.size(); ++i)
      local[i] += i % 2 == 0 ? field.origin.y : field.origin.x;
  write_rows(file, field.name, stored_extents(scan, field), scan, local, comm);
}

}  // namespace

io::ElementType stored_type(const Field& field) {
  if (field.element == Element::complex)
    return sizeof(Real) == 4 ? io::ElementType::complex64 : io::ElementType::complex128;
  const bool is_own_width = field.element == Element::real && field.lives == Lives::object;
  return is_own_width && sizeof(Real) == 4 ? io::ElementType::f32 : io::ElementType::f64;
}

std::int64_t copy_bytes(const Scan& scan, const Field& field) {
  if (field.lives != Lives::object) return 0;
  const decomposition::Tile& tile = scan.tile();
  const std::int64_t plane = std::int64_t{tile.owned.height()} * tile.ghosted.width();
  return field.extents[0] * plane * static_cast<std::int64_t>(io::size_of(stored_type(field)));
}

io::Extents stored_extents(const Scan& scan, const Field& field) {
  if (field.lives == Lives::object)
    return {field.extents[0], scan.grid.object.h, scan.grid.object.w};
  io::Extents extents = field.extents;
  if (field.lives == Lives::position) extents.insert(extents.begin(), scan.n_positions());
  return extents;
}

std::int64_t n_elements(const io::Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<RowRange> row_ranges(const std::vector<int>& positions, int max) {
  std::vector<RowRange> ranges;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const bool follows = !ranges.empty() && ranges.back().count < max &&
                         positions[i] == ranges.back().first + ranges.back().count;
    if (follows)
      ++ranges.back().count;
    else
      ranges.push_back({positions[i], static_cast<int>(i), 1});
  }
  return ranges;
}

int rows_at_a_time(const Field& field) {
  constexpr std::int64_t piece_bytes = 64 << 20;
  const auto row_bytes =
      n_elements(field.extents) * static_cast<std::int64_t>(io::size_of(stored_type(field)));
  return static_cast<int>(std::max<std::int64_t>(1, piece_bytes / row_bytes));
}

void write_field(io::StagedFile& file, const Scan& scan, const Field& field,
                 const comm::Communicator& comm) {
  if (field.lives == Lives::object) return write_object(file, scan, field);
  if (field.is_large)
    return file.create_dataset(field.name, stored_extents(scan, field), stored_type(field));
  if (field.lives == Lives::position) return write_values(file, scan, field, comm);
  if (field.element == Element::complex) return write_images(file, field, comm.is_root());
  file.write_doubles(field.name, field.extents, solvers::to_doubles(field));
}

void write_large_field(io::StagedFile& file, const Scan& scan, const Field& field,
                       const comm::Communicator& comm) {
  const std::int64_t row = n_elements(field.extents);
  comm.together([&] {
    std::vector<char> values;
    for (const RowRange& range : row_ranges(scan.tile().positions, rows_at_a_time(field))) {
      values.resize(static_cast<std::size_t>(range.count * row) * io::size_of(stored_type(field)));
      solvers::copy_out(field, range.first_local * row, range.count * row, values.data());
      io::Extents begin(field.extents.size() + 1, 0);
      begin[0] = range.first;
      io::Extents count = field.extents;
      count.insert(count.begin(), range.count);
      file.write_slab_now(field.name, begin, count, values.data());
    }
  });
}

}  // namespace tessera::run
