// Interpreters of scripts, by the first line, and of ELF files. The kernel opens them below the
// cover, so those whose path leads into the cover are looked up here.
#pragma once

#include <stddef.h>

#include "posix/loader/elf.h"

namespace posix {

constexpr int kMostInterpreters = 5;  // the kernel's limit for scripts of scripts

// The line "#!INTERPRETER [ARGUMENT]".
struct ScriptLine {
  const char* interpreter;
  const char* argument;  // "" if there is none
};
// Splits the line, in place. Returns false if it is not such a line.
bool take_script_line(char* head, ScriptLine* line);
// Reads the first line of a file outside the cover. `head` has kHead bytes.
constexpr size_t kHead = 257;  // as many as the kernel reads, and NUL
bool read_script_line(const char* path, char* head, ScriptLine* line);

// Returns true if the start of this file outside the cover needs an interpreter or libraries of the
// cover.
bool start_needs_covered(const char* path, const char* library_path, int depth = 0);

// Returns 0 if the kernel may start this ELF file, which has the path `name`, with its interpreter.
// Else logs the reason and returns a negative errno.
int check_interpreter(const Elf& elf, const char* name);

}  // namespace posix
