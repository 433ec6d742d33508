# Kokkos 3.4 to 5.x as tessera_kokkos; with TESSERA_CUDA one whose default device is an NVIDIA GPU.
find_package(Kokkos REQUIRED)
add_library(tessera_kokkos INTERFACE IMPORTED)
# Debian's Trilinos packages export a wrong include path: look for the header itself.
if(Kokkos_DIR MATCHES "/usr/lib" AND EXISTS /usr/include/trilinos/Kokkos_Core.hpp)
  target_include_directories(tessera_kokkos SYSTEM INTERFACE /usr/include/trilinos)
  target_link_libraries(tessera_kokkos INTERFACE ${Kokkos_LIBRARIES})
else()
  target_link_libraries(tessera_kokkos INTERFACE Kokkos::kokkos)
endif()

set(kokkos_here "the Kokkos at ${Kokkos_DIR}")
if(NOT TESSERA_CUDA)
  if("CUDA" IN_LIST Kokkos_DEVICES)
    message(FATAL_ERROR "TESSERA_CUDA is OFF but ${kokkos_here} was built with CUDA. Use the preset `cuda` "
                        "(-D TESSERA_CUDA=ON), or point Kokkos_ROOT to a Kokkos for hosts.")
  endif()
  return()
endif()

if(NOT "CUDA" IN_LIST Kokkos_DEVICES)
  message(FATAL_ERROR "TESSERA_CUDA is ON but ${kokkos_here} was built without CUDA (devices: ${Kokkos_DEVICES}). "
                      "Point Kokkos_ROOT to one configured with -D Kokkos_ENABLE_CUDA=ON.")
endif()
if(Kokkos_ENABLE_IMPL_CUDA_MALLOC_ASYNC)
  message(FATAL_ERROR "${kokkos_here} allocates by cudaMallocAsync, memory that GPU-aware MPI moves slowly or not "
                      "at all. Build it with -D Kokkos_ENABLE_IMPL_CUDA_MALLOC_ASYNC=OFF.")
endif()
if(DEFINED Kokkos_CXX_STANDARD AND NOT Kokkos_CXX_STANDARD EQUAL 20)
  message(FATAL_ERROR "${kokkos_here} was built as C++${Kokkos_CXX_STANDARD}; Tessera is C++20. "
                      "Build it with -D CMAKE_CXX_STANDARD=20.")
endif()
find_package(CUDAToolkit REQUIRED)
# CMake 3.25 drops CMAKE_CUDA_STANDARD, hence -std. Lambdas of Kokkos kernels call constexpr functions of the host.
target_compile_options(tessera_kokkos INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --expt-relaxed-constexpr>)
# Kokkos' own choice: nvcc_wrapper compiles the C++ sources. Without the switch kernels would come out empty.
if(Kokkos_CXX_COMPILER_ID STREQUAL NVIDIA AND NOT Kokkos_COMPILE_LANGUAGE STREQUAL CUDA)
  target_compile_options(tessera_kokkos INTERFACE $<$<COMPILE_LANGUAGE:CXX>:--expt-relaxed-constexpr>)
endif()
target_link_libraries(tessera_kokkos INTERFACE CUDA::cudart)
# fmt 9 takes nvcc for a compiler that knows no constexpr, and then trips over its own checks of format strings.
target_compile_definitions(fmt::fmt INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:FMT_USE_CONSTEXPR=1>)
