# One folder, one CMake target, one namespace.

add_library(tessera_options INTERFACE)
set(options -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
if(TESSERA_WERROR)
  list(APPEND options -Werror)
endif()
# Lets the compiler vectorise roots and sums. Infinities and NaN stay what they are: the run looks for them.
list(APPEND options -fno-math-errno -fno-trapping-math -fno-signed-zeros -fassociative-math)
if(TESSERA_NATIVE)
  list(APPEND options -march=native)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 misreads its own AVX-512 intrinsics (GCC bug 105593).
    list(APPEND options -Wno-uninitialized -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overread)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13
   AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
  # GCC 13 and 14 take vector copies that they made themselves, in Eigen and std::copy, for ones past the end, and what
  # an empty std::optional holds for uninitialised.
  list(APPEND options -Wno-array-bounds -Wno-stringop-overread -Wno-stringop-overflow -Wno-maybe-uninitialized)
endif()
# nvcc hands its host compiler what stands behind -Xcompiler, with code of its own that is not pedantic. It would only
# warn of kernels that call functions of the host, which hang.
set(nvcc_options -Wall,-Wextra,-Wshadow)
if(TESSERA_WERROR)
  string(APPEND nvcc_options ",-Werror")
endif()
target_compile_options(tessera_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${options}>"
                                                 "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${nvcc_options}>"
                                                 "$<$<COMPILE_LANGUAGE:CUDA>:--Werror=cross-execution-space-call>")

# Sources that see Kokkos are CUDA to CMake when Kokkos' device is a GPU. tests/package looks for those that are not
# named here.
function(tessera_device_sources)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE files)
  set_property(GLOBAL APPEND PROPERTY TESSERA_DEVICE_SOURCES ${files})
  if(TESSERA_CUDA AND Kokkos_COMPILE_LANGUAGE STREQUAL CUDA)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  endif()
endfunction()

include(cmake/precompiled.cmake)
tessera_precompiled(module HEADERS ${standard_headers})
tessera_precompiled(module_device LIBRARIES tessera_kokkos HEADERS <Kokkos_Core.hpp> ${standard_headers})

# tessera_module(NAME SOURCES file... DEVICE_SOURCES file... DEPENDS module... LIBRARIES target...
#                PRIVATE_LIBRARIES target...)
# DEVICE_SOURCES: those that include device.hpp, directly or not. Modules without any are of no precision: with
# TESSERA_PURE_MODULES_OF they are those of that build folder.
function(tessera_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEVICE_SOURCES;DEPENDS;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  set(target tessera_${name})
  list(TRANSFORM arg_DEPENDS PREPEND tessera_)
  if(TESSERA_PURE_MODULES_OF AND arg_SOURCES AND NOT arg_DEVICE_SOURCES)
    set(scope INTERFACE)
    add_library(${target}_built STATIC IMPORTED GLOBAL)
    set_target_properties(${target}_built PROPERTIES
                          IMPORTED_LOCATION ${TESSERA_PURE_MODULES_OF}/src/${name}/lib${target}.a
                          INTERFACE_LINK_LIBRARIES "${arg_DEPENDS};${arg_PRIVATE_LIBRARIES}")
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${target}_built)
  elseif(arg_SOURCES OR arg_DEVICE_SOURCES)
    set(scope PUBLIC)
    tessera_device_sources(${arg_DEVICE_SOURCES})
    add_library(${target} STATIC ${arg_SOURCES} ${arg_DEVICE_SOURCES})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:tessera_options> ${arg_PRIVATE_LIBRARIES})
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    tessera_use_precompiled(${target} module ${arg_DEVICE_SOURCES})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  # Public headers are installed; "<module>/<name>.hpp" are the modules' own, for one another.
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                                                $<INSTALL_INTERFACE:include>)
  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} ${arg_DEPENDS} ${arg_LIBRARIES})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  add_library(tessera::${name} ALIAS ${target})
  set_property(GLOBAL APPEND PROPERTY TESSERA_MODULES ${target})
endfunction()
