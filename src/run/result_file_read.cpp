#include <algorithm>
#include <cmath>
#include <complex>

#include "tessera/base/error.hpp"
#include "tessera/base/naming.hpp"
#include "tessera/base/text.hpp"

#include "result_file.hpp"
#include "scan_rows.hpp"
#include "stored_fields.hpp"
#include "stored_history.hpp"

namespace tessera::run {

using solvers::Element;
using solvers::Field;
using solvers::Fields;
using solvers::Lives;

ResultFile::ResultFile(const std::string& path, const comm::Communicator& comm)
    : comm_(comm), file_(naming("run.resume", [&] { return io::File::open(path, comm); })) {}

std::vector<EpochFigures> ResultFile::history(int n_stages) const {
  std::vector<EpochFigures> history;
  comm_.together([&] {
    history = naming("run.resume", [&] { return read_history(file_); });
    const int n_begun = history.empty() ? 0 : history.back().stage + 1;
    if (n_begun > n_stages)
      throw InputError(text("run.resume = '", file_.path(), "' has come to solver ", n_begun,
                            " but the deck has ", n_stages,
                            "; resume with the deck's solvers of that run, or start anew from its "
                            "object and probe (object.initial = 'file', probe.initial = 'file')"));
  });
  return history;
}

std::vector<int> ResultFile::bad_patterns(int n_positions) const {
  std::vector<int> positions;
  comm_.together([&] {
    const bool same_scan =
        file_.has("positions_m") && file_.info("positions_m").extents.front() == n_positions;
    if (!same_scan || !file_.has(bad_patterns_name)) return;
    if (n_elements(file_.info(bad_patterns_name).extents) > n_positions)
      throw InputError(text("run.resume: '", bad_patterns_name, "' in '", file_.path(),
                            "' holds more numbers than the scan has positions (", n_positions,
                            "): start from a sound result"));
    for (const double position : file_.read_doubles(bad_patterns_name)) {
      const int after = positions.empty() ? 0 : positions.back() + 1;
      if (!(position >= after && position < n_positions))
        throw InputError(text("run.resume: '", bad_patterns_name, "' in '", file_.path(),
                              "' names ", position, "; it holds positions of the ", n_positions,
                              " of the scan, ascending: start from a sound result"));
      positions.push_back(static_cast<int>(position));
    }
  });
  return positions;
}

FittedValues ResultFile::fitted_values() const {
  const auto most = [&](const std::string& name, double less) {
    double found = 0;
    if (!file_.has(name)) return found;
    io::Extents count = file_.info(name).extents;
    io::Extents begin(count.size(), 0);
    for_each_piece(count.empty() ? 0 : count[0], [&](std::int64_t first, std::int64_t n) {
      begin[0] = first;
      count[0] = n;
      std::vector<double> values(static_cast<std::size_t>(n_elements(count)));
      file_.read_slab_alone(name, begin, count, io::ElementType::f64, values.data());
      for (const double value : values) found = std::max(found, std::abs(value - less));
    });
    return found;
  };
  std::vector<settings::StoredParameter> stored;
  const deck::Refine all;
  deck::Refine::for_each(all, [&](const auto& parameter) {
    if constexpr (requires { parameter.stored; }) stored.push_back(parameter.stored);
  });
  // Displacement, OPR modes, then the stored parameters.
  std::vector<double> found(2 + stored.size());
  comm_.together([&] {
    if (!comm_.is_root()) return;
    const std::string weights = "parameters/opr_weight";
    io::Extents of_weights{0, 0};
    if (file_.has(weights)) of_weights = file_.info(weights).extents;
    if (of_weights.size() != 2)
      throw InputError(text('\'', weights, "' in '", file_.path(), "' has ", of_weights.size(),
                            " axes, not one for positions and one for modes; start from another "
                            "result"));
    if (of_weights[1] > deck::Probe::max_opr_modes)
      throw InputError(text('\'', weights, "' in '", file_.path(), "' has weights of ",
                            of_weights[1], " OPR modes, of which there are at most ",
                            deck::Probe::max_opr_modes, "; start from another result"));
    found[0] = most(displacement_name, 0);
    found[1] = static_cast<double>(of_weights[1]);
    for (std::size_t i = 0; i < stored.size(); ++i)
      found[2 + i] = most(text("parameters/", stored[i].name), stored[i].at_rest);
  });
  comm_.broadcast(std::span<double>(found));
  FittedValues fitted{
      .max_displacement_px = found[0], .stored = {}, .n_opr_modes = static_cast<int>(found[1])};
  for (std::size_t i = 0; i < stored.size(); ++i)
    if (found[2 + i] > 0) fitted.stored.insert(stored[i].name);
  return fitted;
}

void ResultFile::read(const Scan& scan, const Fields& fields) const {
  for (const Field& field : fields) {
    if (!file_.has(field.name)) continue;
    if (field.lives == Lives::object)
      read_object(scan, field);
    else if (field.is_large)
      read_waves_of_positions(scan, field);
    else if (field.lives == Lives::position)
      read_values(scan, field);
    else if (field.element == Element::complex)
      read_images(field);
    else
      solvers::from_doubles(field, numbers(field.name, static_cast<std::size_t>(field.n_values)));
  }
}

MemoryOwner ResultFile::memory_owner() const {
  MemoryOwner owner;
  comm_.together([&] {
    if (!file_.has("memory")) return;
    owner = {static_cast<int>(file_.number_attribute("memory", "stage").value_or(-1)),
             file_.text_attribute("memory", "method").value_or("")};
  });
  return owner;
}

bool ResultFile::holds(const Scan& scan, const Fields& fields) const {
  return same_grid(scan.grid) && std::ranges::all_of(fields, [&](const Field& field) {
           return file_.has(field.name) &&
                  file_.info(field.name).extents == stored_extents(scan, field);
         });
}

/// @throws InputError
void ResultFile::check_size(const std::string& name, std::size_t n) const {
  const std::int64_t held = n_elements(file_.info(name).extents);
  if (held != static_cast<std::int64_t>(n))
    throw InputError(text('\'', name, "' in '", file_.path(), "' holds ", held,
                          " values but this run has ", n, "; resume with the deck of that run"));
}

/// The whole dataset, which has as many values as it must, read by rank 0 for all.
std::vector<double> ResultFile::numbers(const std::string& name, std::size_t n) const {
  std::vector<double> values(n);
  comm_.together([&] {
    check_size(name, n);
    if (comm_.is_root()) values = file_.read_doubles(name);
  });
  comm_.broadcast(std::span<double>(values));
  return values;
}

bool ResultFile::same_grid(const geometry::WindowGrid& grid) const {
  const io::Extents extents = file_.info("object").extents;
  const std::vector<double> origin_m = file_.read_doubles("object_origin_m");
  constexpr double rounding_px = 1e-6;
  return origin_m.size() == 2 && extents.size() == 3 && extents[1] == grid.object.h &&
         extents[2] == grid.object.w &&
         std::abs(origin_m[0] - grid.origin_m.y) < rounding_px * grid.pixel_m &&
         std::abs(origin_m[1] - grid.origin_m.x) < rounding_px * grid.pixel_m;
}

/// Ghosts, too.
void ResultFile::read_object(const Scan& scan, const Field& field) const {
  const Box& box = scan.tile().ghosted;
  std::vector<char> values(static_cast<std::size_t>(field.n_bytes()));
  const bool empty = box.empty();
  file_.read_slab(field.name, {0, empty ? 0 : box.begin.y, empty ? 0 : box.begin.x},
                  {empty ? 0 : field.extents[0], box.height(), box.width()}, stored_type(field),
                  values.data());
  solvers::copy_in(field, 0, field.n_values, values.data());
}

void ResultFile::read_waves_of_positions(const Scan& scan, const Field& field) const {
  const io::ElementType type = stored_type(field);
  const std::int64_t row = n_elements(field.extents);
  comm_.together([&] {
    std::vector<char> values;
    for (const RowRange& range : row_ranges(scan.tile().positions, rows_at_a_time(field))) {
      values.resize(static_cast<std::size_t>(range.count * row) * io::size_of(type));
      io::Extents begin(field.extents.size() + 1, 0);
      begin[0] = range.first;
      io::Extents count = field.extents;
      count.insert(count.begin(), range.count);
      file_.read_slab_alone(field.name, begin, count, type, values.data());
      solvers::copy_in(field, range.first_local * row, range.count * row, values.data());
    }
  });
}

void ResultFile::read_values(const Scan& scan, const Field& field) const {
  std::vector<double> mine = read_rows(file_, field.name, n_elements(field.extents), scan, comm_);
  if (field.element == Element::integer) {
    for (std::size_t i = 0; i < mine.size(); ++i)
      mine[i] -= i % 2 == 0 ? field.origin.y : field.origin.x;
    comm_.together([&] { check_corners(scan, field.name, mine); });
  }
  solvers::from_doubles(field, mine);
}

/// Of windows in this rank's tile, y and x in turn. A damaged file may say anything.
/// @throws InputError
void ResultFile::check_corners(const Scan& scan, const std::string& name,
                               std::span<const double> corners) const {
  const Box& tile = scan.tile().ghosted;
  const Shape2 window = scan.grid.window;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const int last = i % 2 == 0 ? tile.height() - window.h : tile.width() - window.w;
    if (corners[i] >= 0 && corners[i] <= last) continue;
    throw InputError(text("'", name, "' in '", file_.path(), "' has a window at pixel ", corners[i],
                          " of a tile where the last begins at ", last,
                          ": the result is damaged; go on from another"));
  }
}

/// Complex, the same on all ranks: rank 0 reads for all.
void ResultFile::read_images(const Field& field) const {
  std::vector<device::complex> values(static_cast<std::size_t>(field.n_values));
  comm_.together([&] {
    if (!comm_.is_root()) return;
    const WaveStack images = file_.read_waves(field.name);
    if (images.size() != values.size())
      throw InputError(text("'", field.name, "' in '", file_.path(), "' holds ", images.size(),
                            " values but this run has ", values.size(),
                            "; resume with the deck of that run"));
    std::ranges::transform(images, values.begin(), [](const std::complex<double>& value) {
      return device::complex(static_cast<Real>(value.real()), static_cast<Real>(value.imag()));
    });
  });
  comm_.broadcast(std::span<device::complex>(values));
  solvers::copy_in(field, 0, field.n_values, values.data());
}

}  // namespace tessera::run
