// POSIX asynchronous I/O. A request on a covered file is complete when the call returns: a copy in
// memory takes less time than handing it to a thread. aio_error, aio_return, aio_suspend and
// aio_cancel are the C library's own; they read the result from the request.
#include <pthread.h>
#include <signal.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/fd/table.h"
#include "posix/io/calls.h"
#include "posix/io/open.h"
#include "posix/io/program_write.h"
#include "posix/path/result.h"

namespace posix {

static void* run_notice(void* argument) {
  const auto* event = static_cast<const struct sigevent*>(argument);
  event->sigev_notify_function(event->sigev_value);
  return nullptr;
}

static void notify(const struct sigevent& event) {
  if (event.sigev_notify == SIGEV_SIGNAL) {
    sigqueue(getpid(), event.sigev_signo, event.sigev_value);
  } else if (event.sigev_notify == SIGEV_THREAD) {
    // POSIX promises a thread of its own. It ends before this function returns, so `event` may be
    // the caller's.
    pthread_t thread;
    if (pthread_create(&thread, nullptr, run_notice, const_cast<struct sigevent*>(&event)) == 0)
      pthread_join(thread, nullptr);
  }
}

static int complete(struct aiocb* request, ssize_t done) {
  request->__error_code = done < 0 ? static_cast<int>(-done) : 0;
  request->__return_value = done < 0 ? -1 : done;
  notify(request->aio_sigevent);
  return 0;
}

static bool has_priority(struct aiocb* request) {
  if (request->aio_reqprio >= 0 && request->aio_reqprio <= 20) return true;  // AIO_PRIO_DELTA_MAX
  request->__error_code = EINVAL;
  request->__return_value = -1;
  fail(-EINVAL);
  return false;
}

static ssize_t transfer(const table::Use& use, struct aiocb* request, bool write) {
  if (request->aio_offset < 0) return -EINVAL;
  auto* buffer = const_cast<void*>(request->aio_buf);
  auto offset = static_cast<uint64_t>(request->aio_offset);
  if (!write) return cairn_pread(use->file, buffer, request->aio_nbytes, offset);
  const bool append = (cairn_file_get_flags(use->file) & O_APPEND) != 0;
  const struct iovec piece = piece_of(buffer, request->aio_nbytes);
  return write_below_limit(use->file, &piece, 1, append ? kSharedOffset : request->aio_offset,
                           size_limit::Signal::no);
}

namespace serve {

int aio_read(struct aiocb* request) {
  table::Use use(request->aio_fildes);
  if (!use) return real::aio_read(request);
  return has_priority(request) ? complete(request, transfer(use, request, false)) : -1;
}

int aio_write(struct aiocb* request) {
  table::Use use(request->aio_fildes);
  if (!use) return real::aio_write(request);
  return has_priority(request) ? complete(request, transfer(use, request, true)) : -1;
}

int aio_fsync(int operation, struct aiocb* request) {
  table::Use use(request->aio_fildes);
  if (!use) return real::aio_fsync(operation, request);
  if (operation != O_DSYNC && operation != O_SYNC) return fail(-EINVAL);
  if (is_path(use)) return complete(request, -EBADF);
  return complete(request,
                  operation == O_DSYNC ? cairn_fdatasync(use->file) : cairn_fsync(use->file));
}

int lio_listio(int mode, struct aiocb* const* list, int count, struct sigevent* event) {
  if (mode != LIO_WAIT && mode != LIO_NOWAIT) return fail(-EINVAL);
  bool any = false;
  for (int i = 0; i < count; ++i)
    any = any || (list[i] != nullptr && table::is_covered(list[i]->aio_fildes));
  if (!any) return real::lio_listio(mode, list, count, event);
  bool failed = false;
  for (int i = 0; i < count; ++i) {
    struct aiocb* request = list[i];
    if (request == nullptr || request->aio_lio_opcode == LIO_NOP) continue;
    if (!table::is_covered(request->aio_fildes)) {
      refuse("lio_listio on covered and other files together", nullptr, ENOTSUP);
      return -1;
    }
    request->aio_lio_opcode == LIO_READ ? serve::aio_read(request) : serve::aio_write(request);
    failed = failed || request->__error_code != 0;
  }
  if (mode == LIO_NOWAIT && event != nullptr) notify(*event);
  return failed && mode == LIO_WAIT ? fail(-EIO) : 0;
}

}  // namespace serve
}  // namespace posix
