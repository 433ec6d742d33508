#include "run/start.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tessera/base/error.hpp"
#include "tessera/base/naming.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"
#include "tessera/optics/start_probe.hpp"

#include "optics/deck_optics.hpp"
#include "optics/framed_probe.hpp"
#include "optics/near_field_probe.hpp"
#include "result_file.hpp"
#include "start_object.hpp"

namespace tessera::run {
namespace {

using device::complex;

/// Of the patterns' shape; one of the file's patterns' shape is cut, binned and padded as they
/// were.
WaveStack checked_probe(const WaveStack& probe, const std::string& path, const std::string& dataset,
                        const geometry::DetectorFrame& frame) {
  const Shape2 pattern = frame.pattern;
  if (probe.shape() != pattern && probe.shape() != frame.recorded)
    throw InputError(text("'", dataset, "' in '", path, "' is ", probe.h(), " x ", probe.w(),
                          " pixels but the patterns are ", pattern.h, " x ", pattern.w,
                          "; crop or pad it to their size"));
  for (const std::complex<double>& value : probe)
    if (!std::isfinite(std::norm(value)))
      throw InputError(text("'", dataset, "' in '", path, "' holds values that are not finite"));
  return probe.shape() == pattern ? probe : optics::framed_probe(probe, frame);
}

/// Read by rank 0, to all. Collective.
template <class Read>
WaveStack read_probe(const std::string& key, const std::string& path, const std::string& dataset,
                     const Scan& scan, const comm::Communicator& comm, const Read& read) {
  WaveStack probe;
  int n_modes = 0;
  comm.together([&] {
    if (!comm.is_root()) return;
    probe = naming(key, [&] { return checked_probe(read(), path, dataset, scan.info.frame); });
    n_modes = probe.n();
  });
  comm.broadcast(std::span<int>(&n_modes, 1));
  if (!comm.is_root()) probe = WaveStack(n_modes, scan.info.pattern);
  comm.broadcast(std::span<std::complex<double>>(probe.data(), probe.size()));
  return probe;
}

/// Of a result. Collective.
WaveStack result_probe(const std::string& key, const std::string& path, const Scan& scan,
                       const comm::Communicator& comm) {
  return read_probe(key, path, "probe", scan, comm,
                    [&] { return io::File::open(path).read_waves("probe"); });
}

/// Of the scan's own file, or of another. Collective.
WaveStack dataset_probe(const deck::Deck& deck, const Scan& scan, const comm::Communicator& comm) {
  const std::string& dataset = deck.probe.dataset;
  const std::string& apart = deck.probe.dataset_file;
  return read_probe("probe.dataset", apart.empty() ? deck.data.file : apart, dataset, scan, comm,
                    [&] {
                      return apart.empty() ? io::read_start_probe(scan.source, scan.info, dataset)
                                           : io::read_probe_file(apart, dataset);
                    });
}

/// Read by rank 0, to all. Collective.
ImageStack<double> read_vacuum(const deck::Deck& deck, const Scan& scan,
                               const comm::Communicator& comm) {
  ImageStack<double> vacuum(1, scan.info.pattern);
  comm.together([&] {
    if (!comm.is_root()) return;
    vacuum = naming("probe.vacuum", [&] {
      return io::read_detector_image(scan.source, scan.info, deck.probe.vacuum);
    });
  });
  comm.broadcast(std::span(vacuum.data(), vacuum.size()));
  return vacuum;
}

/// What the probe brings to a pattern. The mean of the patterns, as for an object of modulus 1 on
/// the average; for an absorbing start object that of the brightest fitted pattern, or of no
/// sample.
/// Collective.
double start_counts(const deck::Deck& deck, const Scan& scan, double vacuum_counts,
                    const comm::Communicator& comm) {
  if (deck.object.initial != "stxm") return scan.counts_per_pattern;
  if (deck.probe.initial == "vacuum") return vacuum_counts;
  std::array<double, 1> most{0};
  for (const io::PatternMoments& moments : scan.moments.moments)
    most[0] = std::max(most[0], moments.counts);
  comm.maximum(most);
  return most[0];
}

WaveStack start_probe(const deck::Deck& deck, const Scan& scan, const comm::Communicator& comm) {
  deck::Probe from = deck.probe;
  from.defocus_m = scan.beam.defocus_m;
  const bool resumed = !deck.run.resume.empty();
  const bool continued = resumed || from.initial == "file";
  const auto from_pattern = [&](const ImageStack<double>& pattern) {
    const geometry::Optics& optics = scan.plan.optics;
    if (optics.is_near_field())
      return optics::near_field_probe(
          pattern, scan.info.valid_pixels, optics,
          optics::curvature_on_detector(scan.beam.motion, optics.propagation_m),
          deck.experiment.propagation == "fresnel");
    return optics::pattern_probe(pattern, optics.wavelength_m, optics.pixel_m,
                                 optics::aberrations(from));
  };
  WaveStack probe;
  double vacuum_counts = 0;
  if (resumed) {
    probe = result_probe("run.resume", deck.run.resume, scan, comm);
  } else if (continued) {
    probe = result_probe("probe.file", from.file, scan, comm);
  } else if (from.initial == "dataset") {
    probe = dataset_probe(deck, scan, comm);
  } else if (from.initial == "mean_pattern") {
    probe = from_pattern(scan.mean_pattern);
  } else if (from.initial == "vacuum") {
    const ImageStack<double> vacuum = read_vacuum(deck, scan, comm);
    vacuum_counts = std::accumulate(vacuum.begin(), vacuum.end(), 0.0);
    probe = from_pattern(vacuum);
  }
  const double counts = continued ? 0 : start_counts(deck, scan, vacuum_counts, comm);
  comm.together([&] {
    if (probe.size() == 0) {
      probe = optics::optical_probe(from, scan.info.pattern, scan.plan.optics);
      // Poisson's noise sends a dark pixel a thousand times its own way, wherever that is.
      if (noise_from(scan.plan.solvers.front().noise) == physics::Noise::amplitude)
        optics::add_faint_light(probe);
    }
    // What an earlier run has fitted stays as it is.
    if (continued && probe.n() == from.n_modes + from.opr_modes) return;
    probe = optics::with_extra_modes(probe, from.n_modes, from.extra_mode_power);
    // A probe that was reconstructed goes with its object's scale; any other is brought to the
    // counts.
    if (!continued) optics::scale_to_counts(probe, counts);
    probe = optics::with_opr_modes(probe, from.opr_modes, from.extra_mode_power);
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

}  // namespace

Start make_start(const deck::Deck& deck, const Scan& scan, const comm::Communicator& comm) {
  const WaveStack probe = start_probe(deck, scan, comm);
  const Box& ghosted = scan.tile().ghosted;
  Start start;
  start.unknowns.probe = on_device(probe);
  start.unknowns.object =
      physics::ObjectView("tessera::physics::object", deck.object.n_modes * deck.object.n_slices,
                          ghosted.height(), ghosted.width());
  if (!deck.run.resume.empty())
    start.history =
        ResultFile(deck.run.resume, comm).history(static_cast<int>(deck.solvers.size()));
  fill_start_object(deck, scan, probe, comm, start.unknowns.object);
  return start;
}

}  // namespace tessera::run
