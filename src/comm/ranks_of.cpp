#include "comm/ranks_of.hpp"

namespace tessera::comm {
namespace {

/// Frees what a Communicator has made its duplicate of.
struct Split {
  MPI_Comm handle = MPI_COMM_NULL;

  ~Split() { MPI_Comm_free(&handle); }
};

}  // namespace

Communicator ranks_of_colour(const Communicator& comm, int colour) {
  Split split;
  check_mpi(MPI_Comm_split(comm.handle(), colour, comm.rank(), &split.handle));
  return Communicator(split.handle);
}

Communicator ranks_of_host(const Communicator& comm) {
  Split split;
  check_mpi(MPI_Comm_split_type(comm.handle(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL,
                                &split.handle));
  return Communicator(split.handle);
}

}  // namespace tessera::comm
