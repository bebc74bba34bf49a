// Extended attributes. Users may set user.*. Root may set the others too, except ACLs, which the
// pool would not enforce.
#include <string.h>
#include <sys/xattr.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/user_memory.h"
#include "posix/credentials/caller.h"
#include "posix/credentials/permission.h"
#include "posix/fd/table.h"
#include "posix/names/calls.h"
#include "posix/path/lookup.h"
#include "posix/path/result.h"

namespace posix {

static bool starts_with(const char* text, const char* prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

// Returns the kernel's error for a name of this namespace on such a file, or 0.
static int allowed_in_namespace(const cairn_stat& st, const char* name, bool change) {
  if (starts_with(name, "user.")) {
    if (!S_ISREG(st.mode) && !S_ISDIR(st.mode)) return change ? -EPERM : -ENODATA;
    return permitted(st, change ? W_OK : R_OK);
  }
  if (starts_with(name, "security.")) return change && caller::effective_user() != 0 ? -EPERM : 0;
  if (starts_with(name, "trusted."))
    return caller::effective_user() == 0 ? 0 : (change ? -EPERM : -ENODATA);
  return -EOPNOTSUPP;
}

// Returns the kernel's error for this name on such a file, or 0.
static int allowed(const cairn_stat& st, const char* name, bool change) {
  if (!user_memory::is_text(name, XATTR_NAME_MAX + 1)) return -EFAULT;
  size_t length = strnlen(name, XATTR_NAME_MAX + 1);
  if (length == 0 || length > XATTR_NAME_MAX) return -ERANGE;
  int error = allowed_in_namespace(st, name, change);
  // A namespace alone is refused, because the directory below would refuse it when the cover is
  // drained.
  bool nameless = strchr(name, '.') == name + length - 1;
  return error == 0 && nameless ? -EINVAL : error;
}

static long set(const cairn_stat& st, const char* name, const void* value, size_t size, int flags) {
  if (size > XATTR_SIZE_MAX) return -E2BIG;
  int error = allowed(st, name, true);
  if (error < 0) return error;
  if (!user_memory::is_readable(value, size)) return -EFAULT;
  error = cairn_setxattr(pool, st.ino, st.generation, name, value, size, flags);
  // The log names the modes that exist, which the error number cannot.
  if (error == -EINVAL && strcmp(name, CAIRN_DRAIN_ATTRIBUTE) == 0)
    log(Level::kWarning, cairn_last_error());
  return error;
}

// Gives the program the text that `read` writes into `size` bytes. The attributes of a file fit one
// block.
template <typename Read>
static long give(void* to, size_t size, Read read) {  // NOLINT(google-runtime-int)
  char text[4096];
  const ssize_t length = read(text, size < sizeof text ? size : sizeof text);
  if (length < 0 || size == 0) return length;
  const int error = user_memory::write(to, text, static_cast<size_t>(length));
  return error < 0 ? error : length;
}

static long get(const cairn_stat& st, const char* name, void* value, size_t size) {
  int error = allowed(st, name, false);
  if (error < 0) return error;
  return give(value, size, [&](char* text, size_t room) {
    return cairn_getxattr(pool, st.ino, st.generation, name, text, room);
  });
}

static long list(const cairn_stat& st, char* names, size_t size) {
  return give(names, size, [&](char* text, size_t room) {
    return cairn_listxattr(pool, st.ino, st.generation, text, room);
  });
}

static long drop(const cairn_stat& st, const char* name) {
  int error = allowed(st, name, true);
  return error < 0 ? error : cairn_removexattr(pool, st.ino, st.generation, name);
}

// Calls `ours` on the file that a path names, or `system` on the path that it leads to.
template <typename Ours, typename System>
static long on_path(const char* path, bool follow, Ours ours, System system) {
  for (StaleRetry retry;;) {
    Found found;
    int error = find_existing(AT_FDCWD, path, follow ? 0 : CAIRN_NOFOLLOW, &found);
    if (error < 0) return fail(error);
    if (found.descriptor >= 0 && follow) {
      table::Use use(found.descriptor);
      if (use && use->shown != 0) return fail(-EOPNOTSUPP);
      cairn_stat st;
      error = use ? cairn_fstat(use->file, &st) : -ENOENT;
      return result(error < 0 ? error : ours(st));
    }
    if (found.outside()) return system(found.path);
    if (found.shared) return fail(-EOPNOTSUPP);
    long done = ours(found.st);
    if (!retry.again(&done)) return result(done);
  }
}

template <typename Ours>
static long on_descriptor(const table::Use& use, Ours ours) {
  if ((cairn_file_get_flags(use->file) & O_PATH) != 0) return fail(-EBADF);
  // The attributes would be those of the file that stands for it here.
  if (use->shown != 0) return fail(-EOPNOTSUPP);
  cairn_stat st;
  int error = cairn_fstat(use->file, &st);
  return result(error < 0 ? error : ours(st));
}

// Flags are looked at before the file.
static int misused(int flags) {
  return (flags & ~(XATTR_CREATE | XATTR_REPLACE)) != 0 ? -EINVAL : 0;
}

namespace serve {

#define BY_PATH(name, follow, result_type, parameters, arguments, check, call) \
  result_type name parameters {                                                \
    if (outside(path)) return real::name arguments;                            \
    if (check != 0) return static_cast<result_type>(fail(check));              \
    return static_cast<result_type>(on_path(                                   \
        path, follow, [&](const cairn_stat& st) { return call; },              \
        [&](const char* where) -> result_type {                                \
          path = where;                                                        \
          return real::name arguments;                                         \
        }));                                                                   \
  }
#define BY_DESCRIPTOR(name, result_type, parameters, arguments, check, call) \
  result_type name parameters {                                              \
    table::Use use(fd);                                                      \
    if (!use) return real::name arguments;                                   \
    if (check != 0) return static_cast<result_type>(fail(check));            \
    return static_cast<result_type>(                                         \
        on_descriptor(use, [&](const cairn_stat& st) { return call; }));     \
  }

BY_PATH(setxattr, true, int,
        (const char* path, const char* name, const void* value, size_t size, int flags),
        (path, name, value, size, flags), misused(flags), set(st, name, value, size, flags))
BY_PATH(lsetxattr, false, int,
        (const char* path, const char* name, const void* value, size_t size, int flags),
        (path, name, value, size, flags), misused(flags), set(st, name, value, size, flags))
BY_DESCRIPTOR(fsetxattr, int, (int fd, const char* name, const void* value, size_t size, int flags),
              (fd, name, value, size, flags), misused(flags), set(st, name, value, size, flags))

BY_PATH(getxattr, true, ssize_t, (const char* path, const char* name, void* value, size_t size),
        (path, name, value, size), 0, get(st, name, value, size))
BY_PATH(lgetxattr, false, ssize_t, (const char* path, const char* name, void* value, size_t size),
        (path, name, value, size), 0, get(st, name, value, size))
BY_DESCRIPTOR(fgetxattr, ssize_t, (int fd, const char* name, void* value, size_t size),
              (fd, name, value, size), 0, get(st, name, value, size))

BY_PATH(listxattr, true, ssize_t, (const char* path, char* names, size_t size), (path, names, size),
        0, list(st, names, size))
BY_PATH(llistxattr, false, ssize_t, (const char* path, char* names, size_t size),
        (path, names, size), 0, list(st, names, size))
BY_DESCRIPTOR(flistxattr, ssize_t, (int fd, char* names, size_t size), (fd, names, size), 0,
              list(st, names, size))

BY_PATH(removexattr, true, int, (const char* path, const char* name), (path, name), 0,
        drop(st, name))
BY_PATH(lremovexattr, false, int, (const char* path, const char* name), (path, name), 0,
        drop(st, name))
BY_DESCRIPTOR(fremovexattr, int, (int fd, const char* name), (fd, name), 0, drop(st, name))

}  // namespace serve
}  // namespace posix
