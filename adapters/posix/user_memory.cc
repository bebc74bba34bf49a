#include "posix/user_memory.h"

#include <sys/syscall.h>
#include <sys/uio.h>

#include "posix/calls.h"

namespace posix::user_memory {

__thread Known known;
std::atomic<uint64_t> changes{1};

// False for page 0 and for the kernel's half of the addresses.
static bool is_possible(uintptr_t page) { return page != 0 && page <= INTPTR_MAX / kPage; }

static void remember(uintptr_t (&pages)[Known::kPlaces], uintptr_t page) {
  const uint64_t now = changes.load(std::memory_order_relaxed);
  if (known.changes != now) {
    memset(known.readable, 0, sizeof known.readable);
    memset(known.writable, 0, sizeof known.writable);
    known.changes = now;
  }
  pages[page % Known::kPlaces] = page;
}

static long word(const void* pointer) {  // NOLINT(google-runtime-int): the kernel's
  return reinterpret_cast<intptr_t>(pointer);
}

// rt_sigprocmask copies the set before it refuses the unknown operation.
bool ask(uintptr_t page) {
  if (!is_possible(page)) return false;
  const int before = errno;
  constexpr long kNothing = ~0;  // NOLINT(google-runtime-int)
  const auto done = real::syscall(SYS_rt_sigprocmask, kNothing, static_cast<long>(page * kPage), 0,
                                  sizeof(uint64_t), 0, 0);
  const bool is_readable = done == 0 || errno != EFAULT;
  errno = before;
  if (is_readable) remember(known.readable, page);
  return is_readable;
}

bool is_readable(const void* address, size_t size) {
  if (size == 0) return true;
  const auto start = reinterpret_cast<uintptr_t>(address);
  if (start + (size - 1) < start) return false;
  for (uintptr_t page = start / kPage; page <= (start + (size - 1)) / kPage; ++page) {
    if (!is_page_readable(page)) return false;
  }
  return true;
}

bool is_list(char* const* list) {
  constexpr size_t kMostText = 128 * 1024;  // the kernel's MAX_ARG_STRLEN
  if (list == nullptr) return true;
  for (;; ++list) {
    if (!is_readable(list, sizeof *list)) return false;
    if (*list == nullptr) return true;
    if (!is_text(*list, kMostText)) return false;
  }
}

int read(void* to, const void* from, size_t size) {
  if (!is_readable(from, size)) return -EFAULT;
  memcpy(to, from, size);
  return 0;
}

// Only a store tells whether a page can be written, so the kernel stores the result itself.
static int write_by_kernel(void* to, const void* from, size_t size) {
  const struct iovec source = {const_cast<void*>(from), size}, target = {to, size};
  const int before = errno;
  const auto done = real::syscall(SYS_process_vm_writev, getpid(), word(&source), 1, word(&target),
                                  1, 0);
  const int error = errno;
  errno = before;
  if (done >= 0) return static_cast<size_t>(done) == size ? 0 : -EFAULT;
  if (error == EFAULT) return -EFAULT;
  memcpy(to, from, size);  // the call is forbidden here
  return 0;
}

int write(void* to, const void* from, size_t size) {
  if (size == 0) return 0;
  if (__builtin_expect(is_known_writable(to, size), 1)) {
    memcpy(to, from, size);
    return 0;
  }
  const auto start = reinterpret_cast<uintptr_t>(to);
  if (start + (size - 1) < start) return -EFAULT;
  const uintptr_t first = start / kPage, last = (start + (size - 1)) / kPage;
  if (!is_possible(first) || !is_possible(last)) return -EFAULT;
  const int error = write_by_kernel(to, from, size);
  for (uintptr_t page = first; error == 0 && page <= last; ++page) remember(known.writable, page);
  return error;
}

}  // namespace posix::user_memory
