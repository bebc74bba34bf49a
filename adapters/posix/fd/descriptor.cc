#include "posix/fd/descriptor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <atomic>

#include "posix/core/calls.h"
#include "posix/fd/descriptor_link.h"
#include "posix/fd/table.h"

namespace posix::descriptor {

// Private numbers begin far above those that programs count on and far below their limit. They stay
// below 1024, because a larger table of descriptors makes every fork slower.
static int private_base() {
  static const int base = [] {
    struct rlimit limit;
    rlim_t most = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;
    if (most > 1024) most = 1024;
    return most > 512 ? static_cast<int>(most) - 256 : static_cast<int>(most) / 2;
  }();
  return base;
}

static int duplicate_high(int fd) {
  int flags = real::fcntl(fd, F_GETFD, nullptr);
  int command = (flags & FD_CLOEXEC) != 0 ? F_DUPFD_CLOEXEC : F_DUPFD;
  return real::fcntl(fd, command, reinterpret_cast<void*>(intptr_t{private_base()}));
}

// An exec needs three descriptors at the same time; one more is in reserve.
constexpr int kReserve = 4;
static std::atomic<int> reserve[kReserve] = {-1, -1, -1, -1};
static std::atomic<int> missing{0};

// Serialises changes of RLIMIT_NOFILE, which belongs to the whole process.
static pthread_mutex_t changing_limit = PTHREAD_MUTEX_INITIALIZER;

void after_fork() { pthread_mutex_init(&changing_limit, nullptr); }

Room::Room(int count) {
  int before = errno;
  pthread_mutex_lock(&changing_limit);
  if (getrlimit(RLIMIT_NOFILE, &limit_) == 0 && limit_.rlim_cur < limit_.rlim_max) {
    struct rlimit most = {limit_.rlim_max, limit_.rlim_max};
    raised_ = setrlimit(RLIMIT_NOFILE, &most) == 0;
  }
  for (int i = 0; !raised_ && count > 0 && i < kReserve; ++i) {
    int fd = reserve[i].exchange(-1);
    if (fd < 0) continue;
    missing.fetch_add(1);
    close_private(fd);
    --count;
  }
  errno = before;
}

Room::~Room() {
  int before = errno;
  if (raised_) setrlimit(RLIMIT_NOFILE, &limit_);
  pthread_mutex_unlock(&changing_limit);
  errno = before;
}

__thread bool stay_low;

int keep_private(int fd) {
  if (fd < 0) return fd;
  if (fd < private_base() && !stay_low) {
    int before = errno;
    int high = duplicate_high(fd);
    if (high >= 0) {
      real::close(fd);
      fd = high;
    }
    errno = before;
  }
  table::enter_private(fd);
  return fd;
}

void forget_private(int fd) {
  if (table::is_private(fd)) table::leave(fd);
}

int close_private(int fd) {
  forget_private(fd);
  return real::close(fd);
}

static std::atomic<int> base_link{-1};

static int make_base() {
  char text[PATH_MAX + 32];
  snprintf(text, sizeof text, "cairn:%s", pool_path);
  int fd = descriptor_link::make(text);
  if (fd < 0) return fd;
  fd = keep_private(fd);
  int none = -1;
  if (!base_link.compare_exchange_strong(none, fd)) {
    close_private(fd);
  } else {
    missing = kReserve;
    refill();
  }
  return base_link.load();
}

void refill() {
  if (missing.load(std::memory_order_relaxed) <= 0 || base_link.load() < 0) return;
  int before = errno;
  for (auto& place : reserve) {
    if (place.load() >= 0) continue;
    int fd = duplicate_high(base_link.load());
    if (fd < 0) break;
    table::enter_private(fd);
    int none = -1;
    if (place.compare_exchange_strong(none, fd)) {
      missing.fetch_sub(1);
    } else {
      close_private(fd);
    }
  }
  errno = before;
}

int base() {
  const int made = base_link.load(std::memory_order_acquire);
  return made >= 0 ? made : make_base();
}

int make(bool close_on_exec, int least) {
  int before = errno;
  const int base = descriptor::base();
  if (base < 0) return base;
  int fd = real::fcntl(base, close_on_exec ? F_DUPFD_CLOEXEC : F_DUPFD,
                       reinterpret_cast<void*>(intptr_t{least}));
  if (fd < 0) {
    fd = -errno;
  } else if (fd >= table::kMost) {
    real::close(fd);
    fd = -EMFILE;
  }
  errno = before;
  return fd;
}

int make_named(cairn_file* file) {
  cairn_file_id id;
  cairn_file_get_id(file, &id);
  char text[PATH_MAX + 64];
  snprintf(text, sizeof text, "cairn:%s:%llu:%llu", pool_path,
           static_cast<unsigned long long>(id.slot),
           static_cast<unsigned long long>(id.generation));
  int before = errno;
  int fd = descriptor_link::make(text);
  errno = before;
  return fd;
}

// Takes ":NUMBER" from the text.
static bool take_number(const char** text, uint64_t* number) {
  if (**text != ':' || (*text)[1] < '0' || (*text)[1] > '9') return false;
  char* end = nullptr;
  *number = strtoull(*text + 1, &end, 10);
  *text = end;
  return true;
}

static bool is_made_here(int fd) {
  const int made = engine::attach() < 0 ? -1 : base();
  return made >= 0 && descriptor_link::is_like(fd, made);
}

bool is_ours(int fd) {
  char text[PATH_MAX + 64];
  return descriptor_link::read(fd, text, sizeof text) != nullptr && is_made_here(fd);
}

bool lies_beside_ours(int fd) {
  const int made = base();
  return made >= 0 && descriptor_link::lies_beside(fd, made);
}

bool read_name(int fd, cairn_file_id* id) {
  char text[PATH_MAX + 64];
  const char* at = descriptor_link::read(fd, text, sizeof text);
  return at != nullptr && take_number(&at, &id->slot) && take_number(&at, &id->generation) &&
         is_made_here(fd);
}

int guard_directory() {
  static std::atomic<int> guard{-1};
  if (guard.load() >= 0) return guard.load();
  int error = ENOENT;
  for (const char* directory : {pool_path, "/dev/shm", "/tmp"}) {
    char name[PATH_MAX + 32];
    snprintf(name, sizeof name, "%s/.cairn-cwd-XXXXXX", directory);
    if (real::mkdtemp(name) == nullptr) {
      error = errno;
      continue;
    }
    real::chmod(name, 0755);  // lets the process in after it has changed its user
    int fd = real::open(name, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    error = errno;
    real::rmdir(name);
    if (fd < 0) continue;
    fd = keep_private(fd);
    int none = -1;
    if (!guard.compare_exchange_strong(none, fd)) close_private(fd);
    return guard.load();
  }
  return -error;
}

}  // namespace posix::descriptor

// The linker sends memfd_create here (folder.cmake), so that files in memory are private.
extern "C" __attribute__((visibility("hidden"))) int posix_memory_file(
    const char* name, unsigned flags) __asm__("__wrap_memfd_create");
int posix_memory_file(const char* name, unsigned flags) {
  return posix::descriptor::open_private(
      [=] { return static_cast<int>(syscall(SYS_memfd_create, name, flags)); });
}
