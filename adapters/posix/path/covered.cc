#include "posix/path/covered.h"

#include <stdlib.h>
#include <string.h>

#include "posix/core/calls.h"
#include "posix/core/self_exe.h"
#include "posix/core/user_memory.h"
#include "posix/fd/table.h"
#include "posix/path/cwd.h"

namespace posix {

static bool starts_with(const char* text, const char* prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

// Returns true if the path has a ".." component, or one that begins so.
static bool climbs(const char* path) {
  return (path[0] == '.' && path[1] == '.') || strstr(path, "/..") != nullptr;
}

static bool may_name_descriptor(const char* path) {
  return starts_with(path, "/dev/fd/") || starts_with(path, "/dev/std") ||
         (starts_with(path, "/proc/") && strstr(path + 6, "/fd/") != nullptr);
}

// Returns true if `path` may be covered. `cover` is the cover's path, from the directory where
// `path` starts.
static bool may_reach(const char* path, const char* cover) {
  size_t same = 0;
  while (cover[same] != '\0' && path[same] == cover[same]) ++same;
  // The path is an ancestor's, or covered, or differs after "/" or at a ".".
  return path[same] == '\0' || path[same] == '/' || path[same] == '.';
}

// Asks the same from a working directory that lies above a cover.
static bool may_reach_from_cwd(const char* path) {
  const char* from = cwd::path();
  if (from == nullptr) return true;
  size_t length = strlen(from);
  if (length == 1) length = 0;  // "/"
  for (int i = 0; i < spelling_count; ++i) {
    const char* spelled = spellings[i].path;
    bool below = strncmp(spelled, from, length) == 0 && spelled[length] == '/';
    if (below && may_reach(path, spelled + length + 1)) return true;
  }
  return false;
}

bool maybe_covered(int dir, const char* path) {
  if (!user_memory::is_text(path)) return false;  // the system's call returns EFAULT
  if (path[0] != '/') {
    if (dir == AT_FDCWD) {
      cwd::Where where = cwd::where();
      if (where == cwd::Where::kCovered) return true;
      if (where == cwd::Where::kAncestor && may_reach_from_cwd(path)) return true;
    } else if (table::peek(dir) != nullptr) {
      return true;
    }
    return climbs(path);
  }
  for (int i = 0; i < spelling_count; ++i) {
    if (may_reach(path, spellings[i].path)) return true;
  }
  if (table::covered_fds.load(std::memory_order_relaxed) > 0 && may_name_descriptor(path))
    return true;
  return self_exe::is_named(path) || climbs(path);
}

static Cover* cover_at(const char* folded, size_t length) {
  for (int i = 0; i < spelling_count; ++i) {
    if (spellings[i].length == length && memcmp(spellings[i].path, folded, length) == 0)
      return spellings[i].cover;
  }
  return nullptr;
}

// Folds components of `rest` onto the absolute path in `folded` until a cover is reached. Returns
// the cover, and in `*left` the rest of the path. Returns null if there is none; `folded` is the
// whole path then.
static Cover* fold(char* folded, size_t capacity, const char* rest, const char** left) {
  size_t length = strlen(folded);
  while (length > 1 && folded[length - 1] == '/') folded[--length] = '\0';
  for (;;) {
    while (*rest == '/') ++rest;
    size_t name = strcspn(rest, "/");
    if (name == 0) return nullptr;
    if (name == 2 && rest[0] == '.' && rest[1] == '.') {
      while (length > 1 && folded[length - 1] != '/') --length;
      if (length > 1) --length;
    } else if (name != 1 || rest[0] != '.') {
      if (length + name + 2 > capacity) return nullptr;  // too long for the kernel, too
      if (length > 1) folded[length++] = '/';
      memcpy(folded + length, rest, name);
      length += name;
    }
    folded[length] = '\0';
    rest += name;
    if (Cover* cover = cover_at(folded, length)) {
      *left = rest;
      return cover;
    }
  }
}

// Returns N if the path is /proc/self/fd/N, or another name of it, and N is a Cairn file; else -1.
static int descriptor_named(const char* folded) {
  if (table::covered_fds.load(std::memory_order_relaxed) == 0 || !may_name_descriptor(folded))
    return -1;
  char own[64];
  snprintf(own, sizeof own, "/proc/%d/fd/", getpid());
  const char* number = nullptr;
  for (const char* prefix :
       {"/proc/self/fd/", "/dev/fd/", "/proc/thread-self/fd/", static_cast<const char*>(own)}) {
    if (starts_with(folded, prefix)) number = folded + strlen(prefix);
  }
  if (strcmp(folded, "/dev/stdin") == 0) number = "0";
  if (strcmp(folded, "/dev/stdout") == 0) number = "1";
  if (strcmp(folded, "/dev/stderr") == 0) number = "2";
  if (number == nullptr || *number < '0' || *number > '9') return -1;
  char* end;
  long fd = strtol(number, &end, 10);
  if (*end != '\0' || fd > INT_MAX) return -1;
  return table::is_covered(static_cast<int>(fd)) ? static_cast<int>(fd) : -1;
}

// Locates /proc/self/fd/N/..., if N is an open directory of ours.
static bool below_descriptor(const char* path, CoveredPath* spot) {
  if (table::covered_fds.load(std::memory_order_relaxed) == 0 || !may_name_descriptor(path))
    return false;
  const char* below = strstr(path, "/fd/");
  if (below == nullptr) return false;
  const char* number = below + 4;
  size_t digits = strspn(number, "0123456789");
  char named[64];
  auto length = static_cast<size_t>(number - path) + digits;
  if (number[digits] != '/' || length >= sizeof named) return false;
  memcpy(named, path, length);
  named[length] = '\0';
  table::Use use(descriptor_named(named));
  if (!use || use->kind != Kind::kDirectory) return false;
  spot->cover = use->cover;
  spot->dir = use->ino;
  spot->path = number + digits + strspn(number + digits, "/");
  return true;
}

// Writes the absolute path where relative paths start.
static int base_path(int dir, char* text, size_t capacity) {
  if (dir == AT_FDCWD) {
    const char* path = cwd::path();
    if (path == nullptr || strlen(path) >= capacity) return -ENOENT;
    memcpy(text, path, strlen(path) + 1);
    return 0;
  }
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
  ssize_t length = real::readlink(link, text, capacity - 1);
  if (length < 0 || text[0] != '/') return -ENOTDIR;  // the system's call returns the error
  text[length] = '\0';
  return 0;
}

int locate(int dir, const char* path, CoveredPath* spot) {
  int before = errno;
  spot->cover = nullptr;
  spot->dir = 0;
  spot->path = path;
  spot->descriptor = -1;
  char folded[2 * PATH_MAX];
  folded[0] = '/';
  folded[1] = '\0';
  if (path[0] != '/') {
    if (dir == AT_FDCWD && cwd::where() == cwd::Where::kCovered) {
      cwd::Current current = cwd::current();
      spot->cover = current.cover;
      spot->dir = current.ino;
      return 0;
    }
    table::Use use(dir);
    if (use) {
      if (use->kind != Kind::kDirectory) return path[0] == '\0' ? -ENOENT : -ENOTDIR;
      spot->cover = use->cover;
      spot->dir = use->ino;
      return 0;
    }
    if (base_path(dir, folded, sizeof folded) < 0) {
      errno = before;
      return 0;
    }
  }
  if (below_descriptor(path, spot)) return 0;
  const char* left = nullptr;
  spot->cover = fold(folded, sizeof folded, path, &left);
  if (spot->cover != nullptr) {
    while (*left == '/') ++left;
    spot->path = left;
  } else {
    spot->descriptor = descriptor_named(folded);
  }
  errno = before;
  return 0;
}

void note_directory(int fd, int dir, const char* path) {
  char folded[2 * PATH_MAX];
  folded[0] = '/';
  folded[1] = '\0';
  if (path[0] != '/' && base_path(dir, folded, sizeof folded) < 0) return;
  const char* left;
  if (fold(folded, sizeof folded, path, &left) != nullptr || !is_ancestor(folded)) return;
  Entry* entry = table::make(Kind::kAncestor, nullptr);
  if (entry == nullptr) return;
  table::enter(fd, entry);
  table::drop(entry);
}

}  // namespace posix
