# cmake -DCAIRN=bin/cairn -DINTO=DIR -P make_pages.cmake: the command's manual pages and completion scripts,
# by the command itself. They are made from the description that it parses by, so they cannot differ from it.
function(make file)
  execute_process(COMMAND ${CAIRN} ${ARGN} OUTPUT_FILE ${INTO}/${file} RESULT_VARIABLE result)
  if(result)
    message(FATAL_ERROR "cairn ${ARGN} failed: ${result}")
  endif()
endfunction()

# A configuration of whoever builds must not get in the way.
unset(ENV{CAIRN_CONFIG})
set(ENV{XDG_CONFIG_HOME} ${INTO}/none)
file(MAKE_DIRECTORY ${INTO}/man1)
make(man1/cairn.1 help --man)
execute_process(COMMAND ${CAIRN} help --names OUTPUT_VARIABLE commands COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[a-z]+" commands "${commands}")
foreach(command IN LISTS commands)
  make(man1/cairn-${command}.1 help --man ${command})
endforeach()
make(cairn.bash completion bash)
make(_cairn completion zsh)
make(cairn.fish completion fish)
