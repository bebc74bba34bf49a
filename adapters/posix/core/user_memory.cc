#include "posix/core/user_memory.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "posix/core/calls.h"
#include "posix/core/under_valgrind.h"

namespace posix::user_memory {

__thread Known known;
std::atomic<uint64_t> changes{1};

// Excludes page 0 and the kernel's half of the addresses.
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

// Reads a byte of the page by a call that Valgrind does not check. For rt_sigprocmask Valgrind
// reports an unknown operation, and a mask that the program has not written.
static long read_under_valgrind(uintptr_t page) {  // NOLINT(google-runtime-int): the kernel's
  char byte;
  const struct iovec target = {&byte, 1}, source = {reinterpret_cast<void*>(page * kPage), 1};
  const auto done =
      real::syscall(SYS_process_vm_readv, getpid(), word(&target), 1, word(&source), 1, 0);
  return done < 0 ? done : 0;
}

// Asks by rt_sigprocmask, which copies the set before it refuses the unknown operation.
bool ask(uintptr_t page) {
  if (!is_possible(page)) return false;
  const int before = errno;
  constexpr long kNothing = ~0;  // NOLINT(google-runtime-int)
  const auto done = is_under_valgrind()
                        ? read_under_valgrind(page)
                        : real::syscall(SYS_rt_sigprocmask, kNothing,
                                        static_cast<long>(page * kPage), 0, sizeof(uint64_t), 0, 0);
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

// Returns true if the kernel can store the signal mask at `place`. No other harmless call tells
// whether memory can be written.
static bool takes_mask(uintptr_t place) {
  const int before = errno;
  const auto done = real::syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, static_cast<long>(place),
                                  sizeof(uint64_t), 0, 0);
  const bool takes = done == 0 || errno != EFAULT;
  errno = before;
  return takes;
}

// The kernel stores the result itself, because it is shorter than a signal mask.
static int write_by_kernel(void* to, const void* from, size_t size) {
  const struct iovec source = {const_cast<void*>(from), size}, target = {to, size};
  const int before = errno;
  const auto done =
      real::syscall(SYS_process_vm_writev, getpid(), word(&source), 1, word(&target), 1, 0);
  const int error = errno;
  errno = before;
  if (done >= 0) return static_cast<size_t>(done) == size ? 0 : -EFAULT;
  if (error == EFAULT) return -EFAULT;
  memcpy(to, from, size);  // process_vm_writev is forbidden here
  return 0;
}

int write(void* to, const void* from, size_t size) {
  if (size == 0) return 0;
  if (__builtin_expect(is_known_writable(to, size), 1)) {
    memcpy(to, from, size);
    return 0;
  }
  constexpr size_t kMask = sizeof(uint64_t);
  const auto start = reinterpret_cast<uintptr_t>(to);
  const uintptr_t last = start + (size - 1);
  if (last < start || !is_possible(start / kPage) || !is_possible(last / kPage)) return -EFAULT;
  if (size < kMask) {
    if (int error = write_by_kernel(to, from, size); error < 0) return error;
  }
  for (uintptr_t page = start / kPage; page <= last / kPage; ++page) {
    // The mask covers the first bytes of the page that are to be overwritten; at the end, the last
    // ones.
    uintptr_t place = page * kPage < start ? start : page * kPage;
    if (place > last - (kMask - 1)) place = last - (kMask - 1);
    if (size >= kMask && !takes_mask(place)) return -EFAULT;
    remember(known.writable, page);
  }
  if (size >= kMask) memcpy(to, from, size);
  return 0;
}

}  // namespace posix::user_memory
