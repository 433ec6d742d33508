#include "analysis/compare.hpp"

#include <memory>

#include <fmt/core.h>

#include "subcommands.hpp"

namespace tessera::drivers {

void add_compare(CLI::App& app, Action& run) {
  struct Options {
    std::string a;
    std::string b;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "compare",
      "Difference of two results, or of a result and a simulation's truth, with and "
      "without what ptychography leaves open; Fourier ring correlation");
  command->add_option("a", options->a, "result")->required();
  command->add_option("b", options->b, "reference: a result or a simulated scan")->required();
  command->add_flag("--json", options->json, "print JSON instead of text");
  command->callback([options, &run] {
    run = [options](const comm::Communicator& comm) {
      comm.together([&] {
        if (!comm.is_root()) return;
        const analysis::Comparison comparison = analysis::compare(
            analysis::read_reconstruction(options->a), analysis::read_reconstruction(options->b));
        fmt::print("{}\n", analysis::compare_report(comparison, options->json));
      });
      return ExitCode::done;
    };
  });
}

}  // namespace tessera::drivers
