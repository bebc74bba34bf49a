#include "posix/credentials/pool_owner.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "posix/core/calls.h"
#include "posix/core/covers.h"
#include "posix/core/engine.h"
#include "posix/credentials/caller.h"
#include "posix/fd/descriptor.h"

namespace posix {
namespace pool_owner {

std::atomic<int> lent{0};
std::atomic<bool> used_up{false};

namespace {

using caller::kSame;

// The queue of a socket takes this many, if its size cannot be raised.
constexpr int kMostKept = 256;

std::atomic<uid_t> owner{kSame};
pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
std::atomic<int> queue_in{-1}, queue_out{-1};
std::atomic<int> companions_fd{-1}, links_fd{-1};
std::atomic<uint32_t> forks{0};

char lock_path[PATH_MAX];
size_t home_length;
dev_t lock_device;
ino_t lock_inode;

// Descriptors that are out of the queue: descriptor + 1 and the number of forks before; 0: an empty
// place.
constexpr int kMostLent = 64;
std::atomic<uint64_t> lent_out[kMostLent];

uid_t fs_user() { return caller::opening_user(); }

// A message of one byte with one descriptor in it.
struct Message {
  Message() {
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = room;
    header.msg_controllen = sizeof room;
  }
  char byte = 0;
  struct iovec piece = {&byte, 1};
  alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  struct msghdr header = {};
};

bool give(int fd) {
  Message message;
  struct cmsghdr* part = CMSG_FIRSTHDR(&message.header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(part), &fd, sizeof fd);
  return real::sendmsg(queue_in.load(), &message.header, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

int take() {
  if (queue_out.load() < 0) return -1;
  Message message;
  if (real::recvmsg(queue_out.load(), &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1)
    return -1;
  struct cmsghdr* part = CMSG_FIRSTHDR(&message.header);
  if (part == nullptr || part->cmsg_type != SCM_RIGHTS) return -1;
  int fd;
  memcpy(&fd, CMSG_DATA(part), sizeof fd);
  return fd;
}

void note_lent(int fd) {
  const uint64_t note = (static_cast<uint64_t>(fd) + 1) | uint64_t{forks.load()} << 32;
  for (auto& place : lent_out) {
    uint64_t none = 0;
    if (!place.compare_exchange_strong(none, note)) continue;
    lent.fetch_add(1);
    return;
  }
}

bool is_lock_file(int fd) {
  struct stat st;
  return real::fstat(fd, &st) == 0 && st.st_dev == lock_device && st.st_ino == lock_inode;
}

// Returns true if the description keeps a lock, or if that is unknown.
bool keeps_lock(int fd) {
  char path[64];
  char text[4096];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  const int info = real::open(path, O_RDONLY | O_CLOEXEC, 0);
  if (info < 0) return true;
  const ssize_t length = real::read(info, text, sizeof text - 1);
  real::close(info);
  if (length < 0) return true;
  text[length] = '\0';
  return strstr(text, "lock:") != nullptr;
}

// Returns true if the path is the lock file's name, or names a descriptor of it that is to be
// opened again.
bool names_lock_file(const char* path) {
  if (strcmp(path, lock_path) == 0) return true;
  constexpr char kOpen[] = "/proc/self/fd/";
  constexpr size_t kLength = sizeof kOpen - 1;
  return strncmp(path, kOpen, kLength) == 0 &&
         is_lock_file(static_cast<int>(strtol(path + kLength, nullptr, 10)));
}

// Returns the name of a companion in `path`, or null if the path leads elsewhere.
const char* companion_in(const char* path) {
  constexpr char kFolder[] = "/companion/";
  constexpr size_t kLength = sizeof kFolder - 1;
  const bool is_one = strncmp(path, lock_path, home_length) == 0 &&
                      strncmp(path + home_length, kFolder, kLength) == 0;
  return is_one ? path + home_length + kLength : nullptr;
}

// Opens a directory of the pool, and lets every process in that has it open.
int open_up(int home, const char* name) {
  if (real::mkdirat(home, name, 0700) != 0 && errno != EEXIST) return -1;
  const int fd = real::openat(home, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (fd >= 0 && real::fchmod(fd, 0777) != 0) {
    real::close(fd);
    return -1;
  }
  return descriptor::keep_private(fd);
}

void open_directories() {
  if (links_fd.load() >= 0 && companions_fd.load() >= 0) return;
  char path[PATH_MAX];
  memcpy(path, lock_path, home_length);
  path[home_length] = '\0';
  const int home = real::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  struct stat st;
  // The mode of the pool's directory alone keeps other users out of these two.
  if (home >= 0 && real::fstat(home, &st) == 0 && st.st_uid == owner.load() &&
      (st.st_mode & 077) == 0) {
    if (companions_fd.load() < 0) companions_fd = open_up(home, "companion");
    if (links_fd.load() < 0) links_fd = open_up(home, "links");
  }
  if (home >= 0) real::close(home);
}

void fill_queue() {
  if (queue_in.load() >= 0) return;
  int pair[2];
  const descriptor::Room room(3);
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return;
  constexpr int kBytes = kMostKept * 2048;
  if (real::setsockopt(pair[0], SOL_SOCKET, SO_SNDBUFFORCE, &kBytes, sizeof kBytes) != 0)
    real::setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &kBytes, sizeof kBytes);
  queue_out = descriptor::keep_private(pair[1]);
  queue_in = descriptor::keep_private(pair[0]);
  for (int i = 0; i < kMostKept; ++i) {
    const int fd = real::open(lock_path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd < 0) break;
    struct stat st;
    if (i == 0 && real::fstat(fd, &st) == 0) {
      lock_device = st.st_dev;
      lock_inode = st.st_ino;
    }
    const bool given = give(fd);
    real::close(fd);
    if (!given) break;
  }
}

}  // namespace

void attached() {
  const char* path = cairn_pool_lock_path(pool);
  const char* slash = strrchr(path, '/');
  if (slash == nullptr || strlen(path) >= sizeof lock_path) return;
  memcpy(lock_path, path, strlen(path) + 1);
  home_length = static_cast<size_t>(slash - path);
  owner = fs_user();
}

bool is_other() { return owner.load() != kSame && fs_user() != owner.load(); }

bool is_trusted(uid_t user) { return user == 0 || user == owner.load(); }

int links() { return links_fd.load(); }

void forking() { forks.fetch_add(1); }

void before_change(uid_t real, uid_t effective, uid_t saved) {
  if (!active()) return;
  uid_t now[3];
  if (getresuid(&now[0], &now[1], &now[2]) != 0) return;
  uid_t then[3] = {real, effective, saved};
  for (int i = 0; i < 3; ++i)
    if (then[i] == kSame) then[i] = now[i];
  if (memcmp(now, then, sizeof now) == 0 && fs_user() == then[1]) return;
  const int before = errno;
  for (int i = 0; i < cover_count; ++i) engine::join_quietly(&covers[i]);
  const uid_t whose = owner.load();
  if (pool != nullptr && whose != kSame) {
    const auto is_among = [whose](const uid_t* users) {
      return users[0] == whose || users[1] == whose || users[2] == whose;
    };
    const Inside inside;
    pthread_mutex_lock(&changing);
    const Acting as_owner;
    descriptor::base();
    open_directories();
    if (is_among(now) && !is_among(then)) fill_queue();
    pthread_mutex_unlock(&changing);
  }
  errno = before;
}

Acting::Acting() {
  const uid_t whose = owner.load();
  if (whose == kSame) return;
  before_ = fs_user();
  if (before_ == whose) return;
  real::setfsuid(whose);
  acting_ = fs_user() == whose;
}

Acting::~Acting() {
  if (!acting_) return;
  const int error = errno;
  real::setfsuid(before_);
  errno = error;
}

int open_kept(const char* path) {
  int fd = -1;
  if (path == nullptr || owner.load() == kSame) {
    // No descriptor was kept.
  } else if (const char* name = companion_in(path); name != nullptr) {
    if (companions_fd.load() >= 0)
      return real::openat(companions_fd.load(), name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                          0600);
  } else if (queue_out.load() >= 0 && names_lock_file(path)) {
    fd = descriptor::keep_private(take());
    if (fd >= 0) note_lent(fd);
  }
  if (fd < 0) errno = EACCES;
  return fd;
}

int refused(const char* path) {
  if (path != nullptr && owner.load() != kSame && names_lock_file(path) && !used_up.exchange(true))
    log(Level::kError,
        "this process has given up the pool's user, and what was opened before for its children, "
        "threads and mappings is used up: ",
        lock_path);
  errno = EACCES;
  return -1;
}

void put_back(int fd) {
  for (auto& place : lent_out) {
    uint64_t note = place.load();
    if ((note & UINT32_MAX) != static_cast<uint64_t>(fd) + 1) continue;
    if (!place.compare_exchange_strong(note, 0)) return;
    lent.fetch_sub(1);
    const int before = errno;
    // A child that was forked since then keeps the description open for good.
    if (note >> 32 == forks.load() && !keeps_lock(fd)) give(fd);
    errno = before;
    return;
  }
}

}  // namespace pool_owner

void pool_owner::after_fork() { pthread_mutex_init(&changing, nullptr); }

}  // namespace posix
