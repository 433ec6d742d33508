# Headers that many sources read are compiled once. Only foreign ones: one of ours would hide what a source forgot to
# include. CMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without.
set(standard_headers <algorithm> <array> <cmath> <complex> <cstddef> <cstdint> <cstdlib> <filesystem> <fstream> <functional>
                     <limits> <memory> <numbers> <numeric> <optional> <random> <set> <span> <sstream> <stdexcept> <string>
                     <string_view> <utility> <vector>)

# tessera_precompiled(NAME LIBRARIES target... HEADERS header...)
function(tessera_precompiled name)
  cmake_parse_arguments(arg "" "" "LIBRARIES;HEADERS" ${ARGN})
  set(target tessera_precompiled_${name})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${source})
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_link_libraries(${target} PRIVATE tessera_options ${arg_LIBRARIES})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # A copy from ccache must not seem older than what it was made of.
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  target_precompile_headers(${target} PRIVATE ${arg_HEADERS})
endfunction()

# tessera_use_precompiled(TARGET NAME DEVICE_SOURCE...): NAME, or NAME_device where there are device sources; those of a
# GPU are another language.
function(tessera_use_precompiled target name)
  if(NOT ARGN)
    target_precompile_headers(${target} REUSE_FROM tessera_precompiled_${name})
  elseif(NOT TESSERA_CUDA)
    target_precompile_headers(${target} REUSE_FROM tessera_precompiled_${name}_device)
  endif()
endfunction()
