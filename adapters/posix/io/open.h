// Opens files: from a path to a descriptor in the table.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include "posix/fd/table.h"

namespace posix {

// Returns the kind of an open file of this type (S_IFMT bits), opened with these flags.
Kind kind_of(unsigned type, int flags);

// Enters an open file, found as `name` in `parent`, under a new descriptor. Closes the file if that
// fails. Returns the descriptor or a negative errno. `shown`: as Entry::shown.
int install(cairn_file* file, Kind kind, Cover* cover, bool close_on_exec, cairn_ino parent,
            const char* name, cairn_ino shown = 0);

// Returns an entry, with no descriptor yet, for an open file that another process has handed over.
// Returns null if the file is lost; `lost` begins the line that the log gets then.
Entry* adopt_file(const cairn_file_id& id, const char* lost);

// Opens as openat does, from a directory of ours. `resolve`: flags of lookup.h.
int open_resolved(int dir, const char* path, int flags, mode_t mode, unsigned resolve);

// Removes a stale entry for a descriptor that the kernel has just given for another file. Returns
// the descriptor.
int forget_stale_entry(int fd);

// Returns true if the file was opened with O_PATH: the name is held, the file is not open.
inline bool is_path(const table::Use& use) {
  return use->kind == Kind::kName ||
         (use->kind == Kind::kDirectory && (cairn_file_get_flags(use->file) & O_PATH) != 0);
}

// Follow the process's umask from the first attach on.
void read_umask();
mode_t masked(mode_t mode);

}  // namespace posix
