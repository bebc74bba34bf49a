#include "posix/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "posix/calls.h"
#include "posix/covered.h"
#include "posix/log.h"
#include "posix/open.h"
#include "posix/process.h"

namespace posix {

cairn_pool* pool;

static pthread_mutex_t attaching = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static dev_t device;
static int attach_error;

static int attach_locked() {
  if (pool != nullptr || attach_error != 0) return attach_error;
  cairn_pool* attached = nullptr;
  int error = pool_path[0] == '\0' ? -ENOENT : cairn_pool_attach(pool_path, 0, &attached);
  if (error < 0) {
    log(Level::kError, "no access to the pool, covered files cannot be reached: ",
        pool_path[0] == '\0' ? "CAIRN_POOL is not set" : cairn_last_error());
    attach_error = -EIO;
    return attach_error;
  }
  cairn_pool_info info;
  unsigned hash = 0;
  if (cairn_pool_get_info(attached, &info) == 0) {
    for (unsigned char byte : info.uuid) hash = hash * 31 + byte;
  }
  device = makedev(0, 0xca000 | (hash & 0xfff));
  const char* durability = getenv("CAIRN_DURABILITY");
  if (durability != nullptr && strcmp(durability, "write") == 0)
    cairn_pool_set_durability(attached, CAIRN_DURABILITY_WRITE);
  read_umask();
  watch_forks();
  pool = attached;
  return 0;
}

int attach() {
  if (pool != nullptr) return 0;
  int before = errno;
  pthread_mutex_lock(&attaching);
  int error = attach_locked();
  pthread_mutex_unlock(&attaching);
  errno = before;
  return error;
}

int join(Cover* cover) {
  if (cover->joined.load(std::memory_order_acquire)) return 0;
  int before = errno;
  pthread_mutex_lock(&attaching);
  int error = attach_locked();
  if (error == 0 && !cover->joined) {
    error = cairn_cover_join(pool, cover->path, &cover->handle);
    if (error < 0) {
      log(Level::kError, "covered files cannot be reached: ", cairn_last_error());
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

dev_t device_number() { return device; }

}  // namespace posix
