file(REMOVE_RECURSE ${WORK}/installed ${WORK}/consumer ${WORK}/library)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
foreach(project ${CONSUMER} ${EXAMPLE})
  get_filename_component(name ${project} NAME)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${project} -B ${WORK}/${name} -G ${GENERATOR}
                          -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_COMPILER=${COMPILER} -D "CMAKE_CXX_FLAGS=${FLAGS}"
                          -D CMAKE_PREFIX_PATH=${WORK}/installed -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF
                  COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/${name} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND ${WORK}/consumer/cut_a_scan COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${MPIEXEC} 2 ${WORK}/consumer/exchange COMMAND_ERROR_IS_FATAL ANY)
foreach(n 1 4)
  execute_process(COMMAND ${MPIEXEC} ${n} ${WORK}/library/reconstruct_from_memory WORKING_DIRECTORY ${WORK}
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND ${WORK}/installed/bin/tessera --version COMMAND_ERROR_IS_FATAL ANY)
