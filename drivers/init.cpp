#include "analysis/init.hpp"

#include <filesystem>
#include <fstream>

#include <fmt/core.h>

#include "tessera/base/text.hpp"

#include "subcommands.hpp"

namespace tessera::drivers {

ExitCode init(const BareScan& scan, const std::string& deck, const comm::Communicator& comm) {
  comm.together([&] {
    if (!comm.is_root()) return;
    const std::string path =
        deck.empty() ? std::filesystem::path(scan.path).stem().string() + ".toml" : deck;
    if (std::filesystem::exists(path))
      throw InputError(
          text("the deck \"", path, "\" is there already; remove it, or name another with -o"));
    const analysis::Draft draft = analysis::draft_deck(scan.path, path, scan.links);
    std::ofstream out(path);
    out << draft.deck;
    if (!out.flush())
      throw InputError(text("the deck \"", path, "\" cannot be written; name another with -o"));
    fmt::print("{}deck        {}\n", printable(draft.report), path);
  });
  return ExitCode::done;
}

}  // namespace tessera::drivers
