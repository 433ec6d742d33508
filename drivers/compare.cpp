#include "analysis/compare.hpp"

#include <fmt/core.h>

#include "subcommands.hpp"

namespace tessera::drivers {

ExitCode compare(const std::string& a, const std::string& b, bool as_json,
                 const comm::Communicator& comm) {
  const analysis::Comparison comparison = analysis::compare_files(a, b, comm);
  if (comm.is_root()) fmt::print("{}\n", analysis::compare_report(comparison, as_json));
  return ExitCode::done;
}

}  // namespace tessera::drivers
