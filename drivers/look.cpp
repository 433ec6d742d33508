#include "analysis/look.hpp"

#include <fmt/core.h>

#include "tessera/base/text.hpp"

#include "subcommands.hpp"

namespace tessera::drivers {

ExitCode look(const BareScan& scan, const std::string& pictures, const comm::Communicator& comm) {
  fmt::print("{}", printable(analysis::look(scan.path, pictures, comm, scan.links)));
  return ExitCode::done;
}

}  // namespace tessera::drivers
