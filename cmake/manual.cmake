# cmake -DPROGRAM=... -DFOLDER=... -P manual.cmake: have the program write its manual pages.
function(write_page name)
  execute_process(COMMAND ${PROGRAM} help --man ${ARGN} OUTPUT_FILE ${FOLDER}/${name}.1
                  COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${PROGRAM} help --list OUTPUT_VARIABLE commands COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+\n" commands "${commands}")
write_page(kernsight)
foreach(command IN LISTS commands)
  string(REGEX REPLACE "\t.*" "" command "${command}")
  write_page(kernsight-${command} ${command})
endforeach()
