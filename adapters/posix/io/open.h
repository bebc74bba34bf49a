// Opening: from a path to a descriptor in the table.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include "posix/fd/table.h"

namespace posix {

// What an open file of this type (S_IFMT bits) is, opened with these flags.
Kind kind_of(unsigned type, int flags);

// Puts an open file, found as `name` in `parent`, under a new descriptor; closes the file if that
// fails. The descriptor, or a negative errno. `shown`: as Entry::shown.
int install(cairn_file* file, Kind kind, Cover* cover, bool close_on_exec, cairn_ino parent,
            const char* name, cairn_ino shown = 0);

// The entry, with no descriptor yet, of an open file that another process has handed over. Null: it
// is lost; `lost` begins the line that the log says of that.
Entry* adopt_file(const cairn_file_id& id, const char* lost);

// As openat; `resolve` as lookup.h has it. The directory is one of ours.
int open_resolved(int dir, const char* path, int flags, mode_t mode, unsigned resolve);

// A descriptor that the kernel has just given for something else: whatever the table says of it is
// old.
int fresh(int fd);

// Opened with O_PATH: the name is held, the file is not open.
inline bool is_path(const table::Use& use) {
  return use->kind == Kind::kName ||
         (use->kind == Kind::kDirectory && (cairn_file_get_flags(use->file) & O_PATH) != 0);
}

// The process's umask, followed from the first attach on.
void read_umask();
mode_t masked(mode_t mode);

}  // namespace posix
