#include "posix/libc/flush_remote.h"

#include <dlfcn.h>
#include <time.h>

#include "posix/fd/table.h"
#include "posix/job/job_files.h"
#include "posix/libc/stdio.h"

namespace posix {
namespace {

// Another thread uses the stream. Its call ends soon, or waits for an unknown time.
Flushed flush_soon(int fd) {
  constexpr int kAttempts = 500;
  constexpr timespec kPause = {0, 2'000'000};
  Flushed flushed = Flushed::kBusy;
  for (int i = 0; i < kAttempts && flushed == Flushed::kBusy; ++i) {
    if (i != 0) nanosleep(&kPause, nullptr);
    flushed = flush_stream_on(fd);
  }
  return flushed;
}

void flush_fortran_units() {
  using Flush = void (*)(const int* unit);  // libgfortran's FLUSH; null: all units
  void* const flush = dlsym(RTLD_DEFAULT, "_gfortran_flush_i4");
  if (flush != nullptr) reinterpret_cast<Flush>(flush)(nullptr);
}

}  // namespace

void flush_unwritten() {
  bool others = false;  // true: a written file has no stream of C's
  const int highest = table::highest.load();
  for (int fd = 0; fd <= highest; ++fd) {
    table::Use use(fd);
    if (use && job_files::is_written(*use.get())) others |= flush_soon(fd) == Flushed::kNoStream;
  }
  if (others) flush_fortran_units();
}

}  // namespace posix
