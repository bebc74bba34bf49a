#include "posix/job/job_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/job/job_ref.h"
#include "posix/path/covered.h"
#include "posix/path/lookup.h"

namespace posix::job_path {

Cover* cover() {
  active();  // reads the environment, if nobody has yet
  return &posix::covers[0];
}

const char* directory() { return cover()->path; }

static int join_names(const char* parent, const char* name, char* relative) {
  while (*parent == '/') ++parent;
  const char* between = *parent == '\0' ? "" : "/";
  const int length = snprintf(relative, PATH_MAX, "%s%s%s", parent, between, name);
  return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

// The directory that it lies in came to be in the covered directory after the pool had its names
// from there.
static int of_below(const Spot& spot, Place* place) {
  const Cover* own = cover();
  if (spot.cover != own || spot.dir != 0) return -ENOENT;
  char parent[2 * PATH_MAX];
  if (snprintf(parent, sizeof parent, "%s/%s", own->path, spot.path) >=
      static_cast<int>(sizeof parent))
    return -ENAMETOOLONG;
  char* slash = strrchr(parent, '/');
  const char* name = slash + 1;
  *slash = '\0';
  if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return -ENOENT;
  char found[PATH_MAX];
  if (real::realpath(parent, found) == nullptr) return -errno;
  if (strncmp(found, own->path, own->length) != 0 || found[own->length] != '/') return -ENOENT;
  place->exists = false;
  return join_names(found + own->length, name, place->relative);
}

int relative_of(const Found& found, char* relative) {
  char parent[PATH_MAX] = "";
  if (found.parent != found.cover->top) {
    const int length = cairn_path_of(pool, found.cover->top, found.parent, parent, sizeof parent);
    if (length < 0) return length;
  }
  return join_names(parent, found.name, relative);
}

int of(const char* path, Place* place) {
  const job_files::Hidden hidden;
  Found found;
  const int error = find(AT_FDCWD, path, 0, &found);
  if (error == -ENOENT && !found.outside()) return of_below(found.spot, place);
  if (error < 0) return error;
  if (found.outside() || found.cover != cover()) return -EXDEV;
  if (found.exists && strcmp(found.name, ".") == 0) return -EISDIR;
  place->exists = found.exists;
  place->st = found.st;
  return relative_of(found, place->relative);
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

bool is_missing_below(const char* relative) {
  char path[2 * PATH_MAX];
  struct stat st;
  return path_below(relative, path, sizeof path) == 0 && real::lstat(path, &st) != 0 &&
         (errno == ENOENT || errno == ENOTDIR);
}

}  // namespace posix::job_path
