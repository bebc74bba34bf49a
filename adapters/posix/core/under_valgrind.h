// Asks whether the program runs under Valgrind, as valgrind.h does: by instructions without an
// effect, to which Valgrind gives one.
#pragma once

#include <stdint.h>

namespace posix {

inline bool is_under_valgrind() {
#if defined(__x86_64__)
  constexpr uint64_t kRunningOnValgrind = 0x1001;
  const volatile uint64_t request[6] = {kRunningOnValgrind, 0, 0, 0, 0, 0};
  uint64_t result = 0;
  __asm__ volatile(
      "rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
      "xchgq %%rbx, %%rbx"
      : "+d"(result)
      : "a"(&request[0])
      : "cc", "memory");
  return result != 0;
#else
  return false;
#endif
}

}  // namespace posix
