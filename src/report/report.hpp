#pragma once
/// `tessera report`: a result, or two, as one HTML page that needs nothing else.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tessera/comm/communicator.hpp"

namespace tessera::report {

using Json = nlohmann::ordered_json;

/// @throws InputError if the plotting library is not on this machine, naming its package
void check_plotting_library();

/// What the page shows, as it is embedded in it. On the calling rank alone.
/// @param paths a result; or two, the second the reference: a result or a simulated scan
/// @throws InputError naming the path
Json contents(const std::vector<std::string>& paths);

/// Rank 0 writes `out`, which appears whole or not at all. Collective.
/// @throws AgreedError: as above, or `out` is one of `paths` or cannot be written
void write(const std::vector<std::string>& paths, const std::string& out,
           const comm::Communicator& comm);

}  // namespace tessera::report
