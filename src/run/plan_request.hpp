#pragma once

#include <string>
#include <vector>

namespace tessera::run {

/// What `tessera plan` is asked besides the deck.
struct PlanRequest {
  std::vector<int> n_ranks{1, 2, 4, 8, 16};
  std::string machine;   ///< its file; empty: no seconds
  std::string pictures;  ///< a folder for one of the tiles of each number of ranks; empty: none
};

}  // namespace tessera::run
