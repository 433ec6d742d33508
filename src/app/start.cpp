#include "tessera/app/start.hpp"

#include <cmath>

#include "tessera/app/experiment.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"
#include "tessera/physics/start_probe.hpp"

namespace tessera::app {
namespace {

using device::complex;

/// What is wrong with a file, with the key that named it in front. As collective as `work`.
template <class Work>
auto naming(const std::string& key, const Work& work) {
  try {
    return work();
  } catch (const InputError& error) {
    throw InputError(text(key, ": ", error.what()));
  } catch (const AgreedError& error) {
    throw AgreedError(error.exit_code(), text(key, ": ", error.what()));
  }
}

WaveStack checked_probe(const std::string& path, const std::string& dataset, Shape2 pattern) {
  WaveStack probe = io::File::open(path).read_waves(dataset);
  if (!(probe.shape() == pattern))
    throw InputError(text("'", dataset, "' in '", path, "' is ", probe.h(), " x ", probe.w(),
                          " pixels but the patterns are ", pattern.h, " x ", pattern.w,
                          "; crop or pad it to their size"));
  for (const std::complex<double>& value : probe)
    if (!std::isfinite(std::norm(value)))
      throw InputError(text("'", dataset, "' in '", path, "' holds values that are not finite"));
  return probe;
}

/// Read by rank 0, to all. Collective.
WaveStack read_probe(const std::string& key, const std::string& path, const std::string& dataset,
                     const Scan& scan, const comm::Communicator& comm) {
  WaveStack probe;
  int n_modes = 0;
  comm.together([&] {
    if (!comm.is_root()) return;
    probe = naming(key, [&] { return checked_probe(path, dataset, scan.info.pattern); });
    n_modes = probe.n();
  });
  comm.broadcast(std::span<int>(&n_modes, 1));
  if (!comm.is_root()) probe = WaveStack(n_modes, scan.info.pattern);
  comm.broadcast(std::span<std::complex<double>>(probe.data(), probe.size()));
  return probe;
}

WaveStack start_probe(const deck::Deck& deck, const Scan& scan, const comm::Communicator& comm) {
  const deck::Probe& from = deck.probe;
  const bool resumed = !deck.run.resume.empty();
  const bool continued = resumed || from.initial == "file";
  WaveStack probe;
  if (resumed) {
    probe = read_probe("run.resume", deck.run.resume, "probe", scan, comm);
  } else if (continued) {
    probe = read_probe("probe.file", from.file, "probe", scan, comm);
  } else if (from.initial == "dataset") {
    probe = read_probe("probe.dataset", deck.data.file, from.dataset, scan, comm);
  } else if (from.initial == "mean_pattern") {
    probe = physics::mean_pattern_probe(scan.mean_pattern);
  }
  comm.together([&] {
    if (probe.size() == 0) probe = optical_probe(from, scan.info.pattern, scan.optics);
    probe = physics::with_extra_modes(probe, from.n_modes, from.extra_mode_power);
    // A probe that was reconstructed goes with its object's scale; any other is brought to the
    // counts.
    if (!continued) physics::scale_to_counts(probe, scan.counts_per_pattern);
  });
  return probe;
}

physics::ProbeView on_device(const WaveStack& probe) {
  physics::ProbeView made("tessera::physics::probe", probe.n(), probe.h(), probe.w());
  const auto host = Kokkos::create_mirror_view(made);
  for (int m = 0; m < probe.n(); ++m)
    for (int y = 0; y < probe.h(); ++y)
      for (int x = 0; x < probe.w(); ++x)
        host(m, y, x) = complex(static_cast<Real>(probe(m, y, x).real()),
                                static_cast<Real>(probe(m, y, x).imag()));
  Kokkos::deep_copy(made, host);
  return made;
}

/// Pixel (0, 0) of the object in the file, on this scan's grid.
Pixel file_origin(const io::File& file, const Scan& scan) {
  const auto pixel_m = file.number_attribute("/", "object_pixel_m");
  const std::vector<double> origin_m = file.read_doubles("object_origin_m");
  if (!pixel_m || std::abs(*pixel_m / scan.grid.pixel_m - 1) > 1e-6)
    throw InputError(text("the object in '", file.path(), "' has pixels of ", pixel_m.value_or(0),
                          " m but this scan's are ", scan.grid.pixel_m,
                          " m; start from object.initial = 'ones'"));
  return {
      static_cast<int>(std::lround((origin_m.at(0) - scan.grid.origin_m.y) / scan.grid.pixel_m)),
      static_cast<int>(std::lround((origin_m.at(1) - scan.grid.origin_m.x) / scan.grid.pixel_m))};
}

/// This rank's ghosted box from a result; 1 outside the file's object. Collective.
void read_object(const std::string& key, const std::string& path, const Scan& scan,
                 const comm::Communicator& comm, const physics::ObjectView& object) {
  const io::File file = naming(key, [&] { return io::File::open(path, comm); });
  Box here;
  Pixel origin;
  comm.together([&] {
    const io::Extents extents = file.info("object").extents;
    if (extents.size() != 3 || extents[0] != 1)
      throw InputError(text(key, ": 'object' in '", path, "' is not (1, H, W)"));
    origin = naming(key, [&] { return file_origin(file, scan); });
    here =
        intersection(scan.tile().ghosted,
                     Box::at(origin, {static_cast<int>(extents[1]), static_cast<int>(extents[2])}));
  });
  std::vector<complex> values(static_cast<std::size_t>(here.area()));
  const io::Extents begin = here.empty()
                                ? io::Extents{0, 0, 0}
                                : io::Extents{0, here.begin.y - origin.y, here.begin.x - origin.x};
  file.read_slab("object", begin, {here.empty() ? 0 : 1, here.height(), here.width()},
                 sizeof(Real) == 4 ? io::ElementType::complex64 : io::ElementType::complex128,
                 values.data());
  const auto host = Kokkos::create_mirror_view(object);
  Kokkos::deep_copy(host, complex(1));
  const Pixel tile = scan.tile().ghosted.begin;
  for (int y = 0; y < here.height(); ++y)
    for (int x = 0; x < here.width(); ++x)
      host(0, here.begin.y - tile.y + y, here.begin.x - tile.x + x) =
          values[static_cast<std::size_t>(y) * here.width() + x];
  Kokkos::deep_copy(object, host);
}

/// Collective.
std::vector<EpochFigures> read_history(const std::string& path, int n_stages,
                                       const comm::Communicator& comm) {
  std::vector<EpochFigures> history;
  comm.together([&] {
    const io::File file = io::File::open(path);
    const std::vector<double> error = file.read_doubles("history/error");
    const std::vector<double> r_factor = file.read_doubles("history/r_factor");
    for (std::size_t i = 0; i < error.size(); ++i) history.push_back({error[i], r_factor.at(i)});
    // Results of earlier versions know one solver and no validation.
    if (file.has("history/stage")) {
      const std::vector<double> stage = file.read_doubles("history/stage");
      for (std::size_t i = 0; i < history.size(); ++i)
        history[i].stage = static_cast<int>(stage.at(i));
    }
    if (file.has("history/validation_error")) {
      const std::vector<double> validation_error = file.read_doubles("history/validation_error");
      for (std::size_t i = 0; i < history.size(); ++i)
        history[i].validation_error = validation_error.at(i);
    }
    const int n_begun = history.empty() ? 0 : history.back().stage + 1;
    if (n_begun > n_stages)
      throw InputError(text("run.resume = '", path, "' has come to solver ", n_begun,
                            " but the deck has ", n_stages,
                            "; resume with the deck's solvers of that run, or start anew from its "
                            "object and probe (object.initial = 'file', probe.initial = 'file')"));
  });
  return history;
}

}  // namespace

Start make_start(const deck::Deck& deck, const Scan& scan, const comm::Communicator& comm) {
  const WaveStack probe = start_probe(deck, scan, comm);
  const Box& ghosted = scan.tile().ghosted;
  Start start;
  start.unknowns.probe = on_device(probe);
  start.unknowns.object =
      physics::ObjectView("tessera::physics::object", 1, ghosted.height(), ghosted.width());
  const bool resumed = !deck.run.resume.empty();
  if (resumed)
    start.history = read_history(deck.run.resume, static_cast<int>(deck.solvers.size()), comm);
  if (resumed || deck.object.initial == "file")
    read_object(resumed ? "run.resume" : "object.file",
                resumed ? deck.run.resume : deck.object.file, scan, comm, start.unknowns.object);
  else
    Kokkos::deep_copy(start.unknowns.object, complex(1));
  return start;
}

}  // namespace tessera::app
