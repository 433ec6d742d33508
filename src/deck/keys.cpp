#include "tessera/deck/keys.hpp"

#include <utility>

#include "tessera/base/text.hpp"

#include "sections.hpp"

namespace tessera::deck {

std::vector<Key> keys(Deck& deck) {
  std::vector<Key> all = {{.name = "title",
                           .field = &deck.title,
                           .meaning = "What a person calls this run; copied into the result."}};
  const auto append = [&](const std::string& section, std::vector<Key> rows) {
    for (Key& key : rows) {
      key.name = section + "." + key.name;
      all.push_back(std::move(key));
    }
  };
  append("data", deck.data.keys());
  append("experiment", deck.experiment.keys());
  append("probe", deck.probe.keys());
  append("object", deck.object.keys());
  for (std::size_t stage = 0; stage < deck.solvers.size(); ++stage)
    append(solver_section(deck, stage), solver_keys(deck.solvers[stage]));
  append("refine", deck.refine.keys());
  append("constraints", deck.constraints.keys());
  append("stop", deck.stop.keys());
  append("validation", deck.validation.keys());
  append("decomposition", deck.decomposition.keys());
  append("run", deck.run.keys());
  append("output", deck.output.keys());
  append("simulation", deck.simulation.keys());
  return all;
}

std::string solver_section(const Deck& deck, std::size_t stage) {
  return deck.solvers.size() == 1 ? "solver" : text("solver[", stage, "]");
}

}  // namespace tessera::deck
