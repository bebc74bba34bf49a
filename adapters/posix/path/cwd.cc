#include "posix/path/cwd.h"

#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "posix/core/calls.h"
#include "posix/core/covers.h"
#include "posix/core/engine.h"
#include "posix/fd/descriptor.h"

namespace posix::cwd {

static std::atomic<Where> state{Where::kUnknown};
static char kernel_path[PATH_MAX];  // if outside
static Current covered_place;
static cairn_file* pin;  // keeps the directory's inode after it is removed
static char inherited_path[PATH_MAX];
static cairn_ino inherited_ino;

static Cover* cover_of(const char* path) {
  for (int i = 0; i < cover_count; ++i) {
    size_t length = covers[i].length;
    if (length > 0 && strncmp(path, covers[i].path, length) == 0 &&
        (path[length] == '\0' || path[length] == '/'))
      return &covers[i];
  }
  return nullptr;
}

// Enters the pool's directory in place of the kernel's, which lies in the covered one.
static void enter_by_path(Cover* cover, const char* path) {
  cairn_ino ino = 0;
  int joined = join(cover);
  if (joined == kEnded && real::chdir(path) == 0) {
    snprintf(kernel_path, sizeof kernel_path, "%s", path);
    state.store(Where::kOutside);
    return;
  }
  if (joined == 0) {
    cairn_stat st;
    const char* rest = path + cover->length;
    while (*rest == '/') ++rest;
    if (inherited_ino != 0 && cairn_stat_ino(pool, inherited_ino, &st) == 0) {
      ino = st.ino;
    } else if (*rest == '\0') {
      ino = cover->top;
    } else if (cairn_lookup(pool, cover->top, rest, 0, &st) == 0) {
      ino = st.ino;
    }
  }
  inherited_ino = 0;
  if (ino == 0 || enter(cover, ino, 0) < 0) {
    covered_place = {cover, ino};
    state.store(Where::kCovered);
  }
}

// One thread finds out where the process is, and others wait. Only the first one knows what was
// inherited. The kernel does not, so a second thread would take a covered directory for one
// outside.
static pthread_mutex_t finding_out = PTHREAD_MUTEX_INITIALIZER;

Still::Still() { pthread_mutex_lock(&finding_out); }
Still::~Still() { pthread_mutex_unlock(&finding_out); }

static void find_out() {
  char path[PATH_MAX];
  if (inherited_path[0] != '\0') {
    memcpy(path, inherited_path, sizeof path);
  } else if (real::getcwd(path, sizeof path) == nullptr || path[0] != '/') {
    path[0] = '\0';
  }
  if (Cover* cover = cover_of(path)) {
    enter_by_path(cover, path);
  } else {
    memcpy(kernel_path, path, sizeof path);
    state.store(path[0] != '\0' && is_ancestor(path) ? Where::kAncestor : Where::kOutside);
  }
  inherited_path[0] = '\0';
}

Where where() {
  Where now = state.load(std::memory_order_acquire);
  if (now != Where::kUnknown) return now;
  int before = errno;
  {
    Still still;
    if (state.load() == Where::kUnknown) find_out();
  }
  errno = before;
  return state.load();
}

bool is_covered() {
  Still still;
  const Where now = state.load();
  if (now != Where::kUnknown) return now == Where::kCovered;
  if (inherited_path[0] != '\0') return cover_of(inherited_path) != nullptr;
  char path[PATH_MAX];
  return real::getcwd(path, sizeof path) != nullptr && cover_of(path) != nullptr;
}

const char* path() {
  Where now = where();
  if (now == Where::kCovered) return nullptr;
  return kernel_path[0] != '\0' ? kernel_path : nullptr;
}

Current current() { return covered_place; }

static void unpin() {
  if (pin != nullptr) cairn_close(pin);
  pin = nullptr;
}

void moved_outside() {
  inherited_path[0] = '\0';
  inherited_ino = 0;
  state.store(Where::kUnknown, std::memory_order_release);
  unpin();
}

int enter(Cover* cover, cairn_ino ino, uint64_t generation) {
  cairn_file* held = nullptr;
  int error = cairn_open_ino(pool, ino, generation, O_PATH | O_DIRECTORY, &held);
  if (error < 0) return error;
  int guard = descriptor::guard_directory();
  int before = errno;
  if (guard < 0 || real::fchdir(guard) != 0) {
    error = guard < 0 ? guard : -errno;
    cairn_close(held);
    errno = before;
    return error;
  }
  unpin();
  pin = held;
  inherited_path[0] = '\0';
  covered_place = {cover, ino};
  state.store(Where::kCovered, std::memory_order_release);
  return 0;
}

// Writes "device:inode:ours:path". Device and inode are the kernel's directory, by which inherit()
// sees whether the process has moved since.
size_t describe(char* text, size_t capacity) {
  Still still;
  // An inherited directory that was not used yet is passed on as it is.
  bool untouched = inherited_path[0] != '\0';
  if (!untouched && (state.load() != Where::kCovered || covered_place.ino == 0)) return 0;
  const char* path = untouched ? inherited_path : covered_place.cover->path;
  cairn_ino ino = untouched ? inherited_ino : covered_place.ino;
  struct stat st;
  if (real::fstatat(AT_FDCWD, ".", &st, 0) != 0) return 0;
  int length = snprintf(
      text, capacity, "CAIRN_CWD=%llu:%llu:%llu:%s", static_cast<unsigned long long>(st.st_dev),
      static_cast<unsigned long long>(st.st_ino), static_cast<unsigned long long>(ino), path);
  return static_cast<size_t>(length) < capacity ? static_cast<size_t>(length) : 0;
}

void inherit(const char* value) {
  char* end;
  unsigned long long device = strtoull(value, &end, 10);
  unsigned long long inode = *end == ':' ? strtoull(end + 1, &end, 10) : 0;
  unsigned long long ours = *end == ':' ? strtoull(end + 1, &end, 10) : 0;
  if (*end != ':' || strlen(end + 1) >= sizeof inherited_path) return;
  struct stat st;
  if (real::fstatat(AT_FDCWD, ".", &st, 0) != 0 || st.st_dev != device || st.st_ino != inode)
    return;
  inherited_ino = ours;
  memcpy(inherited_path, end + 1, strlen(end + 1) + 1);
}

}  // namespace posix::cwd
