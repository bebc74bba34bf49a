// The command line of `cairn`, put together from the commands of commands/.
#pragma once

namespace cairn::cli {

// Parses the arguments, carries out the command and reports errors; returns the exit code.
int run_command_line(int argc, char** argv);

}  // namespace cairn::cli
