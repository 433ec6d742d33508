#include "mpi_reals.hpp"

#include <limits>

#include "tessera/base/error.hpp"
#include "tessera/base/progress.hpp"
#include "tessera/base/text.hpp"

namespace tessera::halo {
namespace {

MPI_Datatype real_type() {
  return sizeof(Real) == sizeof(double) ? MPI_DOUBLE : MPI_FLOAT;
}

int checked_count(std::int64_t n, int peer) {
  if (n > std::numeric_limits<int>::max())
    throw SystemError(text("a halo message of ", n, " numbers to rank ", peer,
                           " is larger than MPI can count; use more ranks"));
  return static_cast<int>(n);
}

}  // namespace

MPI_Request start_send(const comm::Communicator& comm, const Real* values, std::int64_t n, int peer,
                       int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  comm::check_mpi(
      MPI_Isend(values, checked_count(n, peer), real_type(), peer, tag, comm.handle(), &request));
  return request;
}

MPI_Request start_receive(const comm::Communicator& comm, Real* values, std::int64_t n, int peer,
                          int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  comm::check_mpi(
      MPI_Irecv(values, checked_count(n, peer), real_type(), peer, tag, comm.handle(), &request));
  return request;
}

void start_exchange(const comm::Communicator& comm, const std::vector<Message>& messages, int tag,
                    std::vector<MPI_Request>& requests) {
  requests.clear();
  for (const Message& m : messages)
    if (m.n_receive > 0)
      requests.push_back(start_receive(comm, m.receive, m.n_receive, m.peer, tag));
  for (const Message& m : messages)
    if (m.n_send > 0) requests.push_back(start_send(comm, m.send, m.n_send, m.peer, tag));
}

void test_all(std::vector<MPI_Request>& requests) {
  int done = 0;
  comm::check_mpi(
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE));
}

void wait_for_all(std::vector<MPI_Request>& requests) {
  const Doing doing("an exchange of ghosts");
  comm::check_mpi(
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
}

}  // namespace tessera::halo
