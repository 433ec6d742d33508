#include "run/going_on.hpp"

#include <filesystem>
#include <optional>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "deck/check.hpp"
#include "deck/parse.hpp"
#include "result_file.hpp"
#include "run/resumed_deck.hpp"
#include "stop_rules.hpp"

namespace tessera::run {
namespace {

/// Why the run that `deck` is cannot go on from the result at `path`; empty: it can. Rank 0's.
std::string why_anew(const deck::Deck& deck, const std::string& path) {
  try {
    const deck::Deck found = deck::parse(deck_text_of_result(path), path, {});
    const std::string key = deck::differing_key(deck, found);
    return key.empty() ? "" : text("it is of a run with another ", key);
  } catch (const InputError& error) {
    return error.what();
  }
}

struct State {
  std::string path;
  std::vector<EpochFigures> history;
};

/// What lies at `path`, if the run that `deck` is can go on from it. Collective.
std::optional<State> state_at(const std::string& path, const deck::Deck& deck,
                              const comm::Communicator& comm, const Log& log) {
  bool is_there = false;
  comm.together([&] { is_there = comm.is_root() && std::filesystem::exists(path); });
  if (!comm.any(is_there)) return {};
  const std::string sound = sound_result(path, comm, log);
  std::string why;
  if (comm.is_root()) why = why_anew(deck, sound);
  comm.broadcast(why);
  if (!why.empty()) {
    log.info(text("--go-on: \"", sound, "\" is not gone on from: ", why));
    return {};
  }
  return State{sound, ResultFile(sound, comm).history(static_cast<int>(deck.solvers.size()))};
}

}  // namespace

GoingOn find_going_on(const deck::Deck& deck, const comm::Communicator& comm, const Log& log) {
  std::optional<State> newest = state_at(deck.output.file, deck, comm, log);
  std::optional<State> fallback = state_at(deck.output.fallback, deck, comm, log);
  if (fallback && (!newest || fallback->history.size() > newest->history.size()))
    newest = std::move(fallback);
  if (!newest) {
    log.info("--go-on: no state of this run is there; it starts anew");
    return {};
  }
  const auto& [path, history] = *newest;
  const bool is_done =
      epochs_left(deck, history) == 0 || ending_rule(deck, history, 0) != StopRule::none;
  log.info(text("--go-on: \"", path, "\" has ", history.size(), " epochs",
                is_done ? ", and nothing is left to do" : "; the run goes on from there"));
  return {path, is_done};
}

}  // namespace tessera::run
