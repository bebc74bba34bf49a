#include "pool/medium/lock_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/crc32c.h"
#include "media/own_place.h"
#include "pool/lanes/attach_lock.h"
#include "pool/medium/format_io.h"
#include "pool/medium/pool_directory.h"

namespace cairn::pool {
namespace {

constexpr const char* shared_memory = "/dev/shm";
constexpr const char* lock_name = "lock";

Result<Directory> make_private(const Directory& above, const std::string& name) {
  if (const Status made = above.make(name); !made.ok() && made.code() != EEXIST)
    return annotate(made, "the place of the lock file");
  auto place = above.enter(name);
  struct stat st {};
  if (place.ok())
    st = place->status();
  else if (place.code() != ENOTDIR || !above.look(name, &st))
    return place.status();
  if (!place.ok() || st.st_uid != geteuid() || (st.st_mode & 077) != 0)
    return fail(EPERM,
                "%s: the lock file's place must be a directory of your own that is closed to "
                "others (it belongs to user %u, mode %04o)",
                above.path_of(name).c_str(), st.st_uid, st.st_mode & 07777);
  return place;
}

Result<Directory> make_home(const Pool& pool) {
  const std::string own = parent_of(pool.home);
  CAIRN_TRY_ASSIGN(above, Directory::open(parent_of(own)));
  CAIRN_TRY_ASSIGN(place, make_private(above, last_of(own)));
  CAIRN_TRY_ASSIGN(home, make_private(place, last_of(pool.home)));
  CAIRN_TRY(make_private(home, "companion").status());
  return home;
}

int open_lock_file_in(const Directory& home, int flags) {
  return openat(home.descriptor(), lock_name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}

// Returns the boot in the upper half: only the boot decides whether a process can still hold a
// lock.
uint64_t this_boot() {
  uint64_t boot[2];
  read_boot_id(boot);
  return boot[0] == 0 && boot[1] == 0 ? 0 : uint64_t{crc32c(0, boot, sizeof boot)} | 1;
}
uint64_t boot_of(uint64_t identity) { return identity >> 32; }

Result<uint64_t> identity_of(int fd, uint64_t token) {
  struct stat st {};
  if (fstat(fd, &st) != 0) return fail(errno, "lock file: %s", strerror(errno));
  const uint64_t words[] = {st.st_dev, st.st_ino, token};
  return this_boot() << 32 | crc32c(0, words, sizeof words);
}

// Reads the token; a file without one gets it. The caller holds the attach lock unless it only
// reads.
Result<uint64_t> identity_of_file(int fd, bool may_write) {
  uint64_t token = 0;
  if (pread(fd, &token, sizeof token, 0) != sizeof token || token == 0) {
    if (!may_write) return fail(ENOENT, "the lock file is empty");
    while (token == 0) {
      if (getrandom(&token, sizeof token, 0) != sizeof token)
        return fail(errno, "getrandom: %s", strerror(errno));
    }
    if (pwrite(fd, &token, sizeof token, 0) != sizeof token)
      return fail(errno, "write the lock file: %s", strerror(errno));
  }
  return identity_of(fd, token);
}

Status in_use_elsewhere(const Pool& pool) {
  return fail(
      ESTALE,
      "%s: this pool is in use through another lock file than %s, as from a container with a "
      "/dev/shm of its own (or that file was removed under running programs); use it from there, "
      "or share /dev/shm. Once it has been detached everywhere, or after a reboot, it can be "
      "used here",
      pool.path.c_str(), pool.lock_path.c_str());
}

bool is_taken(const Pool& pool, uint64_t seen, uint64_t mine) {
  return seen != mine && boot_of(seen) == boot_of(mine) && pool.state->clean.load() != 1;
}

Status look(Pool& pool) {
  const auto home = Directory::open(pool.home);
  const int fd = home.ok() ? open_lock_file_in(*home, O_RDONLY) : -1;
  uint64_t mine = this_boot() << 32;
  if (fd >= 0) {
    auto found = identity_of_file(fd, false);
    close(fd);
    if (found.ok()) mine = *found;
  }
  return is_taken(pool, pool.state->lock_identity.load(), mine) ? in_use_elsewhere(pool) : Status();
}

// Makes this lock file the one in force. The caller has its attach lock, so only users of other
// lock files compete.
Status bring_into_force(Pool& pool, uint64_t mine) {
  uint64_t seen = pool.state->lock_identity.load();
  while (seen != mine) {
    if (is_taken(pool, seen, mine)) return in_use_elsewhere(pool);
    const uint64_t before = seen;
    if (!pool.compare_exchange(pool.state->lock_identity, seen, mine)) continue;
    // A process that attached meanwhile clears `clean` first and reads the identity then: one of
    // the two sees the other.
    if (!is_taken(pool, before, mine)) break;
    uint64_t expected = mine;
    pool.compare_exchange(pool.state->lock_identity, expected, before);
    return in_use_elsewhere(pool);
  }
  pool.flush(&pool.state->lock_identity, sizeof(Word));
  return pool.fence();
}

}  // namespace

Status name_lock_file(Pool& pool) {
  auto place = media::own_place(shared_memory, !pool.read_only);
  const bool is_missing =
      place.code() == ENOENT;  // no process of this user has attached any device
  if (!place.ok() && !is_missing) return place.status();
  char name[64];
  std::snprintf(name, sizeof name, "/.device-%016llx%016llx",
                static_cast<unsigned long long>(pool.superblock().uuid[0].load()),
                static_cast<unsigned long long>(pool.superblock().uuid[1].load()));
  pool.home = (is_missing ? "" : place->path) + name;
  pool.lock_path = pool.home + "/" + lock_name;
  return Status();
}

Status agree_on_lock_file(Pool& pool) {
  if (this_boot() == 0)
    return fail(EIO, "%s: cannot tell this boot from others (/proc/sys/kernel/random/boot_id)",
                pool.path.c_str());
  if (pool.read_only) return look(pool);
  CAIRN_TRY_ASSIGN(home, make_home(pool));
  const int fd = open_lock_file_in(home, O_RDWR | O_CREAT);
  if (fd < 0) return fail(errno, "%s: lock file: %s", pool.lock_path.c_str(), strerror(errno));
  Status status;
  if (auto lock = lock_attach(pool); lock.ok()) {
    auto mine = identity_of_file(fd, true);
    status = mine.ok() ? bring_into_force(pool, *mine) : mine.status();
    if (mine.ok()) pool.lock_identity = *mine;
  } else {
    status = lock.status();
  }
  close(fd);
  return status;
}

Status confirm_lock_file(Pool& pool) {
  if (pool.lock_identity == 0) return Status();
  // A locked instruction: the load must not come before the store to `clean`.
  uint64_t expected = pool.lock_identity;
  return pool.compare_exchange(pool.state->lock_identity, expected, pool.lock_identity)
             ? Status()
             : in_use_elsewhere(pool);
}

void remove_lock_file(const Pool& pool) {
  const auto above = Directory::open(parent_of(pool.home));
  const std::string name = last_of(pool.home);
  const auto home = above.ok() ? above->enter(name) : above.status();
  if (!home.ok()) return;
  for (const char* folder : {"companion", "links"}) remove_folder(*home, folder);
  home->remove(lock_name).ignore();
  above->remove_directory(name).ignore();
}

}  // namespace cairn::pool
