#include "posix/job/job_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "posix/core/engine.h"
#include "posix/job/job_path.h"
#include "posix/path/fifo_socket.h"

namespace posix::job_files {

// What the kernel has for it (fifo_socket.h) is this host's.
static void forget_special(cairn_ino ino, uint64_t generation, uint32_t mode) {
  cairn_stat st = {};
  st.ino = ino;
  st.generation = generation;
  st.mode = mode;
  fifo_socket::name_removed(st);
}

bool is_here(const Found& found) {
  cairn_stat st;
  return cairn_lookup(pool, found.parent, found.name, CAIRN_NOFOLLOW, &st) == 0;
}

namespace {

// A failure that its errno says too little of.
int told(int error) {
  if (error == -EBUSY || error == -EIO) log(Level::kWarning, cairn_last_error());
  return error;
}

// call(job, relative path) for what was found. -ESTALE: no other node has it any more, but this
// one.
template <typename Call>
int on(const Found& found, Call call) {
  Asking asking;
  if (!asking) return -ENOENT;
  char relative[PATH_MAX];
  int error = job_path::relative_of(found, relative);
  if (error < 0) return error;
  error = told(call(asking.get(), relative));
  return error == -ENOENT && is_here(found) ? -ESTALE : error;
}

}  // namespace

// The covered directory has its bytes, and has had them all the time: the file is the same to all
// nodes.
static bool is_imported(const cairn_stat& st) {
  return (st.flags & (CAIRN_FILE_LAZY | CAIRN_FILE_EVICTED)) == CAIRN_FILE_LAZY;
}

// The pool knows the name from the covered directory, from which another node has removed it
// (remove_rest()).
static bool was_removed(const Found& found, const char* path) {
  return found.exists && is_imported(found.st) && job_path::is_missing_below(path) &&
         cairn_unlink(pool, found.parent, found.name) == 0;
}

static int look(Found* found) {
  const bool own = found->exists &&
                   (!S_ISREG(found->st.mode) || (!is_imported(found->st) && found->st.size != 0));
  if (own || found->cover != job_path::cover()) return 0;
  Asking asking;
  if (!asking) return 0;
  char relative[PATH_MAX];
  int error = job_path::relative_of(*found, relative);
  if (error < 0) return error;
  cairn_stat st;
  error = cairn_shared_stat(asking.get(), relative, &st);
  if (error == -ENOENT && was_removed(*found, relative)) found->exists = false;
  // What lies below is read there, without asking anybody.
  if (error == -ENOENT && !found->exists)
    error = cairn_shared_stat_ordinary(asking.get(), relative, &st);
  if (error == -ENOENT) return 0;
  if (error < 0) return told(error);
  found->in_pool = found->exists;
  found->exists = found->shared = true;
  found->st = st;
  return 0;
}

static bool came_here(const Found& found) {
  return !found.exists && found.cover == job_path::cover() && is_here(found);
}

static constexpr JobNames names = {look, came_here};

void set_job(cairn_job* now) {
  if (now != nullptr) cairn_job_on_special_removed(now, forget_special);
  job = now;
  names_of_job = now != nullptr ? &names : nullptr;
  if (now == nullptr) wait_for_users();
}

void after_fork() {
  cairn_job* before = job;
  // What is open for reading goes on as far as it can.
  if (before != nullptr) cairn_job_fork_child(before);
  job = nullptr;
  names_of_job = nullptr;
  forget_users();
}

int open(const Found& found, int flags, cairn_file** file) {
  const bool writes =
      (flags & O_PATH) == 0 && ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0);
  const int error = on(found, [&](cairn_job* of, const char* path) {
    if (!writes) return cairn_shared_open_reader(of, path, flags, file);
    const int made = cairn_shared_make_plain(of, path, (flags & O_TRUNC) != 0 ? 1 : 0);
    if (made == 0) return kNowPlain;
    if (made != -EBUSY || cairn_shared_exists(of, path) != 0) return made;
    // Others have it open: all write the one that there is.
    return cairn_shared_open_writer(of, path, flags, file);
  });
  // Another process may have done the same.
  return writes && error == -ENOENT ? kNowPlain : error;
}

// What else goes by the name: what the pool knows of the file in the covered directory, and that
// itself, which other nodes would find.
static int remove_rest(cairn_job* of, const Found& found, const char* path) {
  if (found.in_pool)
    if (int error = cairn_unlink(pool, found.parent, found.name); error < 0 && error != -ENOENT)
      return error;
  const int removed = cairn_shared_remove_below(of, path);
  return removed < 0 ? removed : 0;
}

int remove(const Found& found) {
  return on(found, [&](cairn_job* of, const char* path) {
    int error = cairn_shared_remove(of, path);
    return error < 0 ? error : remove_rest(of, found, path);
  });
}

bool is_written(const Entry& entry) {
  if (entry.shown == 0) return false;
  const int flags = cairn_file_get_flags(entry.file);
  return (flags & O_PATH) == 0 && (flags & O_ACCMODE) != O_RDONLY;
}

int set_size(const Found& found, uint64_t size) {
  return on(found,
            [&](cairn_job* of, const char* path) { return cairn_shared_set_size(of, path, size); });
}

static int set_attributes(const Found& found, uint32_t mode, uid_t uid, gid_t gid,
                          int64_t atime = CAIRN_TIME_OMIT, int64_t mtime = CAIRN_TIME_OMIT) {
  return on(found, [&](cairn_job* of, const char* path) {
    return cairn_shared_set_attributes(of, path, mode, uid, gid, atime, mtime);
  });
}

int set_mode(const Found& found, mode_t mode) {
  return set_attributes(found, mode, UINT32_MAX, UINT32_MAX);
}

int set_owner(const Found& found, mode_t mode, uid_t uid, gid_t gid) {
  return set_attributes(found, mode & 07777, uid, gid);
}

int set_times(const Found& found, int64_t atime_ns, int64_t mtime_ns) {
  return set_attributes(found, UINT32_MAX, UINT32_MAX, UINT32_MAX, atime_ns, mtime_ns);
}

bool any_in(const Found& directory, bool deep) {
  if (directory.cover != job_path::cover()) return false;
  return on(directory, [&](cairn_job* of, const char* path) {
           return cairn_shared_list(
               of, path, deep ? 1 : 0, +[](void*, const char*) { return 1; }, nullptr);
         }) > 0;
}

int rename(const Found& from, const Found& to, unsigned flags) {
  return on(from, [&](cairn_job* of, const char* path) {
    char new_path[PATH_MAX];
    int error = job_path::relative_of(to, new_path);
    if (error < 0) return error;
    error = cairn_shared_rename(of, path, new_path, flags);
    if (error == -EXDEV) {
      error = cairn_shared_make_plain(of, path, 0);
      return error == 0 ? kNowPlain : error;
    }
    if (error < 0) return error;
    Found old = to;
    old.in_pool = to.shared ? to.in_pool : to.exists;
    error = remove_rest(of, old, new_path);
    return error < 0 ? error : remove_rest(of, from, path);
  });
}

int replaced(const Found& to) {
  return on(to, [&](cairn_job* of, const char* path) {
    // An ordinary file of another node has made room already (job_names::rename); one that is there
    // now is younger.
    const int is_shared = cairn_shared_exists(of, path);
    if (is_shared <= 0) return is_shared;
    const int error = cairn_shared_remove(of, path);
    return error == -ENOENT ? 0 : error;
  });
}

}  // namespace posix::job_files
