#include "analysis/compare.hpp"

#include <fmt/core.h>

#include "subcommands.hpp"

namespace tessera::drivers {

ExitCode compare(const std::string& a, const std::string& b, bool as_json,
                 const comm::Communicator& comm) {
  comm.together([&] {
    if (!comm.is_root()) return;
    const analysis::Comparison comparison =
        analysis::compare(analysis::read_reconstruction(a), analysis::read_reconstruction(b));
    fmt::print("{}\n", analysis::compare_report(comparison, as_json));
  });
  return ExitCode::done;
}

}  // namespace tessera::drivers
