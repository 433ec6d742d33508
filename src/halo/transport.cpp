#include "tessera/halo/transport.hpp"

#include <algorithm>
#include <ranges>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/device/stream.hpp"

#include "transports.hpp"

namespace tessera::halo {
namespace {

/// As listed: the usually slowest first.
const std::vector<TransportKind>& all_kinds() {
  static const auto kinds =
      std::apply([](auto... named) { return std::vector{transport_kind<decltype(named)>()...}; },
                 settings::Transports());
  return kinds;
}

/// What is usually the fastest of those that work here.
std::string_view usually_fastest(const comm::Communicator& comm) {
  if (comm.size() > 1)
    for (const TransportKind& kind : all_kinds() | std::views::reverse)
      if (kind.why_not(comm).empty()) return kind.name;
  return all_kinds().front().name;
}

}  // namespace

std::string ranks_on_one_gpu(const comm::Communicator& comm) {
  const std::vector<std::string> gpu = comm.all_gather(device::gpu_identity());
  for (std::size_t i = 0; i < gpu.size(); ++i)
    for (std::size_t j = i + 1; j < gpu.size(); ++j)
      if (gpu[i] == gpu[j]) return text("ranks ", i, " and ", j, " use the same GPU");
  return {};
}

std::vector<std::string> transport_names() {
  std::vector<std::string> names;
  for (const TransportKind& kind : all_kinds())
    if (kind.is_built) names.emplace_back(kind.name);
  return names;
}

TransportKind kind_named(std::string_view name) {
  const auto kind = std::ranges::find(all_kinds(), name, &TransportKind::name);
  if (kind == all_kinds().end())
    throw AgreedError(ExitCode::bad_input, text("there is no transport \"", name,
                                                "\"; this build has ", joined(transport_names())));
  return *kind;
}

std::unique_ptr<Transport> make_transport(std::string_view name, const comm::Communicator& comm,
                                          double timeout_s) {
  const TransportKind kind = kind_named(name == "auto" ? usually_fastest(comm) : name);
  const std::string reason = kind.why_not(comm);
  if (!reason.empty())
    throw AgreedError(
        ExitCode::bad_input,
        text("decomposition.transport = \"", name, "\" cannot be used: ", reason,
             ". This build has ", joined(transport_names()), "; \"auto\" takes what works"));
  return kind.start(comm, timeout_s);
}

}  // namespace tessera::halo
