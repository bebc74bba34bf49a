// What the POSIX adapter lends to the other adapters in its library: files that it can open. A process attaches a
// pool once, whoever serves it.
//
// A table of functions rather than declarations: who uses it may be a module that is loaded later (mpiio/host.h).
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cairn/adapter/shared.h"
#include "cairn/cairn.h"
#include "cairn/cover.h"

namespace posix {

// Where a path leads in the covered directory.
struct Place {
  char relative[PATH_MAX];  // to that directory, without symbolic links, "." and ".."
  bool exists;              // in this node's pool
  cairn_stat st;            // if it does
};

// Files that several nodes write: the functions of cairn/adapter/shared.h, by their names there.
struct LentShared {
  int (*node_describe)(cairn_pool* pool, cairn_node* node);
  int (*job_open)(cairn_pool* pool, const char* directory, const cairn_node* nodes, uint32_t count,
                  uint32_t node, cairn_ask ask, cairn_still_waiting waiting, void* context,
                  cairn_job** job);
  int (*job_clean)(cairn_job* job);
  int64_t (*job_gather_names)(cairn_job* job);
  int (*job_tell_names)(cairn_job* job);
  void (*job_close)(cairn_job* job);
  size_t (*job_serve)(cairn_job* job, const void* request, size_t size, void* reply);
  size_t (*job_reply_capacity)();
  size_t (*job_request_capacity)();
  int (*exists)(cairn_job* job, const char* path);
  int (*open)(cairn_job* job, const cairn_group* group, const char* path, int flags, uint32_t mode,
              cairn_file* local, cairn_shared** shared);
  int (*close)(cairn_shared* shared);
  int (*commit)(cairn_shared* shared);
  int64_t (*write)(cairn_shared* shared, const cairn_piece* pieces, size_t count);
  int64_t (*read)(cairn_shared* shared, const cairn_piece* pieces, size_t count);
  int (*size)(cairn_shared* shared, uint64_t* size);
  int (*truncate)(cairn_shared* shared, uint64_t size);
  int (*set_immediate)(cairn_shared* shared, int on);
  int (*lock)(cairn_shared* shared);
  int (*unlock)(cairn_shared* shared);
  int (*fetch_add)(cairn_shared* shared, uint32_t which, int64_t value, int64_t* before);
  int (*store)(cairn_shared* shared, uint32_t which, int64_t value);
  int (*make_plain)(cairn_job* job, const char* path, int empty);
  int (*fetch)(cairn_job* job, const char* path);
  int (*remove)(cairn_job* job, const char* path);
  int (*remove_below)(cairn_job* job, const char* path);
};

// Results are as in cairn.h: 0 or a count, or a negative errno.
struct Lent {
  // The open file of a descriptor, with a reference of its own (`close`); null if it is no Cairn file.
  cairn_file* (*file_of)(int fd);
  // Does the path lead to what a covered directory holds, or could hold?
  bool (*covers)(const char* path);
  int (*close)(cairn_file* file);
  ssize_t (*pread)(cairn_file* file, void* buffer, size_t size, uint64_t offset);
  ssize_t (*pwrite)(cairn_file* file, const void* buffer, size_t size, uint64_t offset);
  int64_t (*read_pieces)(cairn_file* file, const cairn_piece* pieces, size_t count);
  int64_t (*write_pieces)(cairn_file* file, const cairn_piece* pieces, size_t count);
  int (*stat)(cairn_file* file, cairn_stat* st);
  int (*truncate)(cairn_file* file, uint64_t size);
  int (*allocate)(cairn_file* file, int mode, uint64_t offset, uint64_t size);
  int (*sync)(cairn_file* file);
  // What went wrong in this thread's last call, with path, offset and cause.
  const char* (*last_error)();
  // One line on stderr, if log.level is info.
  void (*info)(const char* text);
  // The same where it is warning.
  void (*warning)(const char* text);

  // The pool, attached to; null: there is no access to it.
  cairn_pool* (*pool)();
  // The covered directory's real path.
  const char* (*directory)();
  // What other pools may hold for it.
  int (*others)(cairn_pool* pool, const char* directory, cairn_cover_visit_other visit,
                void* context);
  // -EXDEV: not in that directory. -ENOENT: not even the directory that it would be made in is there.
  int (*place)(const char* path, Place* place);
  // What the umask leaves of a mode.
  mode_t (*masked)(mode_t mode);
  // Is there a file, or directory, of this name in the covered directory itself, whatever the pool says?
  bool (*is_below)(const char* relative);
  LentShared shared;
  // The job on several hosts that this process is one of: calls by name see its files from now on. Null: it is over; nobody is
  // asked for it any more when this returns.
  void (*set_job)(cairn_job* job);
  // Whether this thread's calls by name see what the pool has only. Returns what was before.
  bool (*hide_job)(bool hide);
  // Writes what streams and Fortran units hold for files of other hosts (unwritten.h), while there is the job.
  void (*flush_unwritten)();
  // Does a signal's handler of the program call? It may have interrupted the MPI.
  bool (*is_in_handler)();
};

const Lent& lend();

}  // namespace posix
