// Life of the process: start and exec.
#pragma once

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

#include "posix/core/engine.h"

namespace posix {

// What a program started from this process finds of it: its open Cairn files (CAIRN_EXEC) and its
// working directory (CAIRN_CWD). See handover.cc.
class Handover {
 public:
  // Makes what is needed, in the process that is about to become the program. 0 or a negative
  // errno.
  int prepare();
  // The working directory alone, for a program that starts in a process of its own without open
  // files.
  void describe_directory();
  // The program could not be started.
  void cancel();
  // `environment` with what was prepared, and an LD_PRELOAD that keeps us; in `room` of
  // environment_room() pointers.
  char* const* environment(char* const* from, char** room);
  static size_t environment_room(char* const* from);

 private:
  int hand_over_files();
  int exec_fd_ = -1;
  int list_fd_ = -1;
  char note_[48];
  char directory_[PATH_MAX + 128];
};

// Does an open Cairn file outlive an exec? Then a child has to be prepared in its own process.
bool has_inheritable_files();

// Runs a program as execve does; outside or inside the cover. -1 and errno.
int run_program(const char* path, char* const* arguments, char* const* environment);

struct Found;
class Needs;
// Runs a program of the cover that has been found, or is open, and had this path. `needs` is looked
// for with the environment's LD_LIBRARY_PATH. A negative errno.
int run_elf(const Found& found, const char* path, Needs& needs, char* const* arguments,
            char* const* environment);

// A program or script outside of the cover, as execveat takes it, and with a path that leads to it.
struct OutsideFile {
  const char* path;
  const char* name;  // that its interpreter gets
  int dir;
  const char* in_dir;
  int flags;

  int start(char* const* arguments, char* const* environment) const;
};
// Runs it, with what it needs of the cover. -1 and errno.
int run_outside(const OutsideFile& file, char* const* arguments, char* const* environment,
                int depth);

// Where execvp would find `name`: the n-th candidate into `path`. False: no more.
bool candidate(const char* name, int n, char* path, size_t capacity);

}  // namespace posix
