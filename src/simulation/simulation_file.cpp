#include "simulation_file.hpp"

#include <algorithm>
#include <array>

#include "tessera/optics/host_fft.hpp"

#include "deck/parse.hpp"

namespace tessera::simulation {
namespace {

constexpr std::int64_t piece_bytes = 64 << 20;

template <class T>
ImageStack<T> as_stored(const ImageStack<T>& corner, const deck::Deck& deck) {
  const bool centred =
      deck.data.zero_frequency == "centre" && deck.experiment.propagation == "far_field";
  return centred ? optics::centred(corner) : corner;
}

std::vector<double> pairs(const std::vector<Vec2>& points) {
  std::vector<double> values;
  for (const Vec2& point : points) values.insert(values.end(), {point.y, point.x});
  return values;
}

/// Every rank writes its own rows, a piece at a time; all take part in every piece.
void write_patterns(io::File& file, const deck::Deck& deck, const ImageStack<double>& patterns,
                    Share share, const comm::Communicator& comm) {
  const Shape2 shape = patterns.shape();
  const int piece = static_cast<int>(std::max<std::int64_t>(1, piece_bytes / (8 * shape.size())));
  std::array longest = {static_cast<double>(share.size())};
  comm.maximum(longest);
  for (int first = 0; first < longest[0]; first += piece) {
    const int begin = std::min(first, share.size());
    const int n = std::min(piece, share.size() - begin);
    ImageStack<double> rows(n, shape);
    std::copy(patterns.image(begin), patterns.image(begin + n), rows.data());
    rows = as_stored(rows, deck);
    file.write_slab(deck.data.patterns, {share.begin + begin, 0, 0}, {n, shape.h, shape.w},
                    io::ElementType::f64, rows.data());
  }
}

/// Every rank evaluates and writes a band of rows, so that none holds the object.
void write_true_object(io::File& file, const SimulatedScan& scan, const comm::Communicator& comm) {
  const Shape2 object = scan.windows.object;
  auto first_row = [&](int rank) {
    return static_cast<int>(static_cast<std::int64_t>(object.h) * rank / comm.size());
  };
  const int begin = first_row(comm.rank());
  const int n_slices = static_cast<int>(scan.slices.size());
  WaveStack band(n_slices, {first_row(comm.rank() + 1) - begin, object.w});
  for (int slice = 0; slice < n_slices; ++slice)
    for (int y = 0; y < band.h(); ++y)
      for (int x = 0; x < band.w(); ++x)
        band(slice, y, x) = scan.slices[static_cast<std::size_t>(slice)].transmission(begin + y, x);
  file.create_dataset("truth/object", {n_slices, object.h, object.w}, io::ElementType::complex128);
  file.write_slab("truth/object", {0, begin, 0}, {n_slices, band.h(), band.w()},
                  io::ElementType::complex128, band.data());
}

/// Where the slices and, of a crystal, its columns and dopants are.
void write_structure(io::File& file, const deck::Deck& deck, const SimulatedScan& scan) {
  const std::vector<double> distances_m = deck.object.distances_m();
  if (!distances_m.empty())
    file.write_doubles("truth/slice_distance_m", {std::ssize(distances_m)}, distances_m);
  if (!scan.crystal) return;
  const Crystal& crystal = *scan.crystal;
  std::vector<double> columns;
  for (std::size_t i = 0; i < crystal.columns_px().size(); ++i) {
    const Vec2 at_px = crystal.columns_px()[i];
    columns.insert(columns.end(), {at_px.y, at_px.x, static_cast<double>(crystal.kind(i))});
  }
  file.write_doubles("truth/columns", {std::ssize(crystal.columns_px()), 3}, columns);
  file.write_doubles("truth/column_sigma_px", {1}, {Crystal::column_sigma_m / scan.optics.pixel_m});
  std::vector<double> dopants;
  for (const Dopant& dopant : crystal.dopants())
    dopants.insert(dopants.end(),
                   {static_cast<double>(dopant.column), static_cast<double>(dopant.slice),
                    deck.simulation.phase_rad * crystal.dopant_weight(dopant)});
  if (!dopants.empty())
    file.write_doubles("truth/dopants", {std::ssize(crystal.dopants()), 3}, dopants);
}

/// Written by rank 0.
void write_waves(io::File& file, const std::string& name, const WaveStack& waves,
                 const comm::Communicator& comm) {
  const io::Extents extents{waves.n(), waves.h(), waves.w()};
  file.create_dataset(name, extents, io::ElementType::complex128);
  file.write_slab(name, {0, 0, 0}, {comm.is_root() ? waves.n() : 0, waves.h(), waves.w()},
                  io::ElementType::complex128, waves.data());
}

/// What was wrong, in so far as something was.
void write_true_defects(io::File& file, const deck::Deck& deck, const SimulatedScan& scan,
                        const comm::Communicator& comm) {
  const auto n = static_cast<std::int64_t>(scan.positions_m.size());
  if (scan.drift_modes.n() > 0) {
    write_waves(file, "truth/opr_modes", scan.drift_modes, comm);
    file.write_doubles("truth/opr_weights", {n, 2}, pairs(scan.drift_weights));
  }
  if (deck.simulation.intensity_jitter > 0)
    file.write_doubles("truth/intensity", {n}, scan.intensity);
  if (scan.background.size() > 0) {
    const ImageStack<double> stored = as_stored(scan.background, deck);
    file.write_doubles("truth/background", {stored.h(), stored.w()},
                       std::vector<double>(stored.begin(), stored.end()));
  }
  if (scan.saturation_counts) file.set_attribute("/", "saturation_counts", *scan.saturation_counts);
}

void write_valid_pixels(io::File& file, const deck::Deck& deck, const SimulatedScan& scan,
                        const comm::Communicator& comm) {
  const ImageStack<std::uint8_t> mask = as_stored(scan.valid_pixels, deck);
  const std::string name = deck.data.valid_pixels.value_or("valid_pixels");
  file.create_dataset(name, {mask.h(), mask.w()}, io::ElementType::u8);
  file.write_slab(name, {0, 0}, {comm.is_root() ? mask.h() : 0, mask.w()}, io::ElementType::u8,
                  mask.data());
}

void write_positions(io::File& file, const deck::Deck& deck, const SimulatedScan& scan) {
  const geometry::WindowGrid& windows = scan.windows;
  std::vector<Vec2> corners_px;
  corners_px.reserve(windows.corner.size());
  for (std::size_t i = 0; i < windows.corner.size(); ++i)
    corners_px.push_back(as_vec2(windows.corner[i]) + windows.subpixel[i]);
  const auto n = static_cast<std::int64_t>(scan.positions_m.size());
  file.write_doubles(deck.data.positions.value_or("positions_m"), {n, 2},
                     pairs(scan.recorded_positions_m));
  file.write_doubles("truth/positions_m", {n, 2}, pairs(scan.positions_m));
  file.write_doubles("truth/window_corner_px", {n, 2}, pairs(corners_px));
  file.write_doubles("truth/object_origin_m", {2}, {windows.origin_m.y, windows.origin_m.x});
}

void write_attributes(io::File& file, const deck::Deck& deck, const geometry::Optics& optics) {
  const deck::Experiment& experiment = deck.experiment;
  auto set_if_given = [&](const std::string& name, const std::optional<double>& value) {
    if (value) file.set_attribute("/", name, *value);
  };
  set_if_given("energy_eV", experiment.energy_eV);
  set_if_given("voltage_V", experiment.voltage_V);
  set_if_given("distance_m", experiment.distance_m);
  set_if_given("source_distance_m", experiment.source_distance_m);
  set_if_given("detector_pixel_m", experiment.detector_pixel_m);
  set_if_given("detector_pixel_rad", experiment.detector_pixel_rad);
  file.set_attribute("/", "wavelength_m", optics.wavelength_m);
  file.set_attribute("/", "object_pixel_m", optics.pixel_m);
  file.set_attribute("/", "title", deck.title);
}

}  // namespace

std::int64_t file_bytes(const SimulatedScan& scan) {
  const auto n = static_cast<std::int64_t>(scan.positions_m.size());
  constexpr std::int64_t for_structure = 1 << 20;
  const auto n_slices = static_cast<std::int64_t>(scan.slices.size());
  constexpr std::int64_t per_position = 80;
  return n * (scan.windows.window.size() * 4 + per_position) +
         scan.windows.object.size() * n_slices * 16 +
         static_cast<std::int64_t>(scan.probe.size() + scan.drift_modes.size()) * 16 +
         (scan.crystal ? 24 * std::ssize(scan.crystal->columns_px()) : 0) +
         scan.windows.window.size() * 8 + for_structure;
}

void write_simulation(const std::string& path, const deck::Deck& deck, const SimulatedScan& scan,
                      const ImageStack<double>& patterns, Share share, io::ElementType type,
                      const comm::Communicator& comm) {
  io::File file = io::File::create(path, comm);
  const Shape2 window = scan.windows.window;
  file.create_group("truth");
  file.create_dataset(deck.data.patterns,
                      {static_cast<std::int64_t>(scan.positions_m.size()), window.h, window.w},
                      type);
  write_patterns(file, deck, patterns, share, comm);
  write_positions(file, deck, scan);
  write_valid_pixels(file, deck, scan, comm);
  write_true_object(file, scan, comm);
  write_structure(file, deck, scan);
  write_waves(file, "truth/probe", scan.probe, comm);
  write_true_defects(file, deck, scan, comm);
  write_attributes(file, deck, scan.optics);
  file.write_text("deck", deck::resolved_text(deck));
  file.close();
}

}  // namespace tessera::simulation
