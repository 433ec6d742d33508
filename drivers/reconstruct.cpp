#include <memory>

#include "deck/check.hpp"
#include "deck/keys.hpp"
#include "run/run.hpp"
#include "subcommands.hpp"

namespace tessera::drivers {

void add_reconstruct(CLI::App& app, Action& run) {
  struct Options {
    std::string deck;
    std::vector<std::string> overrides;
    std::string summary;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "reconstruct", "Reconstruct object and probe from a scan, on as many ranks as were started");
  command
      ->add_option("deck", options->deck, "deck (TOML; keys below, more on them in docs/deck.md)")
      ->required();
  command
      ->add_option("settings", options->overrides,
                   "deck keys to set, e.g. solver.epochs=200 probe.n_modes=5")
      ->option_text("key=value ...");
  command->add_option("--summary", options->summary,
                      "also write figures and times of the run to this JSON file");
  command->footer(deck::key_list());
  command->callback([options, &run] {
    run = [options](const comm::Communicator& comm) {
      const deck::Deck deck = read_deck(options->deck, options->overrides, comm);
      comm.together([&] {
        if (!comm.is_root()) return;
        deck::check_written_path(deck, options->deck, "output.file", deck.output.file);
        if (!options->summary.empty())
          deck::check_written_path(deck, options->deck, "--summary", options->summary);
      });
      return run::reconstruct(deck, comm, options->summary);
    };
  });
}

}  // namespace tessera::drivers
