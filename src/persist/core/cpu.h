// Facts about this processor, asked once, that choose copies, stores and flushes.
#pragma once

namespace cairn::persist {

// All false on anything but x86-64.
struct X86Features {
  bool avx2 = false;
  bool avx512 = false;
  bool clflushopt = false;
  bool clwb = false;
  bool sse4a = false;  // which only AMD's have
};
X86Features x86_features();

// Whether a small write of a sequence should ask for the memory of the next one. Intel's
// prefetchers lose the sequence between two calls. AMD's do not, and requests are in their way
// (prefetching_copy.h, for reads).
extern const bool calls_fetch_ahead;

}  // namespace cairn::persist
