# One folder, one CMake target, one namespace.

add_library(tessera_options INTERFACE)
target_compile_options(tessera_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                                 -Wno-sign-conversion)
if(TESSERA_WERROR)
  target_compile_options(tessera_options INTERFACE -Werror)
endif()
# Lets the compiler vectorise roots and sums. Infinities and NaN stay what they are: the run looks for them.
target_compile_options(tessera_options INTERFACE -fno-math-errno -fno-trapping-math
                                                 -fno-signed-zeros -fassociative-math)
if(TESSERA_NATIVE)
  target_compile_options(tessera_options INTERFACE -march=native)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 misreads its own AVX-512 intrinsics (GCC bug 105593).
    target_compile_options(tessera_options INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds
                                                       -Wno-stringop-overread)
  endif()
endif()

# tessera_module(NAME SOURCES file... DEPENDS module... LIBRARIES target... PRIVATE_LIBRARIES target...)
function(tessera_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  set(target tessera_${name})
  list(TRANSFORM arg_DEPENDS PREPEND tessera_)
  if(arg_SOURCES)
    set(scope PUBLIC)
    add_library(${target} STATIC ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:tessera_options> ${arg_PRIVATE_LIBRARIES})
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                $<INSTALL_INTERFACE:include>)
  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} ${arg_DEPENDS} ${arg_LIBRARIES})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  add_library(tessera::${name} ALIAS ${target})
  set_property(GLOBAL APPEND PROPERTY TESSERA_MODULES ${target})
endfunction()
