#include "run/start_device.hpp"

#include <cstdio>

#include <fmt/core.h>

#include "tessera/base/error.hpp"
#include "tessera/base/host.hpp"

namespace tessera::run {
namespace {

/// Every rank sees the same seats, and so throws the same.
void refuse_shared_gpus(const std::vector<device::Seat>& seats) {
  if (const auto complaint = device::shared_gpu(seats))
    throw AgreedError(ExitCode::bad_input, *complaint);
}

std::vector<device::Seat> all_seats(const device::Gpu& gpu, const comm::Communicator& comm) {
  const std::vector<std::string> hosts = comm.all_gather(host_name());
  const std::vector<std::string> uuids = comm.all_gather(gpu.uuid);
  std::vector<device::Seat> seats;
  seats.reserve(hosts.size());
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    seats.push_back({hosts[rank], uuids[rank]});
  return seats;
}

void print_gpus(const device::Gpu& gpu, const std::vector<device::Seat>& seats,
                const comm::Communicator& comm) {
  const std::vector<std::string> names = comm.all_gather(gpu.name);
  const std::vector<std::string> descriptions = comm.all_gather(device::description(gpu));
  if (!comm.is_root()) return;
  for (const std::string& line : device::gpu_lines(seats, names, descriptions))
    fmt::print("{}\n", line);
  std::fflush(stdout);
}

}  // namespace

std::unique_ptr<device::Runtime> start_device(const comm::Communicator& comm, bool share_gpu) {
  const int local_rank = comm.local_rank();
  std::unique_ptr<device::Runtime> runtime;
  comm.together([&] { runtime = std::make_unique<device::Runtime>(local_rank); });
  const std::optional<device::Gpu>& gpu = runtime->gpu();
  if (!gpu) return runtime;
  const std::vector<device::Seat> seats = all_seats(*gpu, comm);
  if (!share_gpu) refuse_shared_gpus(seats);
  print_gpus(*gpu, seats, comm);
  return runtime;
}

}  // namespace tessera::run
