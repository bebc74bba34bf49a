#include "posix/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "posix/calls.h"
#include "posix/covered.h"
#include "posix/find.h"
#include "posix/pool.h"

namespace posix::place {

static const Cover* the_cover() {
  active();  // reads the environment, if nobody has yet
  return &posix::covers[0];
}

const char* directory() { return the_cover()->path; }

static int join_names(const char* parent, const char* name, Place* place) {
  while (*parent == '/') ++parent;
  const char* between = *parent == '\0' ? "" : "/";
  const int length =
      snprintf(place->relative, sizeof place->relative, "%s%s%s", parent, between, name);
  return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

// The directory that it lies in came to be in the covered directory after the pool had its names from there.
static int of_below(const Spot& spot, Place* place) {
  const Cover* cover = the_cover();
  if (spot.cover != cover || spot.dir != 0) return -ENOENT;
  char parent[2 * PATH_MAX];
  if (snprintf(parent, sizeof parent, "%s/%s", cover->path, spot.path) >=
      static_cast<int>(sizeof parent))
    return -ENAMETOOLONG;
  char* slash = strrchr(parent, '/');
  const char* name = slash + 1;
  *slash = '\0';
  if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return -ENOENT;
  char found[PATH_MAX];
  if (real::realpath(parent, found) == nullptr) return -errno;
  if (strncmp(found, cover->path, cover->length) != 0 || found[cover->length] != '/')
    return -ENOENT;
  place->exists = false;
  return join_names(found + cover->length, name, place);
}

int of(const char* path, Place* place) {
  Found found;
  const int error = find(AT_FDCWD, path, 0, &found);
  if (error == -ENOENT && !found.outside()) return of_below(found.spot, place);
  if (error < 0) return error;
  if (found.outside() || found.cover != the_cover()) return -EXDEV;
  if (found.exists && strcmp(found.name, ".") == 0) return -EISDIR;
  char parent[PATH_MAX] = "";
  if (found.parent != found.cover->top) {
    const int length = cairn_path_of(pool, found.cover->top, found.parent, parent, sizeof parent);
    if (length < 0) return length;
  }
  place->exists = found.exists;
  place->st = found.st;
  return join_names(parent, found.name, place);
}

static int path_below(const char* relative, char* path, size_t capacity) {
  const int length = snprintf(path, capacity, "%s/%s", directory(), relative);
  return length < 0 || static_cast<size_t>(length) >= capacity ? -ENAMETOOLONG : 0;
}

bool is_below(const char* relative) {
  char path[2 * PATH_MAX];
  struct stat st;
  return path_below(relative, path, sizeof path) == 0 && real::lstat(path, &st) == 0;
}

int remove_below(const char* relative) {
  char path[2 * PATH_MAX];
  if (const int error = path_below(relative, path, sizeof path); error < 0) return error;
  return real::unlink(path) == 0 || errno == ENOENT ? 0 : -errno;
}

}  // namespace posix::place
