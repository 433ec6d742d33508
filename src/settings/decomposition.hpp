#pragma once
/// How the object is cut, and how ranks exchange it.

#include <string>
#include <vector>

#include "settings/key.hpp"
#include "settings/transports.hpp"

namespace tessera::settings {

struct Decomposition {
  std::vector<int> tiles;
  std::string transport = "auto";
  double transport_timeout_s = 20;
  double timeout_s = 600;

  std::vector<Key> keys() {
    return {
        {.name = "tiles",
         .field = &tiles,
         .meaning =
             "Rows and columns of tiles; their product is the number of ranks. `\"auto\"` cuts "
             "so that all ranks have equal work, for any number of ranks and any scan.",
         .min = 1,
         .max = 100000,
         .length = 2,
         .none = "auto"},
        {.name = "transport",
         .field = &transport,
         .meaning =
             "How ranks exchange ghost pixels. `auto` takes the fastest that works here; name "
             "one to compare or to get around a broken one.",
         .choices = transport_choices()},
        {.name = "transport_timeout_s",
         .field = &transport_timeout_s,
         .meaning =
             "Time without an answer from other ranks after which `nccl` and `gpu_p2p` give up and "
             "the job ends. Longer than any batch.",
         .min = 1,
         .max = 86400},
        {.name = "timeout_s",
         .field = &timeout_s,
         .meaning = "Time without any progress of a rank (in MPI, a file, a kernel) after which it "
                    "ends the job and says what it waited for; 0: never. Longer than any read or "
                    "write of one piece takes.",
         .min = 0,
         .max = 86400},
    };
  }
};

}  // namespace tessera::settings
