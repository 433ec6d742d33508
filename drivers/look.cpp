#include "analysis/look.hpp"

#include <fmt/core.h>

#include "tessera/base/text.hpp"

#include "subcommands.hpp"

namespace tessera::drivers {

ExitCode look(const std::string& file, const std::string& pictures,
              const comm::Communicator& comm) {
  fmt::print("{}", printable(analysis::look(file, pictures, comm)));
  return ExitCode::done;
}

}  // namespace tessera::drivers
