#include "pools/pool_owner.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "text/error.h"
#include "text/output.h"

namespace cairn::cli {
namespace {

struct GivenUp {
  std::string pool;
  std::string text;
};

GivenUp& given_up() {
  static GivenUp given;
  return given;
}

// The user's groups: those of the user database, or the group of the pool if the database does not
// know the user (containers).
struct Groups {
  std::string name;  // "": not in the user database
  gid_t group = 0;
};

Groups groups_of(const PoolOwner& owner) {
  std::vector<char> room(size_t{1} << 14);
  passwd entry{};
  passwd* found = nullptr;
  while (getpwuid_r(owner.user, &entry, room.data(), room.size(), &found) == ERANGE)
    room.resize(room.size() * 2);
  if (found != nullptr) return {entry.pw_name, entry.pw_gid};
  // A directory may have inherited the group of root, on some file systems and in set-group-ID
  // directories. That is not the user's group.
  constexpr gid_t overflow_group = 65534;
  return {"", owner.group == 0 ? overflow_group : owner.group};
}

[[noreturn]] void cannot(const std::string& path, const PoolOwner& owner, const char* what) {
  fail(
      "{}: the pool belongs to user {}, and root's rights cannot be given up for it: {}: {}; run "
      "the command as that user",
      path, owner.user, what, std::strerror(errno));
}

// setresuid() drops all capabilities too, except with some securebits.
bool drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  return syscall(SYS_capset, &header, none) == 0;
}

}  // namespace

std::optional<PoolOwner> other_owner(const std::string& path) {
  if (geteuid() != 0) return std::nullopt;
  const int file = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (file < 0) return std::nullopt;  // attaching the pool gives the error
  struct stat st {};
  const bool looked = fstat(file, &st) == 0;
  const int error = errno;
  close(file);
  if (!looked) throw Error(exit_failed, system_error(path, error));
  if (st.st_uid != 0) return PoolOwner{st.st_uid, st.st_gid};
  // A user who can write to a device can write any pool to it.
  constexpr mode_t open_to_others = S_IWGRP | S_IWOTH;
  if (S_ISCHR(st.st_mode) && (st.st_mode & open_to_others) != 0)
    fail(
        "{}: other users can write to this device (mode {:04o}), so root does not use a pool on "
        "it; if only root has written to it, close it with chmod 600",
        path, st.st_mode & 07777U);
  return std::nullopt;
}

void work_as_owner(const std::string& path) {
  if (const auto owner = other_owner(path)) work_as(path, *owner);
}

void work_as(const std::string& path, const PoolOwner& owner) {
  const Groups groups = groups_of(owner);
  const int taken =
      groups.name.empty() ? setgroups(0, nullptr) : initgroups(groups.name.c_str(), groups.group);
  if (taken != 0) cannot(path, owner, "setgroups");
  if (setresgid(groups.group, groups.group, groups.group) != 0) cannot(path, owner, "setresgid");
  if (setresuid(owner.user, owner.user, owner.user) != 0) cannot(path, owner, "setresuid");
  if (!drop_capabilities()) cannot(path, owner, "capset");
  // The pool's owner must not be able to trace this process, and so use root's files and terminal.
  // Whether the kernel allows that after a change of user is a setting (fs.suid_dumpable).
  if (prctl(PR_SET_DUMPABLE, 0) != 0) cannot(path, owner, "prctl");
  if (geteuid() != owner.user || setuid(0) == 0)
    fail("{}: root's rights cannot be given up for the pool of user {}", path, owner.user);
  given_up() = {path, fmt::format("working with the rights of user {}, who owns the pool {}",
                                  owner.user, path)};
  inform(given_up().text);
}

const std::string& pool_of_owner() { return given_up().pool; }

std::string owner_text() { return given_up().text; }

}  // namespace cairn::cli
