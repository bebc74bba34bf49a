#include "command_line.h"
#include "run_child.h"

int main(int argc, char** argv) {
  // A second name for the command, used by `cairn run` itself: see run_child.h.
  if (cairn::cli::is_start_in_cover(argc, argv)) return cairn::cli::start_in_cover(argv);
  return cairn::cli::run_command_line(argc, argv);
}
