#include "posix/path/lookup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "posix/core/engine.h"
#include "posix/core/self_exe.h"
#include "posix/credentials/permission.h"

namespace posix {

constexpr int kMostLinks = 40;

constinit std::atomic<const JobNames*> names_of_job{nullptr};

// Continues a walk that met an absolute link, or left the cover by "..", at `rest`.
static int go_on(Found* found, const char* rest, bool slash) {
  char composed[2 * PATH_MAX];
  const Cover* cover = found->spot.cover;
  size_t length = 0;
  if (rest[0] != '/') {
    // "../..." leads out of the cover's top, so the walk continues in the directory above it.
    if (strncmp(rest, "..", 2) == 0) rest += 2;
    length = cover->length;
    memcpy(composed, cover->path, length);
    while (length > 1 && composed[length - 1] != '/') --length;
  }
  size_t left = strlen(rest);
  if (length + left + 2 > sizeof composed) return -ENAMETOOLONG;
  memcpy(composed + length, rest, left);
  length += left;
  if (slash && length > 0 && composed[length - 1] != '/') composed[length++] = '/';
  composed[length] = '\0';
  int error = locate(AT_FDCWD, composed, &found->spot);
  if (error < 0) return error;
  // The located path points into `composed`.
  const char* kept = found->spot.path;
  size_t size = strlen(kept) + 1;
  memcpy(found->spot.text, kept, size);
  found->spot.path = found->spot.text;
  return 0;
}

// Continues such a walk at its own start, which is the root for it.
static int start_anew(Found* found, const char* rest, bool slash) {
  if (rest[0] != '/' && strncmp(rest, "..", 2) == 0) rest += 2;
  rest += strspn(rest, "/");
  int length = snprintf(found->spot.text, sizeof found->spot.text, "%s%s",
                        rest[0] == '\0' ? "." : rest, slash ? "/" : "");
  if (length >= static_cast<int>(sizeof found->spot.text)) return -ENAMETOOLONG;
  found->spot.path = found->spot.text;
  return 0;
}

// The cover has ended: leads to the same file by its name in the system.
static int lead_outside(Found* found) {
  char composed[2 * PATH_MAX];
  int length =
      snprintf(composed, sizeof composed, "%s/%s", found->spot.cover->path, found->spot.path);
  if (length >= static_cast<int>(sizeof composed)) return -ENAMETOOLONG;
  memcpy(found->spot.text, composed, static_cast<size_t>(length) + 1);
  found->cover = found->spot.cover = nullptr;
  found->path = found->spot.path = found->spot.text;
  found->dir = AT_FDCWD;
  return 0;
}

// Walks all components but the last, none of which may be a link. `*start` and `*path` become the
// last one's. ".." at the top stays there if `in_root`. Else returns -EXDEV, and `outside` is the
// rest of the path.
static int pass_directories(cairn_ino top, cairn_search search, bool in_root, cairn_ino* start,
                            char** path, char* outside, size_t capacity) {
  while (char* slash = strchr(*path, '/')) {
    *slash = '\0';
    const char* name = *path;
    *path = slash + 1;
    if (name[0] == '\0') continue;
    cairn_stat st;
    cairn_ino parent, at;
    char rest[2 * PATH_MAX];
    int error = cairn_walk(pool, top, *start, name, CAIRN_NOFOLLOW, search, &st, &parent, &at, rest,
                           sizeof rest);
    if (error == -EXDEV && in_root) continue;
    if (error == -EXDEV) snprintf(outside, capacity, "../%s", *path);
    if (error < 0) return error;
    if (!S_ISDIR(st.mode)) return S_ISLNK(st.mode) ? -ELOOP : -ENOTDIR;
    *start = st.ino;
  }
  return 0;
}

static int walk(Found* found, unsigned flags, char* rest, size_t capacity) {
  const CoveredPath& spot = found->spot;
  char path[2 * PATH_MAX];
  size_t length = strlen(spot.path);
  if (length >= PATH_MAX) return -ENAMETOOLONG;
  memcpy(path, spot.path, length + 1);
  found->slash = found->shared = found->in_pool = false;
  while (length > 0 && path[length - 1] == '/') {
    path[--length] = '\0';
    found->slash = true;
  }
  bool own = (flags & kOwnName) == kOwnName;
  cairn_search search = search_as_caller((flags & kRealUser) != 0);
  const bool in_root = (flags & kInRoot) != 0;
  const bool no_links = (flags & kNoLinks) != 0;
  const bool may_be_link = (flags & CAIRN_NOFOLLOW) != 0 && (!found->slash || own);
  cairn_ino start = spot.dir != 0 ? spot.dir : spot.cover->top;
  const cairn_ino top = (flags & (kBeneath | kInRoot)) != 0 ? start : spot.cover->top;
  flags = may_be_link || no_links ? CAIRN_NOFOLLOW : 0;
  if (length == 0) {
    int error = cairn_stat_ino(pool, start, &found->st);
    if (error < 0) return error;
    found->exists = true;
    found->parent = start;
    memcpy(found->name, ".", 2);
    return 0;
  }
  cairn_ino at = 0;
  found->parent = 0;
  char* last = path;
  int error = no_links ? pass_directories(top, search, in_root, &start, &last, rest, capacity) : 0;
  if (error == 0)
    error = cairn_walk(pool, top, start, last, flags, search, &found->st, &found->parent, &at, rest,
                       capacity);
  if (error == 0 && no_links && !may_be_link && S_ISLNK(found->st.mode)) error = -ELOOP;
  if (error == -EXDEV) return error;
  found->exists = error == 0;
  if (error == -ENOENT && found->parent != 0) error = 0;
  if (error < 0) return error;
  size_t name = strlen(rest);
  // The text of a link ended in "/".
  if (name > 1 && rest[name - 1] == '/') {
    rest[--name] = '\0';
    found->slash = true;
  }
  if (name > NAME_MAX) return -ENAMETOOLONG;
  memcpy(found->name, rest, name + 1);
  if (found->exists && found->slash && !own && !S_ISDIR(found->st.mode)) return -ENOTDIR;
  return 0;
}

int find_self_exe() {
  Found found;
  int error = find_existing(AT_FDCWD, self_exe::own.path, CAIRN_NOFOLLOW, &found);
  if (error < 0) return error;
  const bool same = !found.outside() && !found.shared && found.st.ino == self_exe::own.ino &&
                    found.st.generation == self_exe::own.generation;
  return same ? 0 : -ENOENT;
}

// Locates the running program's file for a name of /proc/self/exe. Returns false if the file has
// lost its path: then the name leads to the copy.
static bool follow_self_exe(CoveredPath* spot) {
  if (!self_exe::is_named(spot->path) || find_self_exe() < 0) return false;
  // The rest to walk points into own.path, which stays.
  return locate(AT_FDCWD, self_exe::own.path, spot) == 0 && spot->cover != nullptr;
}

int find(int dir, const char* path, unsigned flags, Found* found) {
  // The kernel checks the length of a path before all else.
  if (strnlen(path, PATH_MAX) == PATH_MAX) return -ENAMETOOLONG;
  int error = locate(dir, path, &found->spot);
  if (error < 0) return error;
  // An absolute path does not need `dir`.
  found->dir = dir;
  constexpr int kMostAttempts = 100;
  int attempts = 0;
  for (int links = 0; links <= kMostLinks; ++links) {
    CoveredPath& spot = found->spot;
    found->cover = spot.cover;
    found->path = spot.path;
    found->descriptor = spot.descriptor;
    if (spot.cover == nullptr) {
      if ((flags & CAIRN_NOFOLLOW) != 0 || !follow_self_exe(&spot)) return 0;
      found->dir = AT_FDCWD;
      continue;
    }
    if (path[0] == '\0') return -ENOENT;
    error = join(spot.cover);
    if (error == kEnded) return lead_outside(found);
    if (error < 0) return error;
    char rest[2 * PATH_MAX];
    rest[0] = '\0';
    error = walk(found, flags, rest, sizeof rest);
    const JobNames* names = names_of_job.load(std::memory_order_acquire);
    if (error == 0 && __builtin_expect(names != nullptr, 0)) {
      error = names->look(found);
      if (error == 0 && names->came_here(*found) && ++attempts < kMostAttempts) {
        --links;
        continue;
      }
      const bool own = (flags & kOwnName) == kOwnName;
      if (error == 0 && found->shared && found->slash && !own) error = -ENOTDIR;
    }
    if (error != -EXDEV || (flags & kBeneath) != 0) return error;
    error = (flags & kInRoot) != 0 ? start_anew(found, rest, found->slash)
                                   : go_on(found, rest, found->slash);
    if (error < 0) return error;
    found->dir = AT_FDCWD;
  }
  return -ELOOP;
}

int find_existing(int dir, const char* path, unsigned flags, Found* found) {
  int error = find(dir, path, flags, found);
  if (error < 0 || found->outside() || found->exists) return error;
  return -ENOENT;
}

}  // namespace posix
