// Namespaces of one's own for a test's child process: root has them for the asking, others in a
// user namespace where they are themselves.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace cairn::test {

// What to tell when none can be had: a test that needs them fails then.
inline constexpr const char* no_namespaces =
    "this test needs root, or a system where everybody may make user namespaces "
    "(kernel.unprivileged_userns_clone, user.max_user_namespaces)";

inline bool write_text(const char* path, const std::string& text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  const bool done =
      fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (fd >= 0) close(fd);
  return done;
}

// This process goes into new namespaces of these kinds (CLONE_NEWNS is one of them); what it mounts
// there nobody else sees.
inline bool enter_own_namespaces(int kinds) {
  const std::string user = std::to_string(geteuid());
  const std::string group = std::to_string(getegid());
  if (unshare(kinds) != 0) {
    if (errno != EPERM || unshare(kinds | CLONE_NEWUSER) != 0 ||
        !write_text("/proc/self/setgroups", "deny") ||
        !write_text("/proc/self/uid_map", user + " " + user + " 1") ||
        !write_text("/proc/self/gid_map", group + " " + group + " 1"))
      return false;
  }
  return mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

// In such namespaces: what lies at and below the path can be read only. Flags that the mount has
// must be kept.
inline bool make_read_only(const std::string& path) {
  struct statvfs st = {};
  if (mount(path.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0 ||
      statvfs(path.c_str(), &st) != 0)
    return false;
  unsigned long flags = MS_BIND | MS_REMOUNT | MS_RDONLY;
  if ((st.f_flag & ST_NOSUID) != 0) flags |= MS_NOSUID;
  if ((st.f_flag & ST_NODEV) != 0) flags |= MS_NODEV;
  if ((st.f_flag & ST_NOEXEC) != 0) flags |= MS_NOEXEC;
  if ((st.f_flag & ST_NOATIME) != 0) flags |= MS_NOATIME;
  if ((st.f_flag & ST_NODIRATIME) != 0) flags |= MS_NODIRATIME;
  if ((st.f_flag & ST_RELATIME) != 0) flags |= MS_RELATIME;
  return mount(nullptr, path.c_str(), nullptr, flags, nullptr) == 0;
}

}  // namespace cairn::test
