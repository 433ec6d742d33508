#pragma once
/// One round of sending patterns to their owners.

#include <cstddef>
#include <vector>

#include "tessera/comm/communicator.hpp"

namespace tessera::io {

/// For every peer, which patterns of `from` go to it and which places in `to` its patterns take, in
/// the same order on both sides. Counted in patterns, so that int counts do not overflow.
struct PatternRoutes {
  std::vector<std::vector<int>> send;
  std::vector<std::vector<int>> receive;
};

/// Straight from the piece to the places, without packing buffers of our own. Collective.
void send_to_owners(const std::byte* from, std::byte* to, const PatternRoutes& routes,
                    std::size_t pattern_bytes, const comm::Communicator& comm);

}  // namespace tessera::io
