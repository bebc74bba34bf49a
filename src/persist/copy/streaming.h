// Streaming: decides when a copy into volatile memory goes past the cache.
//
// Stores past the cache save the read of the line that is about to be overwritten, which is half of
// a large copy's cost. But each such copy has to wait for its data to leave the core, and the bytes
// are not in the cache for the next reader. So large pieces are always streamed, small pieces
// never, and those in between when they continue a run of this thread that is longer than a program
// keeps hot. The size from which streaming pays differs much between machines (2 KiB on one, more
// than 4 KiB on another): measure_stream_min() measures it (measure_streaming.h), for a pool to
// remember.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::persist {

// The minimum where no measurement exists.
inline constexpr size_t default_stream_min = 4096;
// A piece of this size is streamed, whatever came before it.
inline constexpr size_t stream_always = size_t{32} << 10;
// The length of a run from which on its pieces are streamed.
inline constexpr size_t stream_run_min = size_t{64} << 10;

namespace detail {
struct StreamRun {
  const uint8_t* end;
  size_t size;
};
// Initial-exec: a preloaded library must not make the dynamic linker allocate on first use.
extern constinit thread_local StreamRun stream_run __attribute__((tls_model("initial-exec")));
}  // namespace detail

// Returns true if this thread's copy of `size` bytes (at least the stream minimum) to `to` is to be
// streamed; updates the thread's run.
inline bool continues_stream(const uint8_t* to, size_t size) {
  detail::StreamRun& run = detail::stream_run;
  run.size = to == run.end ? run.size + size : size;
  run.end = to + size;
  return size >= stream_always || run.size > stream_run_min;
}

}  // namespace cairn::persist
