// chdir and getcwd, and realpath, which starts from the working directory.
#include <stdlib.h>
#include <string.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/user_memory.h"
#include "posix/credentials/permission.h"
#include "posix/fd/fd_path.h"
#include "posix/fd/table.h"
#include "posix/names/calls.h"
#include "posix/path/covered.h"
#include "posix/path/cwd.h"
#include "posix/path/lookup.h"
#include "posix/path/result.h"

namespace posix {

static int enter(Cover* cover, const cairn_stat& st) {
  if (!S_ISDIR(st.mode)) return -ENOTDIR;
  int error = permitted(st, X_OK);
  return error == 0 ? cwd::enter(cover, st.ino, st.generation) : error;
}

// Writes the absolute path of the file that a path inside the cover names.
static long resolve(const Found& found, char* path, size_t capacity) {
  if (S_ISDIR(found.st.mode)) return fd_path::path_of(found.cover, found.st.ino, path, capacity);
  long length = fd_path::path_of(found.cover, found.parent, path, capacity);
  if (length < 0) return length;
  size_t name = strlen(found.name);
  size_t total = static_cast<size_t>(length) + 1 + name;
  if (total + 1 > capacity) return -ENAMETOOLONG;
  path[length] = '/';
  memcpy(path + length + 1, found.name, name + 1);
  return static_cast<long>(total);
}

namespace serve {

int chdir(const char* path) {
  if (!outside(path)) {
    for (StaleRetry retry;;) {
      Found found;
      int error = find_existing(AT_FDCWD, path, 0, &found);
      if (error < 0) return fail(error);
      if (found.descriptor >= 0) return serve::fchdir(found.descriptor);
      if (found.outside()) {
        int moved = real::chdir(found.path);
        if (moved == 0) cwd::moved_outside();
        return moved;
      }
      error = enter(found.cover, found.st);
      if (!retry.again(&error)) return static_cast<int>(result(error));
    }
  }
  int moved = real::chdir(path);
  if (moved == 0) cwd::moved_outside();
  return moved;
}

int fchdir(int fd) {
  table::Use use(fd);
  if (!use) {
    int moved = real::fchdir(fd);
    if (moved == 0) cwd::moved_outside();
    return moved;
  }
  if (use->kind != Kind::kDirectory) return fail(-ENOTDIR);
  cairn_stat st;
  int error = cairn_fstat(use->file, &st);
  if (error == 0) error = enter(use->cover, st);
  return static_cast<int>(result(error == -ESTALE ? -ENOENT : error));
}

char* getcwd(char* buffer, size_t size) {
  if (!active() || cwd::where() != cwd::Where::kCovered) return real::getcwd(buffer, size);
  if (buffer != nullptr && size == 0) {
    errno = EINVAL;
    return nullptr;
  }
  char usual[2 * PATH_MAX];
  char* path = usual;
  size_t room = sizeof usual;
  cwd::Current current = cwd::current();
  long length = fd_path::path_of(current.cover, current.ino, path, room);
  // By going down step by step, a program can reach a directory whose path no call accepts.
  while (length == -ERANGE && (size == 0 || room < size)) {
    room *= 4;
    if (path != usual) free(path);
    path = static_cast<char*>(malloc(room));
    length = path == nullptr ? -ENOMEM : fd_path::path_of(current.cover, current.ino, path, room);
  }
  size_t needed = static_cast<size_t>(length) + 1;
  if (length >= 0 && size != 0 && needed > size) length = -ERANGE;
  if (length >= 0 && buffer == nullptr) {
    buffer = static_cast<char*>(malloc(size != 0 ? size : needed));
    if (buffer != nullptr) memcpy(buffer, path, needed);
  } else if (length >= 0) {
    if (const int error = user_memory::write(buffer, path, needed); error < 0) length = error;
  }
  if (path != usual) free(path);
  if (length >= 0) return buffer;
  fail(length);
  return nullptr;
}

char* getwd(char* buffer) {
  if (buffer == nullptr) {
    errno = EINVAL;
    return nullptr;
  }
  return serve::getcwd(buffer, PATH_MAX);
}

char* current_directory_name() {
  if (!active() || cwd::where() != cwd::Where::kCovered) return real::get_current_dir_name();
  // PWD is returned if it leads to the same directory, perhaps through links.
  const char* shown = getenv("PWD");
  struct stat here, there;
  if (shown != nullptr && serve::stat(".", &here) == 0 && serve::stat(shown, &there) == 0 &&
      here.st_dev == there.st_dev && here.st_ino == there.st_ino)
    return strdup(shown);
  return serve::getcwd(nullptr, 0);
}

char* realpath(const char* path, char* resolved) {
  if (path == nullptr || outside(path)) return real::realpath(path, resolved);
  Found found;
  int error = find_existing(AT_FDCWD, path, 0, &found);
  if (error < 0) {
    fail(error);
    return nullptr;
  }
  table::Use use(found.descriptor);
  // A relative path from a covered directory has become absolute by leaving it.
  if (found.outside() && !use) return real::realpath(found.path, resolved);
  char text[2 * PATH_MAX];
  long length =
      use ? fd_path::path_of(use.get(), text, sizeof text) : resolve(found, text, sizeof text);
  if (length >= PATH_MAX) length = -ENAMETOOLONG;
  if (length < 0) {
    fail(length);
    return nullptr;
  }
  if (resolved == nullptr) return strdup(text);
  memcpy(resolved, text, static_cast<size_t>(length) + 1);
  return resolved;
}

}  // namespace serve
}  // namespace posix
