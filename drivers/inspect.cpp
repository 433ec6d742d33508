#include "analysis/inspect.hpp"

#include <fmt/core.h>

#include "tessera/base/text.hpp"

#include "analysis/pictures.hpp"
#include "subcommands.hpp"

namespace tessera::drivers {

ExitCode inspect(const std::string& file, const std::string& pictures, bool as_json,
                 const comm::Communicator& comm) {
  comm.together([&] {
    if (!comm.is_root()) return;
    fmt::print("{}\n", printable(analysis::inspect_report(file, as_json)));
    if (pictures.empty()) return;
    for (const std::string& path : analysis::write_pictures(file, pictures))
      if (!as_json) fmt::print("picture {}\n", path);
  });
  return ExitCode::done;
}

}  // namespace tessera::drivers
