#include "posix/everywhere.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "posix/asking.h"
#include "posix/log.h"
#include "posix/place.h"
#include "posix/pool.h"
#include "posix/shared_names.h"

namespace posix::everywhere {
namespace {

// call(job, relative path), or here() where there is no job to ask. -ESTALE: another node has taken what was found.
template <typename Call, typename Here>
int with_job(const Found& found, Call call, Here here) {
  if (!shared_names::active() || found.cover != place::cover()) return here();
  shared_names::Asking asking;
  if (!asking) return here();
  char path[PATH_MAX];
  const int error = place::relative_of(found, path);
  if (error < 0) return error;
  const int result = call(asking.get(), static_cast<const char*>(path));
  if (result == -EIO || result == -ENOSPC || result == -EBUSY)
    log(Level::kWarning, cairn_last_error());
  return result == -ENOENT && found.exists && !shared_names::is_here(found) ? -ESTALE : result;
}

}  // namespace

int mkdir(const Found& found, mode_t mode) {
  return with_job(
      found, [&](cairn_job* job, const char* path) { return cairn_shared_mkdir(job, path, mode); },
      [&] { return cairn_mkdir(pool, found.parent, found.name, mode); });
}

int symlink(const char* target, const Found& found) {
  return with_job(
      found,
      [&](cairn_job* job, const char* path) { return cairn_shared_symlink(job, target, path); },
      [&] { return cairn_symlink(pool, target, found.parent, found.name); });
}

int rmdir(const Found& found) {
  return with_job(
      found, [](cairn_job* job, const char* path) { return cairn_shared_rmdir(job, path); },
      [&] { return cairn_rmdir(pool, found.parent, found.name); });
}

int chmod(const cairn_stat& st, mode_t mode) {
  const auto here = [&] { return cairn_chmod(pool, st.ino, st.generation, mode); };
  if (!shared_names::active()) return here();
  shared_names::Asking asking;
  char path[PATH_MAX];
  const cairn_ino top = place::cover()->top;
  if (!asking || st.ino == top || cairn_path_of(pool, top, st.ino, path, sizeof path) < 0)
    return here();
  return cairn_shared_chmod(asking.get(), path + strspn(path, "/"), mode);
}

int unlink(const Found& found) {
  return with_job(
      found, [](cairn_job* job, const char* path) { return cairn_shared_unlink(job, path); },
      [&] { return cairn_unlink(pool, found.parent, found.name); });
}

int rename(const Found& from, const Found& to, unsigned flags) {
  const auto here = [&] {
    return cairn_rename(pool, from.parent, from.name, to.parent, to.name, flags);
  };
  if ((flags & RENAME_EXCHANGE) != 0) {
    const bool is_own = S_ISREG(from.st.mode) && S_ISREG(to.st.mode);
    return is_own || !shared_names::active() ? here() : -EINVAL;
  }
  return with_job(
      from,
      [&](cairn_job* job, const char* path) {
        char new_path[PATH_MAX];
        const int error = place::relative_of(to, new_path);
        return error < 0 ? error : cairn_shared_rename_name(job, path, new_path, flags);
      },
      here);
}

int mknod(const Found& found, mode_t mode) {
  return with_job(
      found,
      [&](cairn_job* job, const char* path) { return cairn_shared_mknod(job, path, mode, 1); },
      [&] { return cairn_mknod(pool, found.parent, found.name, mode); });
}

int link(const cairn_stat& st, const Found& found) {
  return with_job(
      found,
      [&](cairn_job* job, const char* path) {
        return cairn_shared_link(job, st.ino, st.generation, path);
      },
      [&] { return cairn_link_ino(pool, st.ino, found.parent, found.name); });
}

int create(const Found& found, int flags, mode_t mode, cairn_file** file) {
  const int error = with_job(
      found,
      [&](cairn_job* job, const char* path) {
        return cairn_shared_create(job, path, flags, mode, file);
      },
      [&] { return cairn_open(pool, found.parent, found.name, flags, mode, file); });
  return error == -EEXIST && (flags & O_EXCL) == 0 ? -ESTALE : error;
}

int claim(const Found& found) {
  return with_job(
      found, [](cairn_job* job, const char* path) { return cairn_shared_claim(job, path); },
      [] { return 0; });
}

}  // namespace posix::everywhere
