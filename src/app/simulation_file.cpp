#include "simulation_file.hpp"

#include <algorithm>
#include <array>

#include "tessera/deck/parse.hpp"
#include "tessera/fft/host_fft.hpp"

namespace tessera::app {
namespace {

constexpr std::int64_t piece_bytes = 64 << 20;

template <class T>
ImageStack<T> as_stored(const ImageStack<T>& corner, const deck::Deck& deck) {
  return deck.data.zero_frequency == "centre" ? fft::centred(corner) : corner;
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
  WaveStack band(1, {first_row(comm.rank() + 1) - begin, object.w});
  for (int y = 0; y < band.h(); ++y)
    for (int x = 0; x < band.w(); ++x) band(0, y, x) = scan.sample.transmission(begin + y, x);
  file.create_dataset("truth/object", {1, object.h, object.w}, io::ElementType::complex128);
  file.write_slab("truth/object", {0, begin, 0}, {1, band.h(), band.w()},
                  io::ElementType::complex128, band.data());
}

void write_true_probe(io::File& file, const WaveStack& probe, const comm::Communicator& comm) {
  const int n_written_here = comm.is_root() ? probe.n() : 0;
  file.create_dataset("truth/probe", {probe.n(), probe.h(), probe.w()},
                      io::ElementType::complex128);
  file.write_slab("truth/probe", {0, 0, 0}, {n_written_here, probe.h(), probe.w()},
                  io::ElementType::complex128, probe.data());
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
  std::vector<double> positions_m;
  std::vector<double> corners_px;
  for (std::size_t i = 0; i < scan.positions_m.size(); ++i) {
    const Pixel corner = scan.windows.corner[i];
    const Vec2 subpixel = scan.windows.subpixel[i];
    positions_m.insert(positions_m.end(), {scan.positions_m[i].y, scan.positions_m[i].x});
    corners_px.insert(corners_px.end(), {corner.y + subpixel.y, corner.x + subpixel.x});
  }
  const auto n = static_cast<std::int64_t>(scan.positions_m.size());
  file.write_doubles(deck.data.positions.value_or("positions_m"), {n, 2}, positions_m);
  file.write_doubles("truth/window_corner_px", {n, 2}, corners_px);
}

void write_attributes(io::File& file, const deck::Deck& deck, const geometry::Optics& optics) {
  const deck::Experiment& experiment = deck.experiment;
  auto set_if_given = [&](const std::string& name, const std::optional<double>& value) {
    if (value) file.set_attribute("/", name, *value);
  };
  set_if_given("energy_eV", experiment.energy_eV);
  set_if_given("voltage_V", experiment.voltage_V);
  set_if_given("distance_m", experiment.distance_m);
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
  return n * (scan.windows.window.size() * 4 + 32) + scan.windows.object.size() * 16 +
         static_cast<std::int64_t>(scan.probe.size()) * 16 + for_structure;
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
  write_true_probe(file, scan.probe, comm);
  write_attributes(file, deck, scan.optics);
  file.write_text("deck", deck::resolved_text(deck));
  file.close();
}

}  // namespace tessera::app
