#pragma once

#include <memory>

#include "tessera/comm/communicator.hpp"

namespace tessera::comm {

/// The ranks of `all` that share this host's memory, in their order. Collective.
std::unique_ptr<Communicator> ranks_of_host(const Communicator& all);

}  // namespace tessera::comm
