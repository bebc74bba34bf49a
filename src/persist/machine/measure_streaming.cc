#include "persist/machine/measure_streaming.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <ctime>

#include "persist/copy/avx2_copy.h"
#include "persist/copy/streaming.h"
#include "persist/machine/machine.h"

namespace cairn::persist {
namespace {

constexpr size_t measured_bytes = size_t{128} << 10;
constexpr size_t smallest = 4096;
constexpr size_t largest = size_t{64} << 10;
constexpr int rounds = 5;

uint64_t now_ns() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

// Returns the nanoseconds for filling `target` in pieces, the quickest of some rounds, each on
// flushed lines.
uint64_t time_pieces(uint8_t* target, const Backend& flusher, const uint8_t* source, size_t piece,
                     bool streamed) {
  RegionState state;
  uint64_t best = UINT64_MAX;
  for (int round = 0; round < rounds; ++round) {
    flusher.flush(state, target, measured_bytes, Site());
    flusher.fence(state, Site()).ignore();
    uint64_t begin = now_ns();
    for (size_t at = 0; at < measured_bytes; at += piece) {
      if (streamed) {
        flusher.copy(state, target + at, source, piece).ignore();
      } else {
        copy_bytes(target + at, source, piece);
      }
    }
    best = std::min(best, now_ns() - begin);
  }
  return best;
}

}  // namespace

size_t measure_stream_min() {
  // clwb may leave the line in the cache; the older instructions do not, as the measurement needs.
  X86Features features = x86_features();
  features.clwb = false;
  const Backend* flusher = x86_64_backend(Granularity::cache_line, features);
  if (flusher == nullptr) return SIZE_MAX;
  size_t size = measured_bytes + largest;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return default_stream_min;
  auto* const target = static_cast<uint8_t*>(memory);
  const uint8_t* source = target + measured_bytes;
  size_t found = SIZE_MAX;
  // The loop goes from the largest size down to the first that gains nothing.
  for (size_t piece = largest; piece >= smallest; piece /= 2) {
    uint64_t cached = time_pieces(target, *flusher, source, piece, false);
    uint64_t streamed = time_pieces(target, *flusher, source, piece, true);
    if (streamed * 100 > cached * 97) break;
    found = piece;
  }
  munmap(memory, size);
  return found;
}

}  // namespace cairn::persist
