#include "persist/region/write_window.h"

#include <sys/mman.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cerrno>
#include <cstring>

namespace cairn::persist {

namespace detail {
constinit int write_key = 0;
}

#if defined(__x86_64__)

namespace {

// Each key has two bits: no access, no writing.
uint32_t no_access(int key) { return 1U << (2 * key); }
uint32_t no_writing(int key) { return 2U << (2 * key); }

// The instructions are given by their bytes, so that no compiler flag is needed; the memory clobber
// keeps stores inside.
uint32_t read_rights() {
  uint32_t low = 0;
  uint32_t high = 0;
  asm volatile(".byte 0x0f,0x01,0xee" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}
void write_rights(uint32_t rights) {
  asm volatile(".byte 0x0f,0x01,0xef" : : "a"(rights), "c"(0), "d"(0) : "memory");
}

// Checks for keys, because the kernel also returns ENOSPC when there are none at all.
bool has_keys() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned switched_on = 1U << 4;  // OSPKE
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & switched_on) != 0;
}

}  // namespace

Status switch_on_write_window() {
  if (detail::write_key != 0) return Status();
  const int key = pkey_alloc(0, PKEY_DISABLE_WRITE);
  if (key <= 0) {
    if (errno == ENOSPC && has_keys())
      return fail(ENOSPC, "write window: the program has used up the memory protection keys");
    return fail(EOPNOTSUPP,
                "write window: this processor or kernel has no memory protection keys (pku in "
                "/proc/cpuinfo); attach without it");
  }
  int none = 0;
  // Another thread was faster: its key counts.
  if (!__atomic_compare_exchange_n(&detail::write_key, &none, key, false, __ATOMIC_SEQ_CST,
                                   __ATOMIC_SEQ_CST))
    pkey_free(key);
  return Status();
}

Status protect(void* base, size_t size, bool writable) {
  if (detail::write_key == 0) return Status();
  const int protection = PROT_READ | (writable ? PROT_WRITE : 0);
  if (pkey_mprotect(base, size, protection, detail::write_key) == 0) return Status();
  const int error = errno;
  return fail(error, "write window over %zu bytes: %s", size, std::strerror(error));
}

uint64_t WriteWindow::open() {
  const uint32_t before = read_rights();
  write_rights(before & ~(no_access(detail::write_key) | no_writing(detail::write_key)));
  return before;
}

void WriteWindow::close(uint64_t before) {
  // An inner window leaves the outer one open; else reading stays allowed, so that views can be
  // read.
  const bool was_open =
      (before & (no_access(detail::write_key) | no_writing(detail::write_key))) == 0;
  const uint32_t now = read_rights();
  if (!was_open) write_rights(now | no_writing(detail::write_key));
}

#else

Status switch_on_write_window() {
  return fail(EOPNOTSUPP, "write window: memory protection keys are served on x86-64 only");
}
Status protect(void*, size_t, bool) { return Status(); }
uint64_t WriteWindow::open() { return never_opened; }
void WriteWindow::close(uint64_t) {}

#endif

}  // namespace cairn::persist
