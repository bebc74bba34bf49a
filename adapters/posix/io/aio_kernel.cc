// libaio. A request on a covered file is complete when io_submit returns. Its event stays here
// until io_getevents or io_pgetevents fetches it, before the events of the kernel. If a thread
// waits in the kernel meanwhile, io_submit wakes it by a request to the kernel. The functions make
// the system calls themselves, because libaio may be loaded only by a plug-in.
#include "posix/io/aio_kernel.h"

#include <stdlib.h>
#include <sys/syscall.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/user_memory.h"
#include "posix/fd/table.h"
#include "posix/io/by_number.h"
#include "posix/io/calls.h"
#include "posix/io/open.h"
#include "posix/io/program_write.h"
#include "posix/path/covered.h"

// The kernel's request and event, as libaio.h declares them.
struct iocb {
  void* data;
  uint32_t key;
  int32_t flags;  // RWF_
  uint16_t operation;
  int16_t priority;
  uint32_t fd;
  union {
    void* buffer;
    const struct iovec* vector;
  };
  uint64_t count;  // bytes, or pieces of a vector
  int64_t offset;
  uint64_t reserved;
  uint32_t more_flags;
  uint32_t event_fd;
};
struct io_event {
  void* data;
  struct iocb* request;
  int64_t result;
  int64_t second;
};

namespace posix {

namespace {
enum Operation {
  kRead = 0,
  kWrite = 1,
  kSync = 2,
  kDataSync = 3,
  kPoll = 5,
  kReadVector = 7,
  kWriteVector = 8
};
constexpr uint32_t kTellEventFd = 1;

struct Done {
  void* context;
  struct io_event event;
  Done* next;
};
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
Done* first_done;
Done** last = &first_done;
std::atomic<int> waiting{0};   // number of events in the list
std::atomic<int> sleeping{0};  // threads that may wait in the kernel

// Contexts that the kernel has accepted. An address selects its place.
constexpr size_t kPlaces = 16;
std::atomic<void*> contexts[kPlaces];
}  // namespace

static std::atomic<void*>& place_of(void* context) {
  return contexts[reinterpret_cast<uintptr_t>(context) / user_memory::kPage % kPlaces];
}

// A child inherits no context.
void aio_kernel::after_fork() {
  pthread_mutex_init(&mutex, nullptr);
  sleeping = 0;
  for (auto& place : contexts) place = nullptr;
}

// libaio returns negative errnos and leaves errno alone.
template <typename... Arguments>
static int call(long number, Arguments... arguments) {
  int before = errno;
  auto done = static_cast<int>(syscall(number, arguments...));
  if (done < 0) done = -errno;
  errno = before;
  return done;
}

static bool is_context(void* context) {
  std::atomic<void*>& place = place_of(context);
  if (context != nullptr && place.load(std::memory_order_relaxed) == context) return true;
  if (call(SYS_io_submit, context, 0L, nullptr) < 0) return false;
  place = context;
  return true;
}

static bool is_vector(const struct iocb& request) {
  return request.operation == kReadVector || request.operation == kWriteVector;
}

static int check_transfer(const table::Use& use, const struct iocb& request) {
  constexpr int kKnown = RWF_HIPRI | RWF_DSYNC | RWF_SYNC | RWF_NOWAIT | RWF_APPEND;
  const bool reads = request.operation == kRead || request.operation == kReadVector;
  const int access = cairn_file_get_flags(use->file) & O_ACCMODE;
  if ((request.flags & ~kKnown) != 0) return -EOPNOTSUPP;
  if (access == (reads ? O_WRONLY : O_RDONLY)) return -EBADF;
  if (use->kind != Kind::kFile) return -EINVAL;
  if (is_vector(request)) {
    if (request.count > IOV_MAX) return -EINVAL;
    if (!user_memory::is_readable(request.vector, request.count * sizeof(struct iovec)))
      return -EFAULT;
  }
  return request.offset < 0 ? -EINVAL : 0;
}

// Makes the kernel's checks in the kernel's order. io_submit itself returns their errors, not an
// event.
static int check(const table::Use& use, const struct iocb& request) {
  if (request.reserved != 0 || request.count > SSIZE_MAX) return -EINVAL;
  if (is_path(use)) return -EBADF;
  if ((request.more_flags & kTellEventFd) != 0 &&
      real::fcntl(static_cast<int>(request.event_fd), F_GETFD, nullptr) < 0)
    return -EBADF;
  const bool has_more = request.count != 0 || request.offset != 0 || request.flags != 0;
  switch (request.operation) {
    case kRead:
    case kWrite:
    case kReadVector:
    case kWriteVector:
      return check_transfer(use, request);
    case kSync:
    case kDataSync:
      return has_more || request.buffer != nullptr ? -EINVAL : 0;
    case kPoll:
      return has_more || reinterpret_cast<uintptr_t>(request.buffer) > UINT16_MAX ? -EINVAL : 0;
    default:
      return -EINVAL;
  }
}

static ssize_t transfer(cairn_file* file, const struct iocb& request) {
  constexpr size_t kMostBytes = 0x7ffff000;  // Linux transfers no more in one call
  const size_t size = request.count < kMostBytes ? request.count : kMostBytes;
  const struct iovec piece = piece_of(request.buffer, size);
  const struct iovec* vector = is_vector(request) ? request.vector : &piece;
  const int count = is_vector(request) ? static_cast<int>(request.count) : 1;
  const auto offset = static_cast<uint64_t>(request.offset);
  if (request.operation == kRead) return cairn_pread(file, request.buffer, size, offset);
  if (request.operation == kReadVector) return cairn_preadv(file, vector, count, offset);
  const bool append = (cairn_file_get_flags(file) & O_APPEND) != 0;
  const ssize_t wrote = write_for_program(file, vector, count,
                                          append                              ? kSharedOffset
                                          : (request.flags & RWF_APPEND) != 0 ? kEndOfFile
                                                                              : request.offset);
  if (wrote <= 0 || (request.flags & (RWF_DSYNC | RWF_SYNC)) == 0) return wrote;
  const int error = (request.flags & RWF_SYNC) != 0 ? cairn_fsync(file) : cairn_fdatasync(file);
  return error < 0 ? error : wrote;
}

static ssize_t perform(cairn_file* file, const struct iocb& request) {
  constexpr uintptr_t kAlways = POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM;
  switch (request.operation) {
    case kSync:
      return cairn_fsync(file);
    case kDataSync:
      return cairn_fdatasync(file);
    case kPoll:  // files are always ready
      return static_cast<ssize_t>(reinterpret_cast<uintptr_t>(request.buffer) & kAlways);
    default:
      return transfer(file, request);
  }
}

// The data of a kernel event that only wakes a thread.
static char wakes;

static void wake(void* context) {
  char nothing;
  struct iocb request = {};
  const int before = errno;
  const int null = real::open("/dev/null", O_RDONLY | O_CLOEXEC, 0);
  errno = before;
  if (null < 0) return;
  request.data = &wakes;
  request.operation = kRead;
  request.fd = static_cast<uint32_t>(null);
  request.buffer = &nothing;
  request.count = sizeof nothing;
  struct iocb* const list[] = {&request};
  call(SYS_io_submit, context, 1L, list);
  real::close(null);
}

static int complete(void* context, struct iocb* place, const struct iocb& request,
                    const table::Use& use) {
  auto* done = static_cast<Done*>(malloc(sizeof(Done)));
  if (done == nullptr) return -EAGAIN;
  *done = {context, {request.data, place, perform(use->file, request), 0}, nullptr};
  pthread_mutex_lock(&mutex);
  *last = done;
  last = &done->next;
  waiting.fetch_add(1);
  pthread_mutex_unlock(&mutex);
  if (sleeping.load() > 0) wake(context);
  if ((request.more_flags & kTellEventFd) != 0) {
    const int before = errno;
    uint64_t one = 1;
    if (real::write(static_cast<int>(request.event_fd), &one, sizeof one) < 0)
      log(Level::kWarning, "io_submit: the eventfd of a finished request cannot be written");
    errno = before;
  }
  return 0;
}

// Moves up to `most` events of this context to the program. Returns -EFAULT if the first one cannot
// be written.
static int fetch(void* context, struct io_event* events, long most) {  // NOLINT
  if (waiting.load() == 0) return 0;
  int count = 0, error = 0;
  pthread_mutex_lock(&mutex);
  for (Done** link = &first_done; *link != nullptr && count < most;) {
    Done* done = *link;
    if (done->context != context) {
      link = &done->next;
      continue;
    }
    error = user_memory::write(events + count, done->event);
    if (error < 0) break;
    *link = done->next;
    if (last == &done->next) last = link;
    ++count;
    waiting.fetch_sub(1);
    free(done);
  }
  pthread_mutex_unlock(&mutex);
  return count > 0 ? count : error;
}

static void forget(void* context) {
  struct io_event event;
  while (fetch(context, &event, 1) > 0) {
  }
}

// Removes the events that only wake a thread. Returns the number of the others.
static int without_wakes(struct io_event* events, int count) {
  int left = 0;
  for (int i = 0; i < count; ++i) {
    if (events[i].data != &wakes) events[left++] = events[i];
  }
  return left;
}

static int64_t now_ns() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1000000000} + now.tv_nsec;
}

// kernel(least, most, events, timeout) fetches the kernel's events.
template <typename Kernel>
static int get_events(void* context, long least, long most, struct io_event* events,  // NOLINT
                      struct timespec* timeout, Kernel kernel) {
  struct timespec wait;
  const bool is_wrong = least < 0 || most < least || !active() ||
                        (timeout != nullptr && user_memory::read(&wait, timeout) < 0);
  if (is_wrong) return kernel(least, most, events, timeout);
  const int64_t begin = timeout != nullptr ? now_ns() : 0;
  constexpr int64_t kLongest = 1000000000;  // seconds: some 30 years
  const int64_t given = timeout == nullptr       ? 0
                        : wait.tv_sec > kLongest ? kLongest * 1000000000
                                                 : wait.tv_sec * 1000000000 + wait.tv_nsec;
  for (int have = 0;;) {
    // A thread that completes a request from here on sees that this one may wait.
    sleeping.fetch_add(1);
    const int ours = fetch(context, events + have, most - have);
    if (ours > 0) have += ours;
    struct timespec at_once = {0, 0};
    const bool enough = have >= least && have > 0;
    int more = ours < 0 ? ours : 0;
    if (more == 0 && (have < most || most == 0))
      more = kernel(enough ? 0 : least - have, most - have, events + have,
                    enough               ? &at_once
                    : timeout != nullptr ? &wait
                                         : nullptr);
    sleeping.fetch_sub(1);
    if (more < 0) return have > 0 ? have : more;
    const int left = without_wakes(events + have, more);
    have += left;
    if (left == more) return have;
    // The thread was woken for an event that it has to fetch; no other thread may be woken for it.
    const int late = fetch(context, events + have, most - have);
    if (late > 0) have += late;
    const int64_t passed = timeout != nullptr ? now_ns() - begin : 0;
    if (have >= least || (timeout != nullptr && passed >= given)) return have;
    if (timeout != nullptr) wait = {(given - passed) / 1000000000, (given - passed) % 1000000000};
  }
}

namespace serve {

// Returns true for a request on another file, and for one that cannot be read. The kernel gets
// both.
static bool is_others(struct iocb** requests, long i) {  // NOLINT(google-runtime-int)
  // Both addresses may be invalid, so they are numbers here.
  const auto place = reinterpret_cast<uintptr_t>(requests) + static_cast<size_t>(i) * sizeof(void*);
  uintptr_t request;
  uint32_t fd;
  if (user_memory::read(&request, reinterpret_cast<const void*>(place)) < 0) return true;
  request += offsetof(struct iocb, fd);
  return user_memory::read(&fd, reinterpret_cast<const void*>(request)) < 0 ||
         !table::is_covered(static_cast<int>(fd));
}

int io_submit(void* context, long count, struct iocb** requests) {
  if (table::covered_fds.load() == 0 || count <= 0 || !is_context(context))
    return call(SYS_io_submit, context, count, requests);
  long i = 0;  // NOLINT(google-runtime-int): libaio's type
  int error = 0;
  while (i < count && error == 0) {
    long others = 0;  // NOLINT(google-runtime-int)
    while (i + others < count && is_others(requests, i + others)) ++others;
    if (others > 0) {
      const int taken = call(SYS_io_submit, context, others, requests + i);
      if (taken > 0) i += taken;
      if (taken < others) error = taken < 0 ? taken : -EAGAIN;
      continue;
    }
    struct iocb request = {};
    if (user_memory::read(&request, requests[i]) < 0) error = -EFAULT;
    table::Use use(static_cast<int>(request.fd));
    if (!use) error = -EBADF;
    if (error == 0) error = check(use, request);
    if (error == 0) error = complete(context, requests[i], request, use);
    if (error == 0) ++i;
  }
  return i > 0 ? static_cast<int>(i) : error;
}

int io_getevents(void* context, long least, long most, struct io_event* events,
                 struct timespec* timeout) {
  return get_events(context, least, most, events, timeout,
                    [=](auto... rest) { return call(SYS_io_getevents, context, rest...); });
}

// The kernel takes the mask as libaio passes it.
struct SignalMask {
  const sigset_t* set;
  size_t size;
};

int io_pgetevents(void* context, long least, long most, struct io_event* events,
                  struct timespec* timeout, sigset_t* mask) {
  SignalMask with = {mask, sizeof(uint64_t)};
  return get_events(context, least, most, events, timeout,
                    [&](auto... rest) { return call(SYS_io_pgetevents, context, rest..., &with); });
}

int io_destroy(void* context) {
  place_of(context) = nullptr;
  const int done = call(SYS_io_destroy, context);
  if (done == 0) forget(context);
  return done;
}

}  // namespace serve

int by_number::io_pgetevents(void* context, long least, long most, struct io_event* events,
                             struct timespec* timeout, void* mask) {
  return get_events(context, least, most, events, timeout,
                    [=](auto... rest) { return call(SYS_io_pgetevents, context, rest..., mask); });
}

}  // namespace posix
