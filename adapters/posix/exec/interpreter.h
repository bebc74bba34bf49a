// Interpreters: of a script, by its first line, and of an ELF file. The kernel opens them below the
// cover, so what leads into it is looked for here.
#pragma once

#include <stddef.h>

#include "posix/loader/elf.h"

namespace posix {

constexpr int kMostInterpreters = 5;  // as the kernel follows scripts of scripts

// "#!INTERPRETER [ARGUMENT]"
struct ScriptLine {
  const char* interpreter;
  const char* argument;  // "" if there is none
};
// Takes the line apart, in place. False: it is none.
bool take_script_line(char* head, ScriptLine* line);
// The first line of a file outside of the cover; `head` has room for kHead bytes.
constexpr size_t kHead = 257;  // as much as the kernel reads, and NUL
bool read_script_line(const char* path, char* head, ScriptLine* line);

// Does the start of this file outside of the cover look into it: for an interpreter, or for
// libraries?
bool start_needs_covered(const char* path, const char* library_path, int depth = 0);

// May the kernel start this ELF file, which has the path `name`, with its interpreter? 0 or a
// negative errno, after a line that says why not.
int check_interpreter(const Elf& elf, const char* name);

}  // namespace posix
