#include "posix/job/job_names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "posix/core/engine.h"
#include "posix/job/job_files.h"
#include "posix/job/job_path.h"
#include "posix/job/job_ref.h"

namespace posix::job_names {
namespace {

// call(job, relative path), or here() where there is no job to ask. -ESTALE: another node has taken
// what was found.
template <typename Call, typename Here>
int with_job(const Found& found, Call call, Here here) {
  if (!job_files::active() || found.cover != job_path::cover()) return here();
  job_files::Asking asking;
  if (!asking) return here();
  char path[PATH_MAX];
  const int error = job_path::relative_of(found, path);
  if (error < 0) return error;
  const int result = call(asking.get(), static_cast<const char*>(path));
  if (result == -EIO || result == -ENOSPC || result == -EBUSY)
    log(Level::kWarning, cairn_last_error());
  return result == -ENOENT && found.exists && !job_files::is_here(found) ? -ESTALE : result;
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

// Where a directory lies, or what was found; false: nobody can say.
static bool path_of(const cairn_stat& st, const Found* found, char* path) {
  const Cover* cover = job_path::cover();
  if (!S_ISDIR(st.mode))
    return found != nullptr && found->cover == cover && job_path::relative_of(*found, path) == 0;
  char absolute[PATH_MAX];
  if (st.ino == cover->top ||
      cairn_path_of(pool, cover->top, st.ino, absolute, sizeof absolute) < 0)
    return false;
  snprintf(path, PATH_MAX, "%s", absolute + strspn(absolute, "/"));
  return true;
}

static int set_here(const cairn_stat& st, const Attributes& to) {
  constexpr uint32_t kSame = UINT32_MAX;
  const bool times = to.atime != CAIRN_TIME_OMIT || to.mtime != CAIRN_TIME_OMIT;
  int error = 0;
  // A chown(2) that leaves both as they are is a change, too.
  if (to.uid != kSame || to.gid != kSame || (to.mode == kSame && !times))
    error = cairn_chown(pool, st.ino, st.generation, to.uid, to.gid);
  if (error == 0 && to.mode != kSame) error = cairn_chmod(pool, st.ino, st.generation, to.mode);
  if (error == 0 && times) error = cairn_utimens(pool, st.ino, st.generation, to.atime, to.mtime);
  return error;
}

int set(const cairn_stat& st, const Found* found, const Attributes& to) {
  char path[PATH_MAX];
  if (S_ISREG(st.mode) || !job_files::active()) return set_here(st, to);
  job_files::Asking asking;
  if (!asking) return set_here(st, to);
  // What has several names is one inode here only.
  if ((S_ISDIR(st.mode) || st.nlink == 1) && path_of(st, found, path))
    return cairn_shared_set_everywhere(asking.get(), path, to.mode, to.uid, to.gid, to.atime,
                                       to.mtime);
  if (S_ISDIR(st.mode)) return set_here(st, to);
  const int error = cairn_shared_set_inode_everywhere(asking.get(), st.ino, st.generation, to.mode,
                                                      to.uid, to.gid, to.atime, to.mtime);
  return error == -ENOENT ? set_here(st, to) : error;
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
    return is_own || !job_files::active() ? here() : -EINVAL;
  }
  return with_job(
      from,
      [&](cairn_job* job, const char* path) {
        char new_path[PATH_MAX];
        const int error = job_path::relative_of(to, new_path);
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

}  // namespace posix::job_names
