// Paths: what other adapters ask of the one that serves the program's calls by path and descriptor.
//
// A table of functions rather than declarations: modules that are loaded later ask too
// (api_table.h).
#pragma once

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

#include "cairn/adapter/shared.h"
#include "cairn/cairn.h"

namespace engine {

// Where a path leads in the covered directory.
struct Place {
  char relative[PATH_MAX];  // to that directory, without symbolic links, "." and ".."
  bool exists;              // in this node's pool
  cairn_stat st;            // if it does
};

// Results are as in cairn.h: 0 or a count, or a negative errno.
struct Paths {
  size_t size;  // of this struct: a module that was built for another one refuses it
  // The open file of a descriptor, with a reference of its own (cairn_close); null if it is no
  // Cairn file.
  cairn_file* (*file_of)(int fd);
  // Does the path lead to what a covered directory holds, or could hold?
  bool (*covers)(const char* path);
  // The covered directory's real path.
  const char* (*directory)();
  // -EXDEV: not in that directory. -ENOENT: not even the directory that it would be made in is
  // there.
  int (*place)(const char* path, Place* place);
  // What the umask leaves of a mode.
  mode_t (*masked)(mode_t mode);
  // Is there a file, or directory, of this name in the covered directory itself, whatever the pool
  // says?
  bool (*is_below)(const char* relative);
  // The job on several hosts that this process is one of: calls by name see its files from now on.
  // Null: it is over; nobody is asked for it any more when this returns.
  void (*set_job)(cairn_job* job);
  // Whether this thread's calls by name see only what the pool has. Returns what was before.
  bool (*hide_job)(bool hide);
  // Writes what streams and Fortran units hold for files of other hosts, while there is the job.
  void (*flush_unwritten)();
};

// Defined by the adapter that serves such calls.
extern const Paths paths;

}  // namespace engine
