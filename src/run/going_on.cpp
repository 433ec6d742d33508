#include "run/going_on.hpp"

#include <filesystem>

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

}  // namespace

GoingOn find_going_on(const deck::Deck& deck, const comm::Communicator& comm, const Log& log) {
  const std::string& output = deck.output.file;
  bool is_there = false;
  comm.together([&] { is_there = comm.is_root() && std::filesystem::exists(output); });
  if (!comm.any(is_there)) return {};
  const std::string path = sound_result(output, comm, log);
  std::string why;
  if (comm.is_root()) why = why_anew(deck, path);
  comm.broadcast(why);
  if (!why.empty()) {
    log.info(text("--go-on: \"", path, "\" is not gone on from: ", why, "; the run starts anew"));
    return {};
  }
  const std::vector<EpochFigures> history =
      ResultFile(path, comm).history(static_cast<int>(deck.solvers.size()));
  const bool is_done =
      epochs_left(deck, history) == 0 || ending_rule(deck.stop, history, 0) != StopRule::none;
  log.info(text("--go-on: \"", path, "\" has ", history.size(), " epochs",
                is_done ? ", and nothing is left to do" : "; the run goes on from there"));
  return {path, is_done};
}

}  // namespace tessera::run
