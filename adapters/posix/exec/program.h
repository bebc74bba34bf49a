// Programs: start of a program or script inside or outside the cover.
#pragma once

namespace posix {

struct Found;
class Needs;

// Runs a program as execve does, inside or outside the cover. Returns -1 and errno.
int run_program(const char* path, char* const* arguments, char* const* environment);

// Runs a program of the cover that was found, or is open, and had the path `path`. `needs` searches
// the LD_LIBRARY_PATH of `environment`. Returns a negative errno.
int run_elf(const Found& found, const char* path, Needs& needs, char* const* arguments,
            char* const* environment);

// A program or script outside the cover: the arguments of execveat, and a path that leads to it.
struct OutsideFile {
  const char* path;
  const char* name;  // for its interpreter
  int dir;
  const char* in_dir;
  int flags;

  int start(char* const* arguments, char* const* environment) const;
};
// Runs the file, with the covered files that it needs. Returns -1 and errno.
int run_outside(const OutsideFile& file, char* const* arguments, char* const* environment,
                int depth);

}  // namespace posix
