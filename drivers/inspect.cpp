#include "analysis/inspect.hpp"

#include <memory>

#include <fmt/core.h>

#include "analysis/pictures.hpp"
#include "subcommands.hpp"

namespace tessera::drivers {

void add_inspect(CLI::App& app, Action& run) {
  struct Options {
    std::string file;
    bool json = false;
    std::string pictures;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("inspect", "Say what is in a scan or a result");
  command->add_option("file", options->file, "scan or result (HDF5), or a deck that names a scan")
      ->required();
  command->add_flag("--json", options->json, "print JSON instead of text");
  command->add_option("--png", options->pictures, "also write pictures to this folder");
  command->callback([options, &run] {
    run = [options](const comm::Communicator& comm) {
      comm.together([&] {
        if (!comm.is_root()) return;
        fmt::print("{}\n", analysis::inspect_report(options->file, options->json));
        if (options->pictures.empty()) return;
        for (const std::string& path : analysis::write_pictures(options->file, options->pictures))
          if (!options->json) fmt::print("picture {}\n", path);
      });
      return ExitCode::done;
    };
  });
}

}  // namespace tessera::drivers
