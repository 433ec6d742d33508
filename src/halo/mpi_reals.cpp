#include "mpi_reals.hpp"

#include <limits>

#include "tessera/base/error.hpp"
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

}  // namespace tessera::halo
