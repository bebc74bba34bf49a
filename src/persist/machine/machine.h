// The backends of this machine: how its processor and its kernel bring stores to a medium.
#pragma once

#include <cstdint>

#include "persist/core/backend.h"
#include "persist/core/cpu.h"
#include "persist/core/granularity.h"

namespace cairn::persist {

// The best machine backend for this CPU and granularity (Granularity::none included); never null.
const Backend* machine_backend(Granularity granularity);

// The implementations behind it. page_backend: msync (any CPU, any medium that is mapped from a
// file). generic_backend: portable C++ for volatile memory.
extern const Backend page_backend;
extern const Backend generic_backend;
// Returns the backend for this CPU, or for one with given features (tests); null on anything but
// x86-64.
const Backend* x86_64_backend(Granularity granularity);
const Backend* x86_64_backend(Granularity granularity, X86Features features);

// Does `operation` with the CPU's own atomic instruction; for recorders, which must act as well as
// record.
uint64_t perform(uint64_t* word, WordOperation operation, uint64_t value, uint64_t expected);

}  // namespace cairn::persist
