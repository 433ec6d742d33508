#include "analysis/compare.hpp"

#include <cmath>

#include <fmt/core.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "subcommands.hpp"

namespace tessera::drivers {

namespace {

/// Both files are named by what cannot be compared. Collective.
analysis::Comparison compared(const std::string& a, const std::string& b,
                              const comm::Communicator& comm) {
  try {
    analysis::Comparison comparison = analysis::compare_files(a, b, comm);
    comm.together([&] {
      if (comm.is_root() && !std::isfinite(comparison.after.object + comparison.after.probe))
        throw InputError("object or probe is not finite in one of them");
    });
    return comparison;
  } catch (const AgreedError& error) {
    const std::string what = error.what();
    const bool names_one = what.find(a) != what.npos || what.find(b) != what.npos;
    if (names_one) throw;
    throw AgreedError(error.exit_code(), text('"', a, "\" and \"", b, "\": ", what));
  }
}

}  // namespace

ExitCode compare(const std::string& a, const std::string& b, bool as_json,
                 const comm::Communicator& comm) {
  const analysis::Comparison comparison = compared(a, b, comm);
  if (comm.is_root()) fmt::print("{}\n", printable(analysis::compare_report(comparison, as_json)));
  return ExitCode::done;
}

}  // namespace tessera::drivers
