#include "deck/check.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "deck/keys.hpp"
#include "deck/methods.hpp"
#include "describe.hpp"

namespace tessera::deck {

namespace {

using settings::require;

void check_images(const Deck& deck) {
  require(deck.experiment.propagation == "far_field" || deck.data.zero_frequency == "centre",
          text("data.zero_frequency = ", quoted(deck.data.zero_frequency),
               " is for the far field: with experiment.propagation = ",
               quoted(deck.experiment.propagation),
               " patterns are images in the detector's own order; leave it out"));
}

/// Their formulas see the far field.
void check_start_object(const Deck& deck) {
  require(deck.object.initial != "centre_of_mass" || deck.experiment.propagation == "far_field",
          text("object.initial = \"centre_of_mass\" needs experiment.propagation = \"far_field\", "
               "not ",
               quoted(deck.experiment.propagation), R"(; use "stxm" or "ones")"));
}

void check_solvers(const Deck& deck) {
  for (std::size_t stage = 0; stage < deck.solvers.size(); ++stage) {
    deck.solvers[stage].check(solver_section(deck, stage));
    const std::string refused = excluded_option(deck, stage);
    require(refused.empty(), refused);
  }
}

void check_slices(const Deck& deck) {
  const std::string n_slices = text("object.n_slices = ", deck.object.n_slices);
  if (deck.object.n_slices > 1) {
    const std::vector<double>& distances_m = deck.object.slice_distances_m;
    const bool equal = deck.object.slice_thickness_m > 0;
    require(equal || !distances_m.empty(),
            n_slices +
                " needs object.slice_thickness_m above 0: the distance between slices, "
                "metres; or object.slice_distances_m, all of them");
    require(
        !equal || distances_m.empty(),
        text("object.slice_thickness_m = ", settings::number_text(deck.object.slice_thickness_m),
             " and object.slice_distances_m both say how far slices are apart; leave one out"));
    require(equal || std::ssize(distances_m) == deck.object.n_slices - 1,
            text("object.slice_distances_m has ", distances_m.size(), " distances, but ", n_slices,
                 " has ", deck.object.n_slices - 1, " gaps"));
    require(equal || std::ranges::min(distances_m) > 0,
            "object.slice_distances_m must be above 0, each of them, metres");
    return;
  }
  const std::string needs = " needs a thick sample, but " + n_slices +
                            "; set object.n_slices and object.slice_thickness_m, or leave it out";
  require(deck.object.slice_distances_m.empty(), "object.slice_distances_m" + needs);
  require(deck.experiment.beam_tilt_rad.empty(), "experiment.beam_tilt_rad" + needs);
  for (const auto& [name, from_epoch] :
       {std::pair{"thickness", deck.refine.slices.thickness_from_epoch},
        std::pair{"tilt", deck.refine.slices.tilt_from_epoch}})
    require(from_epoch < 0, text("refine.", name, "_from_epoch = ", from_epoch, needs));
}

/// The object in a window is one image.
void check_positions(const Deck& deck) {
  const Refine& refine = deck.refine;
  require(refine.positions.from_epoch < 0 || refine.positions.method == "gradient" ||
              deck.object.n_slices == 1,
          text("refine.positions_method = ", quoted(refine.positions.method),
               " is for a thin sample, but object.n_slices = ", deck.object.n_slices,
               "; use \"gradient\", or 1 slice"));
}

void check_shared_gpu(const Deck& deck) {
  const std::string& transport = deck.decomposition.transport;
  require(!deck.run.share_gpu || !settings::wants_own_gpu(transport),
          text("run.share_gpu = true contradicts decomposition.transport = ", quoted(transport),
               ", which wants a GPU for every rank; use \"auto\", \"gpu_mpi\" or \"host_mpi\", or "
               "set run.share_gpu = false"));
}

void check_stop(const Deck& deck) {
  require(deck.stop.validation_epochs == 0 || deck.validation.fraction > 0,
          text("stop.validation_epochs = ", deck.stop.validation_epochs,
               " looks at held-out positions, but validation.fraction = 0 holds out none; set "
               "validation.fraction, 0.05 for one, or leave it out"));
}

void require_text(const std::string& value, const std::string& key, const std::string& remedy) {
  require(!value.empty(), key + " is missing: " + remedy);
}

}  // namespace

void check(const Deck& deck) {
  deck.data.check();
  deck.experiment.check();
  deck.probe.check();
  deck.constraints.check({deck.experiment, deck.probe, deck.object});
  check_images(deck);
  check_slices(deck);
  check_positions(deck);
  check_start_object(deck);
  check_solvers(deck);
  check_shared_gpu(deck);
  check_stop(deck);
}

void check_reconstruction(const Deck& deck) {
  require_text(deck.output.file, "output.file", "name the file of the result");
  if (deck.probe.initial == "dataset") {
    require_text(deck.probe.dataset, "probe.dataset",
                 "probe.initial = \"dataset\" reads the probe from it; or choose another "
                 "probe.initial");
  }
  if (deck.probe.initial == "file") {
    require_text(deck.probe.file, "probe.file",
                 "probe.initial = \"file\" reads the probe from it, the result of an earlier run");
  }
  if (deck.probe.initial == "vacuum") {
    require_text(deck.probe.vacuum, "probe.vacuum",
                 "probe.initial = \"vacuum\" makes the probe from that dataset of data.file");
  }
  if (deck.object.initial == "file") {
    require_text(
        deck.object.file, "object.file",
        "object.initial = \"file\" reads the object from it, the result of an earlier run");
  }
}

namespace {

/// In an HDF5 file, where "/" and "." are the root.
bool lies_within(std::string_view name, std::string_view group) {
  const auto relative = [](std::string_view path) {
    return path.substr(std::min(path.size(), path.find_first_not_of("/.")));
  };
  group = relative(group);
  name = relative(name);
  return group.empty() || name == group || name.starts_with(std::string(group) + '/');
}

void check_written_names(const Data& data) {
  const std::array<std::string, 4> names{data.patterns, data.positions.value_or("positions_m"),
                                         data.valid_pixels.value_or("valid_pixels"), "truth"};
  for (const std::string& name : names)
    for (const std::string& other : names)
      require(&name == &other || !lies_within(name, other),
              text("data.patterns, data.positions and data.valid_pixels, ", quoted(names[0]), ", ",
                   quoted(names[1]), " and ", quoted(names[2]),
                   ", are datasets that simulate writes beside the group \"truth\"; give each a "
                   "name of its own"));
}

}  // namespace

void check_simulation(const Deck& deck) {
  require(deck.probe.is_optic(),
          text("probe.initial = ", quoted(deck.probe.initial),
               " is not known before there are "
               "data; simulate needs the optics: \"aperture\" or \"zone_plate\""));
  deck.simulation.check();
  require(
      deck.simulation.dead_pixel_fraction == 0 || deck.data.valid_pixels,
      text("simulation.dead_pixel_fraction = ", number_text(deck.simulation.dead_pixel_fraction),
           " needs data.valid_pixels, the dataset that will list the pixels to trust"));
  check_written_names(deck.data);
}

}  // namespace tessera::deck
