#include "tessera/deck/keys.hpp"

#include <iterator>

#include "tessera/base/text.hpp"

#include "sections.hpp"

namespace tessera::deck {

std::vector<Key> keys(Deck& deck) {
  std::vector<Key> all = {{.name = "title",
                           .field = &deck.title,
                           .meaning = "What a person calls this run; copied into the result."}};
  const auto append = [&](std::vector<Key> section) {
    std::move(section.begin(), section.end(), std::back_inserter(all));
  };
  append(data_keys(deck.data));
  append(experiment_keys(deck.experiment));
  append(probe_keys(deck.probe));
  append(object_keys(deck.object));
  for (std::size_t stage = 0; stage < deck.solvers.size(); ++stage)
    append(solver_keys(deck.solvers[stage], solver_section(deck, stage)));
  append(refine_keys(deck.refine));
  append(constraint_keys(deck.constraints));
  append(stop_keys(deck.stop));
  append(validation_keys(deck.validation));
  append(decomposition_keys(deck.decomposition));
  append(run_keys(deck.run));
  append(output_keys(deck.output));
  append(simulation_keys(deck.simulation));
  return all;
}

std::string solver_section(const Deck& deck, std::size_t stage) {
  return deck.solvers.size() == 1 ? "solver" : text("solver[", stage, "]");
}

Key first_epoch(const std::string& name, Field field, const std::string& what) {
  return {.name = name,
          .field = field,
          .meaning = text("First epoch, from 0, ", what, "; -1: never."),
          .least = -1,
          .greatest = 1000000};
}

std::vector<Key> decomposition_keys(Decomposition& decomposition) {
  return {
      {.name = "decomposition.tiles",
       .field = &decomposition.tiles,
       .meaning =
           "Rows and columns of tiles; their product is the number of ranks. `\"auto\"` cuts "
           "so that all ranks have equal work, for any number of ranks and any scan.",
       .least = 1,
       .greatest = 100000,
       .length = 2,
       .none = "auto"},
      {.name = "decomposition.transport",
       .field = &decomposition.transport,
       .meaning = "How ranks exchange ghost pixels. `auto` takes the fastest that works here; name "
                  "one to compare or to get around a broken one.",
       .choices = {"auto", "host_mpi", "gpu_mpi", "nccl"}},
      {.name = "decomposition.transport_timeout_s",
       .field = &decomposition.transport_timeout_s,
       .meaning = "Time without an answer from other ranks after which NCCL gives up and the job "
                  "ends. Longer than any batch.",
       .least = 1,
       .greatest = 86400},
  };
}

std::vector<Key> run_keys(Run& run) {
  return {
      {.name = "run.deterministic",
       .field = &run.deterministic,
       .meaning = "Add overlapping patches in a fixed order, so that a run repeats bit for bit. "
                  "Slower; for finding errors and comparing versions."},
      {.name = "run.resume",
       .field = &run.resume,
       .meaning =
           "Result of an earlier run to continue, on any number of ranks; empty: start anew.",
       .is_path = true},
      {.name = "run.device_memory_bytes",
       .field = &run.device_memory_bytes,
       .meaning = "Device memory that a rank may take; 0: what is free at the start, less a "
                  "margin. Patterns that do not fit stay in host memory or in the file and stream "
                  "through the device.",
       .least = 0,
       .greatest = 1e18},
      {.name = "run.host_memory_bytes",
       .field = &run.host_memory_bytes,
       .meaning = "Host memory that a rank may take; 0: its share of nine tenths of what the host "
                  "has available.",
       .least = 0,
       .greatest = 1e18},
      {.name = "run.share_gpu",
       .field = &run.share_gpu,
       .meaning = "Let several ranks use one GPU, for trials: slower than one rank for each, and "
                  "not with `nccl`. Without it fewer GPUs than ranks are an error. Nothing to a "
                  "build for hosts."},
  };
}

std::vector<Key> output_keys(Output& output) {
  return {
      {.name = "output.file",
       .field = &output.file,
       .meaning = "HDF5 file of the result: object, probe, positions, history and resolved deck.",
       .is_path = true},
      {.name = "output.pictures",
       .field = &output.pictures,
       .meaning = "Folder for PNG pictures of object and probe; empty: none.",
       .is_path = true},
      {.name = "output.save_every_epochs",
       .field = &output.save_every_epochs,
       .meaning =
           "Epochs between saved states from which a run can resume; 0: only at the end. Set "
           "it for jobs that may hit a time limit.",
       .least = 0,
       .greatest = 1000000},
  };
}

}  // namespace tessera::deck
