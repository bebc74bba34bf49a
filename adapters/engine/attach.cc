#include "engine/attach.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "engine/fork.h"
#include "engine/hooks.h"
#include "engine/log.h"

namespace engine {

cairn_pool* pool;
const char* pool_path = "";

static pthread_mutex_t attaching = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static dev_t device;

enum class Says : uint8_t { nothing, why };

// Logs a failure, unless its reason is the one logged last: each call on a covered path tries
// again.
static void tell(Says says, const char* what, const char* why) {
  static char told[256];
  if (says == Says::nothing || strncmp(told, why, sizeof told - 1) == 0) return;
  snprintf(told, sizeof told, "%s", why);
  log(Level::kError, what, why);
}

// A failure is not remembered. A process that has become another user may become the pool's user
// again, and a full table of open files may empty.
static int attach_locked(Says says) {
  if (pool != nullptr) return 0;
  cairn_pool* attached = nullptr;
  const char* window = getenv("CAIRN_POOL_PROTECT");
  unsigned flags = window != nullptr && strcmp(window, "on") == 0 ? CAIRN_ATTACH_WRITE_WINDOW : 0;
  int error = pool_path[0] == '\0' ? -ENOENT : cairn_pool_attach(pool_path, flags, &attached);
  if (error < 0) {
    // The caller checks whether the cover has ended.
    if (error == -ENOENT && pool_path[0] != '\0') return error;
    tell(says, "no access to the pool, covered files cannot be reached: ",
         pool_path[0] == '\0' ? "CAIRN_POOL is not set" : cairn_last_error());
    return -EIO;
  }
  // The device number comes from the pool's path, which all processes of a run share. The pool's
  // uuid comes only with all its figures, which reads every inode.
  unsigned hash = 0;
  for (const char* c = pool_path; *c != '\0'; ++c)
    hash = hash * 31 + static_cast<unsigned char>(*c);
  device = makedev(0, 0xca000 | (hash & 0xfff));
  const char* durability = getenv("CAIRN_DURABILITY");
  if (durability != nullptr && strcmp(durability, "write") == 0)
    cairn_pool_set_durability(attached, CAIRN_DURABILITY_WRITE);
  hooks::run(hooks::attaching);
  watch_forks(attached);
  pool = attached;
  hooks::run(hooks::attached);
  return 0;
}

int attach() {
  if (pool != nullptr) return 0;
  int before = errno;
  Inside inside;
  pthread_mutex_lock(&attaching);
  int error = attach_locked(Says::why);
  pthread_mutex_unlock(&attaching);
  errno = before;
  return error;
}

// Returns true if the run has drained and ended the cover, and perhaps removed the pool, before
// this process first used it. The directory is an ordinary one then. A claim in it means that the
// cover has not ended.
static bool has_ended(const Cover& cover) {
  char claim[PATH_MAX + 16];
  struct stat st;
  snprintf(claim, sizeof claim, "%s/.cairn-claim", cover.path);
  return lstat(claim, &st) != 0 && errno == ENOENT && ::stat(cover.path, &st) == 0;
}

// Ends the cover: no path matches it any more.
static int end(Cover* cover) {
  cover->length = 0;
  return kEnded;
}

static int join(Cover* cover, Says says) {
  if (cover->joined.load(std::memory_order_acquire)) return 0;
  int before = errno;
  Inside inside;
  pthread_mutex_lock(&attaching);
  int error = cover->length == 0 ? kEnded : attach_locked(says);
  if (error == -ENOENT) {
    if (has_ended(*cover)) {
      error = end(cover);
    } else {
      tell(says, "covered files cannot be reached: ", cairn_last_error());
      error = -EIO;
    }
  }
  if (error == 0 && !cover->joined) {
    error = cairn_cover_join(pool, cover->path, &cover->handle);
    if (error == -ENOENT && has_ended(*cover)) {
      error = end(cover);
    } else if (error < 0) {
      tell(says, "covered files cannot be reached: ", cairn_last_error());
      error = -EIO;
    } else {
      cover->top = cairn_cover_top(cover->handle);
      cover->joined.store(true, std::memory_order_release);
    }
  }
  pthread_mutex_unlock(&attaching);
  errno = before;
  return error;
}

int join(Cover* cover) { return join(cover, Says::why); }

int join_quietly(Cover* cover) { return join(cover, Says::nothing); }

dev_t device_number() { return device; }

}  // namespace engine
