#pragma once
/// Which transport a run uses: the one that the deck names, or the fastest on the run's own plan.

#include <cstdint>
#include <memory>
#include <string_view>

#include "tessera/base/log.hpp"
#include "tessera/decomposition/halo_plan.hpp"
#include "tessera/halo/transport.hpp"

namespace tessera::halo {

/// What one batch moves.
struct BatchTraffic {
  const decomposition::HaloPlan& plan;
  int reals_per_pixel = 1;      ///< of the halo exchange
  std::int64_t n_summed_reals;  ///< of the all-reduce
};

/// Whether what `transport` carries of a batch arrives as it was sent; first use, too. Collective.
/// @throws AgreedError (exit code 1) saying what does not
void check_transport(const device::Device& exec, Transport& transport,
                     const comm::Communicator& comm, const BatchTraffic& traffic);

/// Checked on GPUs.
/// @param name one of transport_names(), or "auto": one that is never beaten, or else every
/// transport that works here is tried on `traffic`, the fastest on the slowest rank is taken (of
/// similar ones that which the host has no part in), and one line says so. Collective.
/// @throws AgreedError (exit code 2) naming what is missing and what there is; SystemError
std::unique_ptr<Transport> choose_transport(std::string_view name, const comm::Communicator& comm,
                                            double timeout_s, const BatchTraffic& traffic,
                                            const Log& log);

}  // namespace tessera::halo
