#include "report/report.hpp"

#include <fmt/core.h>

#include "subcommands.hpp"

namespace tessera::drivers {

ExitCode report(const std::vector<std::string>& results, const std::string& out,
                const comm::Communicator& comm) {
  report::write(results, out, comm);
  if (comm.is_root()) fmt::print("report {}\n", out);
  return ExitCode::done;
}

}  // namespace tessera::drivers
