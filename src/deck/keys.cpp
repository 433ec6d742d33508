#include "deck/keys.hpp"

#include <utility>

#include "tessera/base/text.hpp"

#include "sections.hpp"

namespace tessera::deck {

std::vector<Section> sections(Deck& deck) {
  std::vector<Section> all = {{"",
                               {{.name = "title",
                                 .field = &deck.title,
                                 .meaning = "What a person calls this run; copied into the "
                                            "result."},
                                {.name = "sample",
                                 .field = &deck.sample,
                                 .meaning = "What was measured; copied into the result."},
                                {.name = "instrument",
                                 .field = &deck.instrument,
                                 .meaning = "Where; copied into the result."},
                                {.name = "measured_at",
                                 .field = &deck.measured_at,
                                 .meaning = "When, such as `\"2024-05-01T12:30:00\"`; copied into "
                                            "the result."}}},
                              {"data", deck.data.keys()},
                              {"experiment", deck.experiment.keys()},
                              {"probe", deck.probe.keys()},
                              {"object", deck.object.keys()}};
  for (std::size_t stage = 0; stage < deck.solvers.size(); ++stage)
    all.push_back({solver_section(deck, stage), deck.solvers[stage].keys()});
  for (Section& section : std::vector<Section>{{"refine", deck.refine.keys()},
                                               {"constraints", deck.constraints.keys()},
                                               {"stop", deck.stop.keys()},
                                               {"validation", deck.validation.keys()},
                                               {"decomposition", deck.decomposition.keys()},
                                               {"run", deck.run.keys()},
                                               {"output", deck.output.keys()},
                                               {"simulation", deck.simulation.keys()}})
    all.push_back(std::move(section));
  return all;
}

std::vector<Key> keys(Deck& deck) {
  std::vector<Key> all;
  for (Section& section : sections(deck))
    for (Key& key : section.keys) {
      if (!section.name.empty()) key.name = section.name + "." + key.name;
      all.push_back(std::move(key));
    }
  return all;
}

std::string solver_section(const Deck& deck, std::size_t stage) {
  return deck.solvers.size() == 1 ? "solver" : text("solver[", stage, "]");
}

}  // namespace tessera::deck
