// Directories in a job on several hosts: behind the pool's names those that it does not have.
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posix/core/engine.h"
#include "posix/job/job_files.h"
#include "posix/job/job_path.h"
#include "posix/job/job_ref.h"

namespace posix::job_files {

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

  // `ino` 0: not known.
  void add(const char* name, uint64_t ino) {
    const uint64_t position = position_of(name);
    const size_t length = strlen(name);
    if (position <= behind || length > NAME_MAX) return;
    size_t at = filled;
    while (at > 0 && entries[at - 1].cookie > position) --at;
    if (at == count || (at > 0 && entries[at - 1].cookie == position)) return;
    cairn_stat st;
    if (cairn_lookup(pool, directory, name, CAIRN_NOFOLLOW, &st) == 0) return;  // listed before
    if (filled < count) ++filled;
    memmove(entries + at + 1, entries + at, (filled - at - 1) * sizeof *entries);
    entries[at].cookie = position;
    entries[at].ino = ino;
    entries[at].type = DT_REG;
    entries[at].length = static_cast<uint32_t>(length);
    memcpy(entries[at].name, name, length + 1);
  }
};

// The ordinary files that other nodes have in the directory that was listed last: kept, because who
// lists asks for a few at a time.
class Kept {
 public:
  // Asks for them, unless the listing goes on that they are kept for. 0 or a negative errno.
  int get(cairn_job* of, cairn_ino directory, const char* path, bool goes_on, Listing* listing) {
    pthread_mutex_lock(&mutex_);
    int failed = 0;
    if (!goes_on || directory != directory_) {
      used_ = 0;
      directory_ = directory;
      failed = cairn_shared_list_ordinary(
          of, path,
          +[](void* to, const char* name, uint64_t ino) {
            return static_cast<Kept*>(to)->keep(name, ino);
          },
          static_cast<void*>(this));
    }
    for (size_t at = 0; failed == 0 && at < used_;) {
      uint64_t ino;
      memcpy(&ino, bytes_ + at, sizeof ino);
      const char* name = bytes_ + at + sizeof ino;
      listing->add(name, ino);
      at += sizeof ino + strlen(name) + 1;
    }
    if (failed != 0) directory_ = 0;
    pthread_mutex_unlock(&mutex_);
    return failed;
  }

 private:
  int keep(const char* name, uint64_t ino) {
    const size_t length = strlen(name) + 1;
    if (used_ + sizeof ino + length > capacity_) {
      const size_t larger = 2 * capacity_ + 4096;
      void* moved = realloc(bytes_, larger);
      if (moved == nullptr) return -ENOMEM;
      bytes_ = static_cast<char*>(moved);
      capacity_ = larger;
    }
    memcpy(bytes_ + used_, &ino, sizeof ino);
    memcpy(bytes_ + used_ + sizeof ino, name, length);
    used_ += sizeof ino + length;
    return 0;
  }

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  cairn_ino directory_ = 0;
  char* bytes_ = nullptr;  // an inode's number and a name, one behind the other
  size_t used_ = 0;
  size_t capacity_ = 0;
};
constinit Kept kept;

}  // namespace

int read_directory(cairn_ino directory, uint64_t cookie, cairn_dirent* entries, size_t count) {
  if (cookie < kFirst) {
    const int got = cairn_readdir(pool, directory, cookie, entries, count);
    if (got != 0 || !active()) return got;
  }
  Asking asking;
  char path[PATH_MAX] = "";
  const cairn_ino top = job_path::cover()->top;
  if (!asking || (directory != top && cairn_path_of(pool, top, directory, path, sizeof path) < 0))
    return 0;
  Listing listing = {directory, cookie, entries, count};
  const char* relative = path + strspn(path, "/");
  int failed = cairn_shared_list(
      asking.get(), relative, 0,
      +[](void* to, const char* name) {
        static_cast<Listing*>(to)->add(name, 0);
        return 0;
      },
      &listing);
  if (failed == 0) failed = kept.get(asking.get(), directory, relative, cookie >= kFirst, &listing);
  if (failed == -EIO) log(Level::kWarning, cairn_last_error());
  if (failed < 0) return failed;
  for (size_t i = 0; i < listing.filled; ++i) {
    if (entries[i].ino != 0) continue;
    char child[PATH_MAX + NAME_MAX + 2];
    snprintf(child, sizeof child, "%s%s%s", relative, *relative == '\0' ? "" : "/",
             entries[i].name);
    cairn_stat st;
    // Removed in this moment: it is listed all the same.
    entries[i].ino = cairn_shared_stat(asking.get(), child, &st) == 0 ? st.ino : 1;
  }
  return static_cast<int>(listing.filled);
}

}  // namespace posix::job_files
