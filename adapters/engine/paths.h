// Paths: the functions that other adapters call in the one that serves the program's calls by path
// and descriptor.
//
// It is a table of functions, because modules that are loaded later call them, too (api_table.h).
#pragma once

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

#include "cairn/adapter/shared.h"
#include "cairn/cairn.h"

namespace engine {

// A path in the covered directory.
struct Place {
  char relative[PATH_MAX];  // from that directory, without symbolic links, "." and ".."
  bool exists;              // in this node's pool
  cairn_stat st;            // if it exists
};

// Results are as in cairn.h: 0 or a count, or a negative errno.
struct Paths {
  size_t size;  // of this struct: a module that was built for another one refuses it
  // Returns the open file of a descriptor, with a reference of its own (cairn_close), or null if it
  // is not a Cairn file.
  cairn_file* (*file_of)(int fd);
  // Returns true if the path leads to a file of a covered directory, or to a name in it.
  bool (*covers)(const char* path);
  // Returns the covered directory's real path.
  const char* (*directory)();
  // Finds a path's place. Returns -EXDEV if the path leads out of the directory, -ENOENT if not
  // even its parent directory exists.
  int (*place)(const char* path, Place* place);
  // Returns a mode without the bits of the umask.
  mode_t (*masked)(mode_t mode);
  // Returns true if the covered directory itself has a file or directory of this name, whatever the
  // pool has.
  bool (*is_below)(const char* relative);
  // Sets the job on several hosts that this process belongs to: calls by name see its files from
  // now on. Null: the job is over; when this returns, no call uses it any more.
  void (*set_job)(cairn_job* job);
  // Makes this thread's calls by name see only files of the pool, or ends that. Returns the
  // previous setting.
  bool (*hide_job)(bool hide);
  // Flushes streams and Fortran units for files of other hosts, while the job lasts.
  void (*flush_unwritten)();
};

// The adapter that serves such calls defines it.
extern const Paths paths;

}  // namespace engine
