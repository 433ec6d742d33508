#include "run/resumed_deck.hpp"

#include <algorithm>
#include <cmath>

#include "tessera/base/naming.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/save.hpp"

#include "deck/check.hpp"
#include "deck/describe.hpp"
#include "deck/parse.hpp"
#include "result_file.hpp"
#include "stop_rules.hpp"

namespace tessera::run {
namespace {

/// Adds `what`, unless the deck fits it.
void keep(auto& from_epoch, const char* what, std::string& kept) {
  if (from_epoch >= 0) return;
  from_epoch = deck::Refine::no_epoch;
  kept += text(kept.empty() ? "" : ", ", what);
}

/// @return the words for what `deck` did not ask for
std::string add_fitted(const FittedValues& fitted, deck::Deck& deck) {
  std::string kept;
  deck::Refine& refine = deck.refine;
  if (fitted.max_displacement_px > 0 && refine.positions.from_epoch < 0) {
    keep(refine.positions.from_epoch, "positions", kept);
    refine.positions.method = "gradient";
    refine.positions.limit_px = std::max(refine.positions.limit_px, fitted.max_displacement_px);
  }
  deck::Refine::for_each(refine, [&](auto& parameter) {
    if constexpr (requires { parameter.stored; })
      if (fitted.stored.contains(parameter.stored.name))
        keep(parameter.from_epoch, parameter.stored.word, kept);
  });
  if (fitted.n_opr_modes > 0 && deck.probe.opr_modes == 0) {
    deck.probe.opr_modes = fitted.n_opr_modes;
    kept += text(kept.empty() ? "" : ", ", "OPR modes");
  }
  return kept;
}

void check_epochs_left(const std::string& path, const deck::Deck& deck,
                       const comm::Communicator& comm) {
  const std::vector<EpochFigures> history =
      ResultFile(path, comm).history(static_cast<int>(deck.solvers.size()));
  if (epochs_left(deck, history) > 0) return;
  const std::size_t last = deck.solvers.size() - 1;
  throw AgreedError(ExitCode::bad_input,
                    text('"', path, "\" has all its ", history.size(),
                         " epochs, or a plateau (stop.plateau_change = ", deck.stop.plateau_change,
                         "): nothing is left to do; ask for more of the last solver, "
                         "which has made ",
                         epochs_in_stage(history, static_cast<int>(last)), ": ",
                         deck::solver_section(deck, last), ".epochs=N"));
}

}  // namespace

std::string deck_text_of_result(const std::string& path) {
  const io::File file = io::File::open(path);
  if (!file.text_attribute("/", "format").value_or("").starts_with("tessera-result"))
    throw InputError(text('"', path, "\" is not a result of tessera reconstruct",
                          file.has("patterns") ? " but a scan" : "", "; name a result"));
  if (!file.has("deck"))
    throw InputError(text('"', path,
                          "\" holds no deck; go on with that of its run: tessera "
                          "reconstruct DECK run.resume=",
                          path));
  return file.read_text("deck");
}

std::string sound_result(const std::string& path, const comm::Communicator& comm, const Log& log) {
  const io::Soundness soundness = io::soundness_of(path, comm);
  if (soundness == io::Soundness::sound) return path;
  std::string older = io::older_save(path);
  const char* what = soundness == io::Soundness::damaged
                         ? "\" is damaged (its bytes are not those of its checksum)"
                         : "\" is missing or cannot be read";
  if (io::soundness_of(older, comm) == io::Soundness::sound) {
    log.warning(text('"', path, what, ": going on from the save before it, \"", older, '"'));
    return older;
  }
  if (soundness == io::Soundness::damaged)
    throw AgreedError(ExitCode::bad_input,
                      text('"', path, what, ", and there is no save before it, \"", older,
                           "\"; copy it again or start anew"));
  return path;
}

void fit_tiles(int n_ranks, deck::Deck& deck) {
  std::vector<int>& tiles = deck.decomposition.tiles;
  if (!tiles.empty() && tiles[0] * tiles[1] != n_ranks) tiles.clear();
}

deck::Deck deck_to_resume(const std::string& path, const std::string& from,
                          std::span<const std::string> overrides, const comm::Communicator& comm) {
  std::string toml_text;
  comm.together([&] {
    if (comm.is_root()) toml_text = deck_text_of_result(from);
  });
  comm.broadcast(toml_text);
  std::vector<std::string> words;
  words.push_back("run.resume=" + deck::quoted(from));
  words.push_back("output.file=" + deck::quoted(path));
  words.emplace_back("run.resume_fitted=true");
  words.insert(words.end(), overrides.begin(), overrides.end());
  deck::Deck deck;
  comm.together([&] { deck = deck::parse(toml_text, path, words); });
  const bool is_asked = std::ranges::any_of(
      overrides, [](const std::string& word) { return word.starts_with("decomposition.tiles"); });
  if (!is_asked) fit_tiles(comm.size(), deck);
  check_epochs_left(from, deck, comm);
  return deck;
}

deck::Deck resumed_deck(const deck::Deck& deck, const comm::Communicator& comm, const Log& log) {
  if (deck.run.resume.empty() || !deck.run.resume_fitted) return deck;
  const FittedValues fitted = ResultFile(deck.run.resume, comm).fitted_values();
  deck::Deck whole = deck;
  comm.together([&] {
    const std::string kept = add_fitted(fitted, whole);
    if (kept.empty()) return;
    naming(text("run.resume = \"", deck.run.resume, "\" has fitted ", kept,
                " (run.resume_fitted = false drops them)"),
           [&] { deck::check(whole); });
    log.info(text("run.resume: ", kept, " as the result has them"));
  });
  return whole;
}

}  // namespace tessera::run
