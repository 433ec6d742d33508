#include "run/rank_plan.hpp"
#include "subcommands.hpp"

namespace tessera::drivers {

ExitCode plan(const DeckWords& words, const std::vector<int>& n_ranks,
              const comm::Communicator& comm) {
  return run::print_rank_plans(read_deck(words, comm), n_ranks, comm);
}

}  // namespace tessera::drivers
