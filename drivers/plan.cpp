#include "run/rank_plan.hpp"
#include "subcommands.hpp"

namespace tessera::drivers {

ExitCode plan(const DeckWords& words, const run::PlanRequest& wanted,
              const comm::Communicator& comm) {
  return run::print_rank_plans(read_deck(words, comm), wanted, comm);
}

}  // namespace tessera::drivers
