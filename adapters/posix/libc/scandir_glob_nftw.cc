// scandir, glob and nftw: the C library's own read directories by internal functions; these use
// ours.
#include <stdlib.h>
#include <string.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/io/calls.h"
#include "posix/libc/calls.h"
#include "posix/names/calls.h"
#include "posix/path/covered.h"
#include "posix/path/result.h"

namespace posix {

using Order = int (*)(const void*, const void*);

static int read_all(DIR* stream, struct dirent*** list, DirentFilter filter) {
  struct dirent** found = nullptr;
  size_t count = 0, room = 0;
  errno = 0;
  for (struct dirent* entry; (entry = serve::readdir(stream)) != nullptr; errno = 0) {
    if (filter != nullptr && filter(entry) == 0) continue;
    if (count == room) {
      room = room == 0 ? 32 : room * 2;
      auto** more = static_cast<struct dirent**>(realloc(found, room * sizeof(struct dirent*)));
      if (more == nullptr) break;
      found = more;
    }
    auto* copy = static_cast<struct dirent*>(malloc(sizeof(struct dirent)));
    if (copy == nullptr) break;
    memcpy(copy, entry, offsetof(struct dirent, d_name));
    memcpy(copy->d_name, entry->d_name, strlen(entry->d_name) + 1);
    found[count++] = copy;
  }
  if (errno != 0) {
    while (count > 0) free(found[--count]);
    free(found);
    return -1;
  }
  *list = found;
  return static_cast<int>(count);
}

namespace serve {

int scandirat(int dir, const char* path, struct dirent*** list, DirentFilter filter,
              DirentOrder order) {
  if (outside(dir, path)) return real::scandirat(dir, path, list, filter, order);
  int before = errno;
  int fd = serve::openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  DIR* stream = fd < 0 ? nullptr : serve::fdopendir(fd);
  if (stream == nullptr) {
    if (fd >= 0) serve::close(fd);
    return -1;
  }
  int count = read_all(stream, list, filter);
  int error = errno;
  serve::closedir(stream);
  if (count > 1 && order != nullptr)
    qsort(*list, static_cast<size_t>(count), sizeof(struct dirent*),
          reinterpret_cast<Order>(order));
  errno = count < 0 ? error : before;
  return count;
}

static void* glob_opendir(const char* path) { return serve::opendir(path); }
static struct dirent* glob_readdir(void* stream) {
  return serve::readdir(static_cast<DIR*>(stream));
}
static void glob_closedir(void* stream) { serve::closedir(static_cast<DIR*>(stream)); }

// The directories that a pattern visits are known only after it is expanded, so every pattern uses
// our functions.
int glob(const char* pattern, int flags, GlobError error, glob_t* found) {
  if (!active() || (flags & GLOB_ALTDIRFUNC) != 0) return real::glob(pattern, flags, error, found);
  found->gl_opendir = glob_opendir;
  found->gl_readdir = glob_readdir;
  found->gl_closedir = glob_closedir;
  found->gl_stat = serve::stat;
  found->gl_lstat = serve::lstat;
  int done = real::glob(pattern, flags | GLOB_ALTDIRFUNC, error, found);
  found->gl_flags &= ~GLOB_ALTDIRFUNC;
  return done;
}

}  // namespace serve

namespace {

// One walk of nftw.
struct Walk {
  TreeVisit visit;
  OldTreeVisit old_visit;  // ftw's: follows links, has no FTW
  int flags;
  dev_t device;
  char* path;
  size_t room;
  int from = AT_FDCWD;  // FTW_CHDIR: relative paths still start here
  struct Above {
    dev_t device;
    ino_t inode;
    const Above* above;
  };

  int call(const struct stat& st, int type, size_t base, int level) {
    // The visitor finds itself in the directory that holds the file; after all of a directory has
    // been visited, in that directory, as with glibc.
    if ((flags & FTW_CHDIR) != 0 && !enter(type == FTW_DP ? strlen(path) : base)) return -1;
    if (visit == nullptr) return old_visit(path, &st, type == FTW_SLN ? FTW_NS : type);
    struct FTW where = {static_cast<int>(base), level};
    return visit(path, &st, type, &where);
  }

  bool enter(size_t length);  // changes to the directory that the first `length` bytes of path name
  int step(size_t length, size_t base, int level, const Above* above);
  int children(size_t length, int level, const Above* above);
  bool append(size_t length, const char* name, size_t* total);
};

bool Walk::append(size_t length, const char* name, size_t* total) {
  size_t size = strlen(name);
  *total = length + (path[length - 1] == '/' ? 0 : 1) + size;
  if (*total + 1 > room) {
    size_t more = (*total + 1) * 2;
    char* grown = static_cast<char*>(realloc(path, more));
    if (grown == nullptr) return false;
    path = grown;
    room = more;
  }
  if (path[length - 1] != '/') path[length++] = '/';
  memcpy(path + length, name, size + 1);
  return true;
}

int Walk::children(size_t length, int level, const Above* above) {
  struct dirent** list = nullptr;
  int count = serve::scandirat(from, path, &list, nullptr, nullptr);
  if (count < 0) return -1;
  int answer = 0;
  for (int i = 0; i < count; ++i) {
    const char* name = list[i]->d_name;
    bool dot = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    size_t total;
    if (answer == 0 && !dot) {
      answer = append(length, name, &total) ? step(total, total - strlen(name), level, above) : -1;
      path[length] = '\0';
    }
    free(list[i]);
  }
  free(list);
  return answer;
}

int Walk::step(size_t length, size_t base, int level, const Above* above) {
  struct stat st = {};
  bool physical = (flags & FTW_PHYS) != 0;
  int type = FTW_F;
  if (serve::fstatat(from, path, &st, physical ? AT_SYMLINK_NOFOLLOW : 0) != 0) {
    if (errno != EACCES && errno != ENOENT && errno != ELOOP) return -1;
    bool dangling = !physical && serve::fstatat(from, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                    S_ISLNK(st.st_mode);
    if (!dangling && level == 0) return -1;
    type = dangling ? FTW_SLN : FTW_NS;
  } else if (S_ISDIR(st.st_mode)) {
    type = FTW_D;
  } else if (S_ISLNK(st.st_mode)) {
    type = FTW_SL;
  }
  if (level == 0) device = st.st_dev;
  if ((flags & FTW_MOUNT) != 0 && type != FTW_NS && st.st_dev != device) return 0;
  if (type != FTW_D) return call(st, type, base, level);

  for (const Above* up = above; up != nullptr; up = up->above) {
    if (up->device == st.st_dev && up->inode == st.st_ino)
      return 0;  // a link back to a directory above
  }
  bool depth = (flags & FTW_DEPTH) != 0;
  if (serve::faccessat(from, path, R_OK, 0) != 0) return call(st, FTW_DNR, base, level);
  int answer = depth ? 0 : call(st, FTW_D, base, level);
  if ((flags & FTW_ACTIONRETVAL) != 0 && answer == FTW_SKIP_SUBTREE) return 0;
  Above here = {st.st_dev, st.st_ino, above};
  if (answer == 0) answer = children(length, level + 1, &here);
  if ((flags & FTW_ACTIONRETVAL) != 0 && answer == FTW_SKIP_SIBLINGS) answer = 0;
  if (answer == 0 && depth) answer = call(st, FTW_DP, base, level);
  return answer;
}

bool Walk::enter(size_t length) {
  char directory[PATH_MAX];
  if (length >= sizeof directory) return false;
  memcpy(directory, path, length);
  directory[length] = '\0';
  int fd =
      serve::openat(from, length == 0 ? "." : directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (fd < 0) return false;
  bool entered = serve::fchdir(fd) == 0;
  serve::close(fd);
  return entered;
}

int walk_tree(const char* start, TreeVisit visit, OldTreeVisit old_visit, int flags) {
  Walk walk = {visit, old_visit, flags, 0, strdup(start), strlen(start) + 1};
  if (walk.path == nullptr) return -1;
  size_t length = strlen(start);
  while (length > 1 && walk.path[length - 1] == '/') walk.path[--length] = '\0';
  const char* slash = strrchr(walk.path, '/');
  size_t base =
      slash != nullptr && slash[1] != '\0' ? static_cast<size_t>(slash + 1 - walk.path) : 0;
  if ((flags & FTW_CHDIR) != 0) {
    walk.from = serve::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (walk.from < 0) {
      free(walk.path);
      return -1;
    }
  }
  int answer = length == 0 ? fail(-ENOENT) : walk.step(length, base, 0, nullptr);
  if (walk.from >= 0) {
    int error = errno;
    serve::fchdir(walk.from);
    serve::close(walk.from);
    errno = error;
  }
  free(walk.path);
  return answer;
}

}  // namespace

namespace serve {

int nftw(const char* path, TreeVisit visit, int descriptors, int flags) {
  if (outside(path)) return real::nftw(path, visit, descriptors, flags);
  return walk_tree(path, visit, nullptr, flags);
}

int ftw(const char* path, OldTreeVisit visit, int descriptors) {
  return outside(path) ? real::ftw(path, visit, descriptors) : walk_tree(path, nullptr, visit, 0);
}

}  // namespace serve
}  // namespace posix
