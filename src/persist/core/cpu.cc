#include "persist/core/cpu.h"

#if defined(__x86_64__)

#include <cpuid.h>

#include <cstdint>

#include "base/at_start.h"
#include "base/cpu_features.h"

namespace cairn::persist {

#if CAIRN_LIBC_KNOWS_CPU
CAIRN_DATA_AT_START const bool calls_fetch_ahead = !CPU_FEATURE_PRESENT(SSE4A);
#else
const bool calls_fetch_ahead = true;
#endif

CAIRN_CODE_AT_START X86Features x86_features() {
  X86Features features;
#if CAIRN_LIBC_KNOWS_CPU
  features.avx2 = CPU_FEATURE_ACTIVE(AVX2);
  features.avx512 = CPU_FEATURE_ACTIVE(AVX512F);
  features.clflushopt = CPU_FEATURE_PRESENT(CLFLUSHOPT);
  features.clwb = CPU_FEATURE_PRESENT(CLWB);
  features.sse4a = CPU_FEATURE_PRESENT(SSE4A);
#else
  // Not __builtin_cpu_supports: it has a constructor in every program that this is loaded into.
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  uint64_t enabled = 0;  // register states that the system saves
  if (__get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_OSXSAVE) != 0) {
    uint32_t low = 0;
    uint32_t high = 0;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    enabled = static_cast<uint64_t>(high) << 32 | low;
  }
  constexpr uint64_t ymm = 0x6;
  constexpr uint64_t zmm = 0xe6;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
    features.avx2 = (b & bit_AVX2) != 0 && (enabled & ymm) == ymm;
    features.avx512 = (b & bit_AVX512F) != 0 && (enabled & zmm) == zmm;
    features.clflushopt = (b & bit_CLFLUSHOPT) != 0;
    features.clwb = (b & bit_CLWB) != 0;
  }
  if (__get_cpuid(0x80000001, &a, &b, &c, &d) != 0) features.sse4a = (c & bit_SSE4a) != 0;
#endif
  return features;
}

}  // namespace cairn::persist

#else

namespace cairn::persist {
const bool calls_fetch_ahead = true;
X86Features x86_features() { return X86Features(); }
}  // namespace cairn::persist

#endif
