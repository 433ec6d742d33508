#include <memory>

#include <fmt/core.h>

#include "deck/check.hpp"
#include "deck/keys.hpp"
#include "simulation/simulation.hpp"
#include "subcommands.hpp"

namespace tessera::drivers {

void add_simulate(CLI::App& app, Action& run) {
  struct Options {
    std::string deck;
    std::vector<std::string> overrides;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "simulate", "Simulate a scan with known truth and write it to the deck's data.file");
  command
      ->add_option("deck", options->deck, "deck (TOML; keys below, more on them in docs/deck.md)")
      ->required();
  command
      ->add_option("settings", options->overrides,
                   "deck keys to set, e.g. simulation.counts_per_pattern=1e5")
      ->option_text("key=value ...");
  command->footer(deck::key_list());
  command->callback([options, &run] {
    run = [options](const comm::Communicator& comm) {
      const deck::Deck deck = read_deck(options->deck, options->overrides, comm);
      comm.together([&] {
        if (comm.is_root())
          deck::check_written_path(deck, options->deck, "data.file", deck.data.file);
      });
      simulation::simulate(deck, comm, Log(comm.is_root()));
      if (comm.is_root()) fmt::print("scan {}\n", deck.data.file);
      return ExitCode::done;
    };
  });
}

}  // namespace tessera::drivers
