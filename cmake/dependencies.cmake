# Every dependency comes from the system; nothing is vendored or downloaded. docs/decisions/ says why each one.
# Installed with the package: its users find them here too (hence imported targets, which are not exported).
include_guard()
find_package(PkgConfig REQUIRED)
set(MPI_CXX_SKIP_MPICXX ON) # the C++ interface that MPI gave up: its classes would be compiled in every file
find_package(MPI REQUIRED COMPONENTS CXX)
find_package(CLI11 REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PNG REQUIRED)
find_package(TIFF REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(libdeflate REQUIRED IMPORTED_TARGET libdeflate)
find_package(Eigen3 REQUIRED)
pkg_check_modules(fftw3 REQUIRED IMPORTED_TARGET fftw3)
pkg_check_modules(fftw3f REQUIRED IMPORTED_TARGET fftw3f)

# Parallel HDF5: Debian and Ubuntu name the pkg-config file after the MPI, clusters set HDF5_ROOT.
pkg_search_module(hdf5_parallel IMPORTED_TARGET hdf5-openmpi hdf5-mpich hdf5-mpi)
if(hdf5_parallel_FOUND)
  add_library(tessera_hdf5 INTERFACE IMPORTED)
  target_link_libraries(tessera_hdf5 INTERFACE PkgConfig::hdf5_parallel)
else()
  set(HDF5_PREFER_PARALLEL ON)
  find_package(HDF5 REQUIRED COMPONENTS C)
  if(NOT HDF5_IS_PARALLEL)
    message(FATAL_ERROR "HDF5 at ${HDF5_INCLUDE_DIRS} was built without MPI. Install libhdf5-openmpi-dev "
                        "or point HDF5_ROOT to a parallel build.")
  endif()
  add_library(tessera_hdf5 INTERFACE IMPORTED)
  target_link_libraries(tessera_hdf5 INTERFACE HDF5::HDF5)
endif()

include(${CMAKE_CURRENT_LIST_DIR}/kokkos.cmake)

# NCCL is optional: without it the transport `nccl` is not in the build.
if(TESSERA_CUDA)
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${NCCL_ROOT} $ENV{NCCL_ROOT} ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
  find_library(NCCL_LIBRARY nccl HINTS ${NCCL_ROOT} $ENV{NCCL_ROOT} ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib lib64)
  if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
    add_library(tessera_nccl INTERFACE IMPORTED)
    target_include_directories(tessera_nccl SYSTEM INTERFACE ${NCCL_INCLUDE_DIR})
    target_link_libraries(tessera_nccl INTERFACE ${NCCL_LIBRARY} CUDA::cudart)
  endif()
endif()
