// Open MPI answers through a header of its own, which other libraries lack.
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include "transport_gpu_mpi.hpp"

namespace tessera::halo {

bool mpi_reads_device_memory() {
#ifdef MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

}  // namespace tessera::halo
