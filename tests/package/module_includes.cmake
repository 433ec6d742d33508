# Reads every #include of the tree at ROOT and compares it with the rules below. Fails with one line per violation.
cmake_minimum_required(VERSION 3.25)

# A module includes itself and modules before it in this list ...
set(modules base geometry settings decomposition deck cost optics comm io analysis report simulation device halo fft physics solvers run library)
# ... except these: what a module must not know although it comes before.
set(host_modules deck cost optics io analysis report simulation)
set(forbidden_decomposition settings)
set(forbidden_cost geometry settings decomposition deck)
set(forbidden_comm settings deck cost optics)
set(forbidden_io settings deck cost optics)
set(forbidden_device ${host_modules} settings comm)
set(forbidden_halo ${host_modules})
set(forbidden_fft ${host_modules} settings comm halo)
set(forbidden_physics ${host_modules} settings comm halo)
set(forbidden_solvers ${host_modules})

# Foreign headers and the only files that may include them.
set(foreign "mpi%.h" "hdf5%.h|H5[A-Za-z]*%.h" "Kokkos_[A-Za-z]*%.hpp" "fftw3%.h" "toml%+%+/.*" "png%.h|tiffio%.h" "zlib%.h" "libdeflate%.h" "spdlog/.*"
            "CLI/.*" "gtest/.*|gmock/.*" "nccl%.h" "cuda[A-Za-z0-9_]*%.h|cufft[A-Za-z]*%.h|cublas[A-Za-z0-9_]*%.h")
set(allowed
    "^(include/tessera/comm|src/comm|src/halo|src/io|tests/support|tests/comm|tests/halo|tests/io)/"
    "^(src/io|tests/io)/"
    "^include/tessera/device/device%.hpp$"
    "^(src/fft|src/optics|scaling)/"
    "^src/(cost|deck)/"
    "^(src/io|tests/io)/"
    "^(src|tests)/(io|report)/"
    "^src/io/"
    "^src/base/"
    "^(drivers|scaling)/"
    "^tests/"
    "^src/halo/nccl_cuda%.cpp$"
    "(_cuda%.[ch]pp|_cuda%.cuh|%.cu)$")

set(n_violations 0)
function(violation file header reason)
  message("${file} includes ${header}: ${reason}")
  math(EXPR count "${n_violations} + 1")
  set(n_violations ${count} PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/include/*.hpp ${ROOT}/src/*.[ch]pp ${ROOT}/src/*.cu
     ${ROOT}/drivers/*.[ch]pp ${ROOT}/scaling/*.[ch]pp ${ROOT}/tests/*.[ch]pp)
list(FILTER files EXCLUDE REGEX "^tests/package/")
foreach(file ${files})
  file(STRINGS ${ROOT}/${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
  set(module "")
  if(file MATCHES "^(include/tessera|src)/([a-z]+)/")
    set(module ${CMAKE_MATCH_2})
    list(FIND modules ${module} rank)
    if(rank EQUAL -1)
      violation(${file} "-" "'${module}' is not in the table of modules")
      continue()
    endif()
  endif()
  foreach(line ${lines})
    string(REGEX REPLACE "^[^<\"]*[<\"]([^>\"]*)[>\"].*$" "\\1" header "${line}")
    if(module AND header MATCHES "^(tessera/)?([a-z]+)/")
      set(is_public "${CMAKE_MATCH_1}")
      set(other ${CMAKE_MATCH_2})
      list(FIND modules ${other} other_rank)
      if(other_rank EQUAL -1 AND NOT is_public)
        continue() # a folder of the module's own
      endif()
      if(file MATCHES "^include/" AND NOT is_public)
        violation(${file} ${header} "a public header includes public headers only")
      elseif(other_rank EQUAL -1 OR other_rank GREATER rank)
        violation(${file} ${header} "${module} may include only the modules above it")
      elseif(other IN_LIST forbidden_${module})
        violation(${file} ${header} "${module} must not know ${other}")
      endif()
    endif()
    foreach(pattern place IN ZIP_LISTS foreign allowed)
      string(REPLACE "%" "\\" pattern "^(${pattern})$")
      string(REPLACE "%" "\\" place "${place}")
      if(header MATCHES "${pattern}" AND NOT file MATCHES "${place}")
        violation(${file} ${header} "allowed only in ${place}")
      endif()
    endforeach()
  endforeach()
endforeach()

list(LENGTH files n_files)
if(n_violations GREATER 0)
  message(FATAL_ERROR "${n_violations} includes break the rules")
elseif(n_files EQUAL 0)
  message(FATAL_ERROR "no sources below ${ROOT}")
endif()
message("${n_files} files keep the rules")
