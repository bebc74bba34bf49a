#include "process/run_child.h"
#include "program/command_line.h"
#include "runs/keeper.h"

int main(int argc, char** argv) {
  // Other names for the command, used by `cairn run` itself: see run_child.h and keeper.h.
  if (cairn::cli::is_start_in_cover(argc, argv)) return cairn::cli::start_in_cover(argv);
  if (cairn::cli::is_keeper(argc, argv)) return cairn::cli::run_keeper(argc, argv);
  return cairn::cli::run_command_line(argc, argv);
}
