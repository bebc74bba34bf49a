#include "posix/credentials/permission.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/credentials/caller.h"

namespace posix {

static bool in_group(gid_t group, gid_t own) {
  if (group == own) return true;
  gid_t groups[256];
  int count = getgroups(256, groups);
  for (int i = 0; i < count; ++i) {
    if (groups[i] == group) return true;
  }
  return false;
}

bool in_group(gid_t group) { return in_group(group, caller::opening_group()); }

int permitted(const cairn_stat& st, int want, bool real_ids) {
  want &= R_OK | W_OK | X_OK;
  uid_t uid = real_ids ? caller::real_user() : caller::effective_user();
  if (uid == 0) {
    // Root needs one execute bit of the three to run a file.
    bool runnable = S_ISDIR(st.mode) || (st.mode & 0111) != 0;
    return (want & X_OK) != 0 && !runnable ? -EACCES : 0;
  }
  unsigned bits = st.mode & 7;
  if (uid == st.uid) {
    bits = (st.mode >> 6) & 7;
  } else if (in_group(st.gid, real_ids ? getgid() : caller::opening_group())) {
    bits = (st.mode >> 3) & 7;
  }
  return (static_cast<unsigned>(want) & ~bits) != 0 ? -EACCES : 0;
}

template <bool kRealIds>
static int search(uint32_t mode, uint32_t uid, uint32_t gid) {
  cairn_stat st = {};
  st.mode = mode;
  st.uid = uid;
  st.gid = gid;
  return permitted(st, X_OK, kRealIds);
}

cairn_search search_as_caller(bool real_ids) {
  uid_t uid = real_ids ? caller::real_user() : caller::effective_user();
  if (uid == 0) return nullptr;
  return real_ids ? search<true> : search<false>;
}

int permitted_in(cairn_ino dir, int want) {
  if (caller::effective_user() == 0) return 0;
  cairn_stat st;
  int error = cairn_stat_ino(pool, dir, &st);
  return error < 0 ? error : permitted(st, want);
}

int may_remove(cairn_ino dir, const cairn_stat& st) {
  uid_t uid = caller::effective_user();
  if (uid == 0) return 0;
  cairn_stat parent;
  int error = cairn_stat_ino(pool, dir, &parent);
  if (error < 0) return error;
  if ((error = permitted(parent, W_OK | X_OK)) < 0) return error;
  if ((parent.mode & S_ISVTX) != 0 && uid != parent.uid && uid != st.uid) return -EPERM;
  return 0;
}

static bool protects_links() {
  static std::atomic<int> known{-1};
  if (known < 0) {
    char digit = '1';
    int fd = real::open("/proc/sys/fs/protected_hardlinks", O_RDONLY | O_CLOEXEC, 0);
    if (fd >= 0 && real::read(fd, &digit, 1) != 1) digit = '1';
    if (fd >= 0) real::close(fd);
    known = digit != '0' ? 1 : 0;
  }
  return known != 0;
}

int may_link(const cairn_stat& st) {
  if (owns(st) == 0 || !protects_links()) return 0;
  constexpr unsigned kGroupRuns = S_ISGID | S_IXGRP;
  bool safe = S_ISREG(st.mode) && (st.mode & S_ISUID) == 0 &&
              (st.mode & kGroupRuns) != kGroupRuns && permitted(st, R_OK | W_OK) == 0;
  return safe ? 0 : -EPERM;
}

mode_t mode_in(cairn_ino dir, mode_t mode) {
  constexpr mode_t kGroupRuns = S_ISGID | S_IXGRP;
  cairn_stat st;
  bool strange = (mode & kGroupRuns) == kGroupRuns && caller::effective_user() != 0 &&
                 cairn_stat_ino(pool, dir, &st) == 0 && (st.mode & S_ISGID) != 0 &&
                 !in_group(st.gid);
  return strange ? mode & ~static_cast<mode_t>(S_ISGID) : mode;
}

int owns(const cairn_stat& st) {
  uid_t uid = caller::effective_user();
  return uid == 0 || uid == st.uid ? 0 : -EPERM;
}

}  // namespace posix
