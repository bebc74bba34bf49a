// Handover passes open Cairn files and the working directory to the program that this process
// becomes or starts.
#pragma once

#include <limits.h>
#include <stddef.h>

namespace posix {

// The open files (CAIRN_EXEC) and the working directory (CAIRN_CWD) of this process, for the next
// program.
class Handover {
 public:
  // Prepares files and directory, in the process that is about to become the program. Returns 0 or
  // a negative errno.
  int prepare();
  // Prepares the working directory alone, for a program that starts in a process of its own without
  // open files.
  void describe_directory();
  // Undoes prepare() after the program could not be started.
  void cancel();
  // Returns `from` with what was prepared, and with an LD_PRELOAD that keeps this library. `room`
  // holds environment_room() pointers.
  char* const* environment(char* const* from, char** room);
  static size_t environment_room(char* const* from);

 private:
  int hand_over_files();
  int exec_fd_ = -1;
  int list_fd_ = -1;
  char note_[48];
  char directory_[PATH_MAX + 128];
};

// Returns true if an open Cairn file outlives an exec. Then a child has to prepare in its own
// process.
bool has_inheritable_files();

}  // namespace posix
