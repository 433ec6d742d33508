#include "parameters_file.hpp"

#include <algorithm>
#include <cmath>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::run {
namespace {

/// A device view of any number type as doubles, C order.
template <class View>
std::vector<double> doubles(const View& view) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return {host.data(), host.data() + host.size()};
}

/// The whole dataset, which has as many values as it must.
std::vector<double> read_exactly(const io::File& file, const std::string& name, std::size_t n) {
  std::vector<double> values = file.read_doubles(name);
  if (values.size() != n)
    throw InputError(text("'", name, "' in '", file.path(), "' holds ", values.size(),
                          " values but this run has ", n, "; resume with the deck of that run"));
  return values;
}

template <class View>
void put(const View& view, const std::vector<double>& values) {
  const auto host = Kokkos::create_mirror_view(view);
  std::transform(values.begin(), values.end(), host.data(),
                 [](double value) { return static_cast<typename View::value_type>(value); });
  Kokkos::deep_copy(view, host);
}

/// This rank's rows of a dataset by scan position.
std::vector<double> read_rows(const io::File& file, const std::string& name, const Scan& scan,
                              std::size_t columns) {
  const std::vector<double> all =
      read_exactly(file, name, static_cast<std::size_t>(scan.n_positions()) * columns);
  std::vector<double> mine;
  for (const int position : scan.tile().positions) {
    const auto first = all.begin() + position * static_cast<std::ptrdiff_t>(columns);
    mine.insert(mine.end(), first, first + static_cast<std::ptrdiff_t>(columns));
  }
  return mine;
}

}  // namespace

std::vector<double> on_host(const device::DeviceView<double* [2]>& rows) {
  return doubles(rows);
}

std::vector<double> rows_of_all(const Scan& scan, const std::vector<double>& local, int columns,
                                const comm::Communicator& comm) {
  const std::vector<int> positions = comm.all_gather(std::span<const int>(scan.tile().positions));
  const std::vector<double> rows = comm.all_gather(std::span<const double>(local));
  std::vector<double> all(static_cast<std::size_t>(scan.n_positions()) *
                          static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < positions.size(); ++i)
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(i) * columns, columns,
                all.begin() + static_cast<std::ptrdiff_t>(positions[i]) * columns);
  return all;
}

void write_parameters(io::File& file, const Scan& scan, const physics::Parameters& parameters,
                      const std::vector<double>& displacement_px, const comm::Communicator& comm) {
  const auto n = static_cast<std::int64_t>(scan.n_positions());
  const auto write_rows = [&](const std::string& name, const std::vector<double>& local,
                              int columns) {
    const std::vector<double> all = rows_of_all(scan, local, columns, comm);
    if (columns > 0) file.write_doubles("parameters/" + name, {n, columns}, all);
  };
  if (!displacement_px.empty())
    file.write_doubles("parameters/displacement_px", {n, 2}, displacement_px);
  if (comm.any(parameters.shift.size() > 0)) {
    write_rows("intensity", doubles(parameters.intensity), 1);
    write_rows("opr_weight", doubles(parameters.opr_weight),
               static_cast<int>(parameters.opr_weight.extent(1)));
  }
  const auto extent = [](std::size_t size) { return static_cast<std::int64_t>(size); };
  if (parameters.background.size() > 0)
    file.write_doubles(
        "parameters/background",
        {extent(parameters.background.extent(0)), extent(parameters.background.extent(1))},
        doubles(parameters.background));
  if (parameters.slice_distance_m.size() == 0) return;
  file.write_doubles("parameters/slice_distance_m", {extent(parameters.slice_distance_m.size())},
                     doubles(parameters.slice_distance_m));
  file.write_doubles("parameters/beam_tilt_rad", {2}, doubles(parameters.tilt_rad));
}

std::vector<Vec2> start_displacement(const deck::Deck& deck, const Scan& scan) {
  std::vector<Vec2> displacement(static_cast<std::size_t>(scan.n_positions()));
  if (deck.run.resume.empty() || deck.refine.positions_from_epoch < 0) return displacement;
  const io::File file = io::File::open(deck.run.resume);
  if (!file.has("parameters/displacement_px")) return displacement;
  const std::vector<double> moved =
      read_exactly(file, "parameters/displacement_px", 2 * displacement.size());
  const double limit = deck.refine.positions_limit_px;
  for (std::size_t i = 0; i < displacement.size(); ++i)
    displacement[i] = {std::clamp(moved[2 * i], -limit, limit),
                       std::clamp(moved[2 * i + 1], -limit, limit)};
  return displacement;
}

void read_parameters(const std::string& path, const Scan& scan,
                     const physics::Parameters& parameters) {
  const io::File file = io::File::open(path);
  const auto has = [&](const char* name) { return file.has(text("parameters/", name)); };
  if (parameters.intensity.size() > 0 && has("intensity"))
    put(parameters.intensity, read_rows(file, "parameters/intensity", scan, 1));
  if (parameters.opr_weight.size() > 0 && has("opr_weight"))
    put(parameters.opr_weight,
        read_rows(file, "parameters/opr_weight", scan, parameters.opr_weight.extent(1)));
  if (parameters.background.size() > 0 && has("background"))
    put(parameters.background,
        read_exactly(file, "parameters/background", parameters.background.size()));
  if (parameters.slice_distance_m.size() == 0) return;
  if (has("slice_distance_m"))
    put(parameters.slice_distance_m,
        read_exactly(file, "parameters/slice_distance_m", parameters.slice_distance_m.size()));
  if (has("beam_tilt_rad"))
    put(parameters.tilt_rad, read_exactly(file, "parameters/beam_tilt_rad", 2));
}

}  // namespace tessera::run
