#include "tessera/comm/later_sum.hpp"

namespace tessera::comm {

void LaterSum::start(const Values& mine) {
  mine_ = mine;
  check_mpi(MPI_Iallreduce(mine_.data(), sums_.data(), static_cast<int>(mine_.size()), MPI_INT64_T,
                           MPI_SUM, comm_.handle(), &request_));
}

bool LaterSum::has_arrived() {
  int arrived = 0;
  check_mpi(MPI_Test(&request_, &arrived, MPI_STATUS_IGNORE));
  return arrived != 0;
}

}  // namespace tessera::comm
