#include "posix/shared_names.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "posix/log.h"
#include "posix/place.h"
#include "posix/pool.h"

namespace posix::shared_names {

constinit std::atomic<cairn_job*> job{nullptr};
static std::atomic<int> users{0};
static __thread bool hidden;

void set_job(cairn_job* now) {
  job = now;
  while (now == nullptr && users != 0) sched_yield();
}

void after_fork() {
  cairn_job* before = job;
  // What is open for reading goes on as far as it can.
  if (before != nullptr) cairn_job_fork_child(before);
  job = nullptr;
  users = 0;
}

bool hide(bool hide) {
  const bool before = hidden;
  hidden = hide;
  return before;
}

namespace {

// The job for as long as a call needs it; null: there is none for this thread. What an MPI does by calls of ours while it is asked
// is answered by what the pool has.
class Asking {
 public:
  Asking() : hides_(!hidden) {
    if (!hides_) return;
    ++users;
    job_ = job;
    hidden = true;
  }
  ~Asking() {
    if (!hides_) return;
    hidden = false;
    --users;
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  explicit operator bool() const { return job_ != nullptr; }
  cairn_job* get() const { return job_; }

 private:
  bool hides_;
  cairn_job* job_ = nullptr;
};

// A failure that its errno says too little of.
int told(int error) {
  if (error == -EBUSY || error == -EIO) log(Level::kWarning, cairn_last_error());
  return error;
}

// call(job, relative path) for what was found.
template <typename Call>
int on(const Found& found, Call call) {
  Asking asking;
  if (!asking) return -ENOENT;
  char relative[PATH_MAX];
  int error = place::relative_of(found, relative);
  return error < 0 ? error : told(call(asking.get(), relative));
}

}  // namespace

// The pool knows the name from the covered directory, from which another node has removed it (remove_rest()).
static bool was_removed(const Found& found, const char* path) {
  return found.exists && (found.st.flags & CAIRN_FILE_LAZY) != 0 && place::is_missing_below(path) &&
         cairn_unlink(pool, found.parent, found.name) == 0;
}

int look(Found* found) {
  const bool own =
      found->exists && (!S_ISREG(found->st.mode) ||
                        ((found->st.flags & CAIRN_FILE_LAZY) == 0 && found->st.size != 0));
  if (own || found->cover != place::cover()) return 0;
  Asking asking;
  if (!asking) return 0;
  char relative[PATH_MAX];
  int error = place::relative_of(*found, relative);
  if (error < 0) return error;
  cairn_stat st;
  error = cairn_shared_stat(asking.get(), relative, &st);
  if (error == -ENOENT && was_removed(*found, relative)) found->exists = false;
  if (error == -ENOENT) return 0;
  if (error < 0) return told(error);
  found->in_pool = found->exists;
  found->exists = found->shared = true;
  found->st = st;
  return 0;
}

int open(const Found& found, int flags, cairn_file** file) {
  const bool writes =
      (flags & O_PATH) == 0 && ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0);
  const int error = on(found, [&](cairn_job* of, const char* path) {
    if (!writes) return cairn_shared_open_reader(of, path, flags, file);
    const int made = cairn_shared_make_plain(of, path, (flags & O_TRUNC) != 0 ? 1 : 0);
    return made == 0 ? kNowPlain : made;
  });
  // Another process may have done the same.
  return writes && error == -ENOENT ? kNowPlain : error;
}

// What else goes by the name: what the pool knows of the file in the covered directory, and that itself, which other nodes would
// find.
static int remove_rest(const Found& found, const char* path) {
  if (found.in_pool)
    if (int error = cairn_unlink(pool, found.parent, found.name); error < 0 && error != -ENOENT)
      return error;
  return place::remove_below(path);
}

int remove(const Found& found) {
  return on(found, [&](cairn_job* of, const char* path) {
    int error = cairn_shared_remove(of, path);
    return error < 0 ? error : remove_rest(found, path);
  });
}

int set_size(const Found& found, uint64_t size) {
  return on(found,
            [&](cairn_job* of, const char* path) { return cairn_shared_set_size(of, path, size); });
}

static int set_attributes(const Found& found, uint32_t mode, uid_t uid, gid_t gid, int64_t mtime) {
  return on(found, [&](cairn_job* of, const char* path) {
    return cairn_shared_set_attributes(of, path, mode, uid, gid, mtime);
  });
}

int set_mode(const Found& found, mode_t mode) {
  return set_attributes(found, mode, UINT32_MAX, UINT32_MAX, CAIRN_TIME_OMIT);
}

int set_owner(const Found& found, mode_t mode, uid_t uid, gid_t gid) {
  return set_attributes(found, mode & 07777, uid, gid, CAIRN_TIME_OMIT);
}

int set_times(const Found& found, int64_t mtime_ns) {
  return set_attributes(found, UINT32_MAX, UINT32_MAX, UINT32_MAX, mtime_ns);
}

bool any_in(const Found& directory, bool deep) {
  if (directory.cover != place::cover()) return false;
  return on(directory, [&](cairn_job* of, const char* path) {
           return cairn_shared_list(
               of, path, deep ? 1 : 0, +[](void*, const char*) { return 1; }, nullptr);
         }) > 0;
}

int rename(const Found& from, const Found& to) {
  return on(from, [&](cairn_job* of, const char* path) {
    char new_path[PATH_MAX];
    int error = place::relative_of(to, new_path);
    if (error < 0) return error;
    error = cairn_shared_rename(of, path, new_path);
    if (error == -EXDEV) {
      error = cairn_shared_make_plain(of, path, 0);
      return error == 0 ? kNowPlain : error;
    }
    if (error < 0) return error;
    Found old = to;
    old.in_pool = to.shared ? to.in_pool : to.exists;
    error = remove_rest(old, new_path);
    return error < 0 ? error : remove_rest(from, path);
  });
}

int replaced(const Found& to) {
  return on(to, [&](cairn_job* of, const char* path) { return cairn_shared_remove(of, path); });
}

namespace {

// Positions behind all of the pool's. A name's own, so that removing others does not move it.
constexpr uint64_t kFirst = 1ULL << 62;

uint64_t position_of(const char* name) {
  uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  for (; *name != '\0'; ++name)
    hash = (hash ^ static_cast<unsigned char>(*name)) * 1099511628211ULL;
  return kFirst | hash >> 3;
}

// The entries that come next behind a position.
struct Listing {
  cairn_ino directory;
  uint64_t behind;
  cairn_dirent* entries;
  size_t count;
  size_t filled = 0;

  void add(const char* name) {
    const uint64_t position = position_of(name);
    const size_t length = strlen(name);
    if (position <= behind || length > NAME_MAX) return;
    size_t at = filled;
    while (at > 0 && entries[at - 1].cookie > position) --at;
    if (at == count) return;
    cairn_stat st;
    if (cairn_lookup(pool, directory, name, CAIRN_NOFOLLOW, &st) == 0) return;  // listed before
    if (filled < count) ++filled;
    memmove(entries + at + 1, entries + at, (filled - at - 1) * sizeof *entries);
    entries[at].cookie = position;
    entries[at].type = DT_REG;
    entries[at].length = static_cast<uint32_t>(length);
    memcpy(entries[at].name, name, length + 1);
  }
};

}  // namespace

int read_directory(cairn_ino directory, uint64_t cookie, cairn_dirent* entries, size_t count) {
  if (cookie < kFirst) {
    const int got = cairn_readdir(pool, directory, cookie, entries, count);
    if (got != 0 || !active()) return got;
  }
  Asking asking;
  char path[PATH_MAX] = "";
  const cairn_ino top = place::cover()->top;
  if (!asking || (directory != top && cairn_path_of(pool, top, directory, path, sizeof path) < 0))
    return 0;
  Listing listing = {directory, cookie, entries, count};
  const char* relative = path + strspn(path, "/");
  const int failed = cairn_shared_list(
      asking.get(), relative, 0,
      +[](void* to, const char* name) {
        static_cast<Listing*>(to)->add(name);
        return 0;
      },
      &listing);
  if (failed < 0) return told(failed);
  for (size_t i = 0; i < listing.filled; ++i) {
    char child[PATH_MAX + NAME_MAX + 2];
    snprintf(child, sizeof child, "%s%s%s", relative, *relative == '\0' ? "" : "/",
             entries[i].name);
    cairn_stat st;
    // Removed in this moment: it is listed all the same.
    entries[i].ino = cairn_shared_stat(asking.get(), child, &st) == 0 ? st.ino : 1;
  }
  return static_cast<int>(listing.filled);
}

}  // namespace posix::shared_names
