// libaio. A request on a covered file is done when io_submit returns; its event waits here until
// io_getevents fetches it, before those of the kernel. The system calls themselves stand for libaio's functions,
// which may lie in a library that only a plug-in has loaded.
#include <stdlib.h>
#include <sys/syscall.h>

#include "posix/calls.h"
#include "posix/log.h"
#include "posix/process.h"
#include "posix/put.h"
#include "posix/table.h"

// libaio's request and event (libaio.h), which are the kernel's.
struct iocb {
  void* data;
  uint32_t key;
  uint32_t flags;
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
Done* first;
Done** last = &first;
std::atomic<int> waiting{0};
}  // namespace

void after_fork::free_requests() { pthread_mutex_init(&mutex, nullptr); }

static ssize_t perform(const table::Use& use, const struct iocb& request) {
  cairn_file* file = use->file;
  auto offset = static_cast<uint64_t>(request.offset);
  bool transfers = request.operation != kSync && request.operation != kDataSync;
  if (transfers && request.offset < 0) return -EINVAL;
  bool append = (cairn_file_get_flags(file) & O_APPEND) != 0;
  switch (request.operation) {
    case kRead:
      return cairn_pread(file, request.buffer, request.count, offset);
    case kWrite:
      return append ? put(file, request.buffer, request.count)
                    : put_at(file, request.buffer, request.count, offset);
    case kReadVector:
      return cairn_preadv(file, request.vector, static_cast<int>(request.count), offset);
    case kWriteVector:
      return put(file, request.vector, static_cast<int>(request.count),
                 append ? kSharedOffset : request.offset);
    case kSync:
      return cairn_fsync(file);
    case kDataSync:
      return cairn_fdatasync(file);
    default:
      return -EINVAL;
  }
}

static int complete(void* context, struct iocb* request, const table::Use& use) {
  auto* done = static_cast<Done*>(malloc(sizeof(Done)));
  if (done == nullptr) return -EAGAIN;
  *done = {context, {request->data, request, perform(use, *request), 0}, nullptr};
  pthread_mutex_lock(&mutex);
  *last = done;
  last = &done->next;
  waiting.fetch_add(1);
  pthread_mutex_unlock(&mutex);
  if ((request->more_flags & kTellEventFd) != 0) {
    uint64_t one = 1;
    if (real::write(static_cast<int>(request->event_fd), &one, sizeof one) < 0) return -errno;
  }
  return 0;
}

// Takes what is done for this context, at most `most`; nullptr: throws it away.
static long fetch(void* context, struct io_event* events, long most) {
  if (waiting.load() == 0) return 0;
  long count = 0;  // NOLINT(google-runtime-int): libaio's type
  pthread_mutex_lock(&mutex);
  for (Done** link = &first; *link != nullptr && count < most;) {
    Done* done = *link;
    if (done->context != context) {
      link = &done->next;
      continue;
    }
    *link = done->next;
    if (last == &done->next) last = link;
    if (events != nullptr) events[count] = done->event;
    ++count;
    waiting.fetch_sub(1);
    free(done);
  }
  pthread_mutex_unlock(&mutex);
  return count;
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

namespace serve {

int io_submit(void* context, long count, struct iocb** requests) {
  if (table::covered_fds.load() == 0) return call(SYS_io_submit, context, count, requests);
  for (long i = 0; i < count;) {  // NOLINT(google-runtime-int): libaio's type
    table::Use use(static_cast<int>(requests[i]->fd));
    int done = 1;
    if (use) {
      int error = complete(context, requests[i], use);
      if (error < 0) done = error;
    } else {
      long others = 1;
      while (i + others < count && !table::is_covered(static_cast<int>(requests[i + others]->fd)))
        ++others;
      done = call(SYS_io_submit, context, others, requests + i);
    }
    if (done <= 0) return i > 0 ? static_cast<int>(i) : done;
    i += done;
  }
  return static_cast<int>(count);
}

int io_getevents(void* context, long least, long most, struct io_event* events,
                 struct timespec* timeout) {
  long have = fetch(context, events, most);  // NOLINT(google-runtime-int): libaio's type
  if (have == most && most > 0) return static_cast<int>(have);
  struct timespec at_once = {0, 0};
  bool enough = have > 0 && have >= least;
  int more = call(SYS_io_getevents, context, enough ? 0 : least - have, most - have, events + have,
                  enough ? &at_once : timeout);
  if (more < 0) return have > 0 ? static_cast<int>(have) : more;
  return static_cast<int>(have) + more;
}

int io_destroy(void* context) {
  fetch(context, nullptr, LONG_MAX);
  return call(SYS_io_destroy, context);
}

}  // namespace serve
}  // namespace posix
