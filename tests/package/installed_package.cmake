file(REMOVE_RECURSE ${WORK}/installed ${WORK}/consumer)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/consumer -G ${GENERATOR}
                        -D CMAKE_CXX_COMPILER=${COMPILER} -D "CMAKE_CXX_FLAGS=${FLAGS}"
                        -D CMAKE_PREFIX_PATH=${WORK}/installed -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/consumer COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/consumer/cut_a_scan COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${MPIEXEC} 2 ${WORK}/consumer/exchange COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/installed/bin/tessera --version COMMAND_ERROR_IS_FATAL ANY)
