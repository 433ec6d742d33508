# tessera_test(NAME SOURCES file... DEVICE_SOURCES file... DEPENDS module... [RANKS n... | PARTS name...] [TIMEOUT s])
# Without RANKS a plain test program; with RANKS one ctest per rank count under mpirun. PARTS deal the tests of a program
# out to as many ctests, NAME_PART, that run side by side: for one that mostly waits for others.
find_package(GTest REQUIRED)

# What is tested was optimised in its module; of a test's own source it would take a third of the time to build.
add_library(tessera_test_options INTERFACE)
target_compile_options(tessera_test_options INTERFACE "$<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>")
# In one unit a file's names may hide another's. Behind tessera_options, which warn of it.
add_library(tessera_test_unit_options INTERFACE)
if(CMAKE_UNITY_BUILD)
  target_compile_options(tessera_test_unit_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow>")
endif()
target_link_libraries(tessera_test_options INTERFACE tessera_options tessera_test_unit_options GTest::gmock GTest::gtest)

tessera_precompiled(test LIBRARIES tessera_test_options HEADERS <gmock/gmock.h> <gtest/gtest.h> ${standard_headers})
tessera_precompiled(test_device LIBRARIES tessera_test_options tessera_kokkos
                    HEADERS <gmock/gmock.h> <gtest/gtest.h> <Kokkos_Core.hpp> ${standard_headers})

set(TESSERA_MPIEXEC_FLAGS --oversubscribe CACHE STRING "Flags that mpiexec needs on this machine")
if(DEFINED ENV{TESSERA_MPIEXEC_FLAGS})
  separate_arguments(TESSERA_MPIEXEC_FLAGS UNIX_COMMAND "$ENV{TESSERA_MPIEXEC_FLAGS}")
endif()

# On GPUs one rank drives one GPU, of which machines have 1, 2 or 4; without any the test main returns 77.
set(TESSERA_MPI_LABELS mpi)
if(TESSERA_CUDA)
  set(TESSERA_MPI_LABELS mpi gpu)
endif()

function(tessera_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;DEVICE_SOURCES;DEPENDS;RANKS;PARTS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    math(EXPR arg_TIMEOUT "10 * ${arg_TIMEOUT}")
  endif()
  set(target test_${name})
  list(TRANSFORM arg_DEPENDS PREPEND tessera_)
  tessera_device_sources(${arg_DEVICE_SOURCES})
  # It replaces operator new, which the compiler must not see beside a use.
  set_source_files_properties(../support/allocations.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  add_executable(${target} ${arg_SOURCES} ${arg_DEVICE_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE tessera_test_options ${arg_DEPENDS})
  tessera_use_precompiled(${target} test ${arg_DEVICE_SOURCES})
  if(NOT arg_RANKS)
    target_link_libraries(${target} PRIVATE GTest::gtest_main)
    if(NOT arg_PARTS)
      add_test(NAME ${name} COMMAND ${target})
      set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS pure)
    endif()
    list(LENGTH arg_PARTS n_parts)
    foreach(part ${arg_PARTS})
      list(FIND arg_PARTS ${part} index)
      add_test(NAME ${name}_${part} COMMAND ${target})
      set_tests_properties(${name}_${part} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${TESSERA_MPI_LABELS}"
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${n_parts};GTEST_SHARD_INDEX=${index}")
    endforeach()
    return()
  endif()
  target_link_libraries(${target} PRIVATE tessera_test_main)
  if(TESSERA_CUDA)
    list(FILTER arg_RANKS INCLUDE REGEX "^[124]$")
  endif()
  foreach(n ${arg_RANKS})
    add_test(NAME ${name}_${n} COMMAND ${MPIEXEC_EXECUTABLE} ${TESSERA_MPIEXEC_FLAGS}
                                       ${MPIEXEC_NUMPROC_FLAG} ${n} $<TARGET_FILE:${target}>)
    set_tests_properties(${name}_${n} PROPERTIES PROCESSORS ${n} TIMEOUT ${arg_TIMEOUT}
                                                    LABELS "${TESSERA_MPI_LABELS}" SKIP_RETURN_CODE 77)
  endforeach()
endfunction()
