// Files that several nodes write (cairn/adapter/shared.h), as calls by name meet them: the pool
// does not have them, their records in the covered directory say what they are.
//
// Only in a process of a job on several hosts, from the moment in which who knows the job (an
// adapter of MPI's) says so until the job is over: then find() looks for a record where the pool
// has no file of the name, or one whose bytes still lie below.
#pragma once

#include "posix/fd/table.h"
#include "posix/job/job_ref.h"
#include "posix/path/lookup.h"

namespace posix::job_files {

// The job, or null: it is over. Returns when nobody uses the one before any more.
void set_job(cairn_job* now);
// In the child of a fork: it is no process of the job.
void after_fork();

// Has this node's pool the name now?
bool is_here(const Found& found);

// The calls on what find() has found. 0 or a negative errno; -ESTALE: it has come to this node
// since, look again.
//
// Opens it for reading. For anything else it becomes an ordinary file of this node's pool:
// kNowPlain, look again; or is opened where it lies, if others have it open there.
constexpr int kNowPlain = 2;
int open(const Found& found, int flags, cairn_file** file);
int remove(const Found& found);
int set_size(const Found& found, uint64_t size);
int set_mode(const Found& found, mode_t mode);
int set_owner(const Found& found, mode_t mode, uid_t uid, gid_t gid);
int set_times(const Found& found, int64_t atime_ns, int64_t mtime_ns);

// Is it open for writing, on the host where it lies?
bool is_written(const Entry& entry);

// Is there any in this directory, or (`deep`) below?
bool any_in(const Found& directory, bool deep);
// rename(2), where `from` is shared, `to` may be too, and the caller may move both; `flags`: 0 or
// RENAME_NOREPLACE. Also kNowPlain.
int rename(const Found& from, const Found& to, unsigned flags);
// A file of the pool has been renamed to `to`, which was shared.
int replaced(const Found& to);

// cairn_readdir(), and behind the pool's names those that it does not have.
int read_directory(cairn_ino directory, uint64_t cookie, cairn_dirent* entries, size_t count);

}  // namespace posix::job_files
