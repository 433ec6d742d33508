#include "analysis/inspect.hpp"

#include <cstdlib>

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tessera/base/text.hpp"

#include "analysis/pictures.hpp"
#include "analysis/terminal_view.hpp"
#include "report/zoom.hpp"
#include "subcommands.hpp"

namespace tessera::drivers {

namespace {

/// https://no-color.org
analysis::Terminal terminal() {
  const auto word = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  analysis::Terminal found;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) found.columns = size.ws_col;
  found.has_colours = isatty(STDOUT_FILENO) != 0 && word("NO_COLOR").empty() &&
                      !word("TERM").empty() && word("TERM") != "dumb";
  return found;
}

}  // namespace

ExitCode inspect(const std::string& file, const InspectRequest& wanted,
                 const comm::Communicator& comm) {
  comm.together([&] {
    if (!comm.is_root()) return;
    fmt::print("{}\n", printable(analysis::inspect_report(file, wanted.as_json)));
    if (wanted.views) fmt::print("\n{}", analysis::terminal_view(file, terminal()));
    if (wanted.pictures.empty()) return;
    for (const std::string& path : analysis::write_pictures(file, wanted.pictures))
      if (!wanted.as_json) fmt::print("picture {}\n", path);
  });
  if (wanted.deep_zoom.empty()) return ExitCode::done;
  const std::string page = report::write_zoom_page(file, wanted.deep_zoom, comm);
  if (comm.is_root() && !wanted.as_json) fmt::print("page {}\n", page);
  return ExitCode::done;
}

}  // namespace tessera::drivers
