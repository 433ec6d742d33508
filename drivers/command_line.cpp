#include "command_line.hpp"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "tessera/base/text.hpp"

#include "deck/keys.hpp"
#include "run/plan_request.hpp"
#include "run/versions.hpp"
#include "subcommands.hpp"

namespace tessera::drivers {
namespace {

void add_overrides(CLI::App& command, DeckWords& words, const std::string& example) {
  command.add_option("settings", words.overrides, "deck keys to set, e.g. " + example)
      ->option_text("key=value ...");
  command.footer(deck::key_list());
}

void add_deck(CLI::App& command, DeckWords& words, const std::string& example) {
  command.add_option("deck", words.path, "deck (TOML; keys below, more on them in docs/deck.md)")
      ->required();
  add_overrides(command, words, example);
}

void add_summary(CLI::App& command, std::string& path) {
  command.add_option("--summary", path,
                     "also write figures and times of the run to this JSON file");
}

void add_bare_scan(CLI::App& command, BareScan& scan, const std::string& what) {
  command.add_option("file", scan.path, what)->required();
  command.add_flag_callback(
      "--follow-links", [&scan] { scan.links = io::Links::anywhere; },
      "also read values that the file has in others outside its folder, as data.follow_links");
}

void add_reconstruct(CLI::App& app, Action& action) {
  struct Options {
    DeckWords deck;
    std::string summary;
    bool goes_on = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "reconstruct", "Reconstruct object and probe from a scan, on as many ranks as were started");
  add_deck(*command, options->deck, "solver.epochs=200 probe.n_modes=5");
  add_summary(*command, options->summary);
  command->add_flag("--go-on", options->goes_on,
                    "go on from the result of the same deck at output.file, if there is one; exit "
                    "code 75 where a signal or the job's end leaves epochs: start it again");
  command->callback([options, &action] {
    action = [options](const comm::Communicator& comm) {
      return reconstruct(options->deck, options->summary, options->goes_on, comm);
    };
  });
}

void add_resume(CLI::App& app, Action& action) {
  struct Options {
    DeckWords result;
    std::string summary;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "resume", "Go on with a run from its result, with the deck in it, on any number of ranks");
  command->add_option("result", options->result.path, "result, also one saved on the way")
      ->required();
  add_overrides(*command, options->result, "solver.epochs=400");
  add_summary(*command, options->summary);
  command->callback([options, &action] {
    action = [options](const comm::Communicator& comm) {
      return resume(options->result, options->summary, comm);
    };
  });
}

void add_plan(CLI::App& app, Action& action) {
  struct Options {
    DeckWords deck;
    run::PlanRequest wanted;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "plan", "Say what a run would take on any number of ranks; no pattern is read");
  add_deck(*command, options->deck, "run.device_memory_bytes=80e9");
  command->add_option("--ranks", options->wanted.n_ranks, "numbers of ranks, default 1,2,4,8,16")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1000000));
  command->add_option("--machine", options->wanted.machine,
                      "also predict seconds an epoch, from what tessera_bench machine has written");
  command->add_option("--png", options->wanted.pictures,
                      "also draw the tiles of each number of ranks to this folder");
  command->callback([options, &action] {
    action = [options](const comm::Communicator& comm) {
      return plan(options->deck, options->wanted, comm);
    };
  });
}

void add_simulate(CLI::App& app, Action& action) {
  const auto words = std::make_shared<DeckWords>();
  CLI::App* command = app.add_subcommand(
      "simulate", "Simulate a scan with known truth and write it to the deck's data.file");
  add_deck(*command, *words, "simulation.counts_per_pattern=1e5");
  command->callback([words, &action] {
    action = [words](const comm::Communicator& comm) { return simulate(*words, comm); };
  });
}

void add_init(CLI::App& app, Action& action) {
  struct Options {
    BareScan scan;
    std::string deck;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "init", "Write a deck for a scan, from what its file says and shows (docs/formats.md)");
  add_bare_scan(*command, options->scan, "the scan, as beamline or microscope wrote it");
  command->add_option("-o,--output", options->deck,
                      "deck to write; else named as the file, in the working folder");
  command->callback([options, &action] {
    action = [options](const comm::Communicator& comm) {
      return init(options->scan, options->deck, comm);
    };
  });
}

void add_look(CLI::App& app, Action& action) {
  struct Options {
    BareScan scan;
    std::string pictures;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "look", "Say and draw what a scan's patterns show, on as many ranks as were started");
  add_bare_scan(*command, options->scan, "the scan, as beamline or microscope wrote it");
  command->add_option("--png", options->pictures,
                      "also draw pictures to this folder: patterns, bright and dark field, centre "
                      "of mass, its divergence and potential");
  command->callback([options, &action] {
    action = [options](const comm::Communicator& comm) {
      return look(options->scan, options->pictures, comm);
    };
  });
}

void add_convert(CLI::App& app, Action& action) {
  struct Options {
    BareScan file;
    std::string out;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "convert", "Write a result, or a scan, as a file of other programs (docs/formats.md)");
  add_bare_scan(*command, options->file, "a result, or a scan of any format");
  command
      ->add_option("-o,--output", options->out,
                   "file to write; its ending says what: .cxi, and of a result .ptyr, .npz, .mat, "
                   ".tif")
      ->required();
  command->callback([options, &action] {
    action = [options](const comm::Communicator& comm) {
      return convert(options->file, options->out, comm);
    };
  });
}

void add_inspect(CLI::App& app, Action& action) {
  struct Options {
    std::string file;
    InspectRequest wanted;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("inspect", "Say what is in a scan or a result");
  command->add_option("file", options->file, "scan or result (HDF5), or a deck that names a scan")
      ->required();
  CLI::Option* json =
      command->add_flag("--json", options->wanted.as_json, "print JSON instead of text");
  command->add_option("--png", options->wanted.pictures, "also write pictures to this folder");
  command->add_option("--deep-zoom", options->wanted.deep_zoom,
                      "also write a result's object to this folder as tiles of every resolution "
                      "(Deep Zoom), on as many ranks as were started: open its index.html");
  command
      ->add_flag("--view", options->wanted.views,
                 "also draw a result's object and error here, by characters")
      ->excludes(json);
  command->callback([options, &action] {
    action = [options](const comm::Communicator& comm) {
      return inspect(options->file, options->wanted, comm);
    };
  });
}

void add_compare(CLI::App& app, Action& action) {
  struct Options {
    std::string a;
    std::string b;
    bool as_json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "compare",
      "Difference of two results, or of a result and a simulation's truth, with and "
      "without what ptychography leaves open; Fourier ring correlation");
  command->add_option("a", options->a, "result")->required();
  command->add_option("b", options->b, "reference: a result or a simulated scan")->required();
  command->add_flag("--json", options->as_json, "print JSON instead of text");
  command->callback([options, &action] {
    action = [options](const comm::Communicator& comm) {
      return compare(options->a, options->b, options->as_json, comm);
    };
  });
}

void add_report(CLI::App& app, Action& action) {
  struct Options {
    std::vector<std::string> results;
    std::string out = "report.html";
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("report", "Show a result as one HTML page, or two beside one another");
  command
      ->add_option("results", options->results,
                   "a result; a second, or a simulated scan, to compare it with")
      ->required()
      ->expected(1, 2);
  command->add_option("-o,--output", options->out, "page to write, default report.html");
  command->callback([options, &action] {
    action = [options](const comm::Communicator& comm) {
      return report(options->results, options->out, comm);
    };
  });
}

void add_methods(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "methods", "Print which solver.method goes with which model and which options");
  command->callback([&action] { action = methods; });
}

}  // namespace

std::optional<Action> parse_command_line(int argc, char** argv, bool speaks) {
  CLI::App app("Tessera: ptychography on tiles, N ranks compute what one rank computes", "tessera");
  app.require_subcommand(1);
  app.set_version_flag("--version", run::versions,
                       "Print versions of Tessera, compiler and libraries");
  Action action;
  add_reconstruct(app, action);
  add_resume(app, action);
  add_plan(app, action);
  add_simulate(app, action);
  add_init(app, action);
  add_look(app, action);
  add_convert(app, action);
  add_inspect(app, action);
  add_compare(app, action);
  add_report(app, action);
  add_methods(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0)
      throw AgreedError(ExitCode::bad_input, text(error.what(), "; see tessera --help"));
    if (speaks) app.exit(error);
    return {};
  }
  return action;
}

}  // namespace tessera::drivers
