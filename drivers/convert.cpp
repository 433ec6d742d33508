#include "analysis/convert.hpp"

#include <fmt/core.h>

#include "tessera/base/text.hpp"

#include "subcommands.hpp"

namespace tessera::drivers {

ExitCode convert(const BareScan& file, const std::string& out, const comm::Communicator& comm) {
  const std::string lines = analysis::convert(file.path, out, comm, file.links);
  if (comm.is_root()) fmt::print("{}", printable(lines));
  return ExitCode::done;
}

}  // namespace tessera::drivers
