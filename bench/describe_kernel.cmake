# cmake -DKERNEL=lib/cairn/bench/MPI/NAME -P describe_kernel.cmake: writes NAME.json beside a kernel, by
# the kernel itself. The runner of `cairn bench` reads it.
execute_process(COMMAND ${KERNEL} --describe
  OUTPUT_FILE ${KERNEL}.json ERROR_VARIABLE errors RESULT_VARIABLE result)
if(result)
  file(REMOVE ${KERNEL}.json)
  message(WARNING "${KERNEL} --describe: failed: ${result}\n${errors}\n"
    "cairn bench does without this kernel until ${KERNEL}.json holds what this command prints.")
endif()
