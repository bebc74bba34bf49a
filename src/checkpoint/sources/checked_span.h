// Checked spans: moves the bytes of a part only together with the check of their checksums.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "checkpoint/store/manifest.h"

namespace cairn::checkpoint {

// A region or extent with its list: its place, and its bytes before the list.
struct Span {
  uint64_t offset;
  uint64_t bytes;
  uint32_t list_crc;
};
std::vector<Span> spans_of(const Manifest& manifest);

// A flag that another thread sets to end a pass over blocks with ECANCELED. Null: there is no such
// thread.
using Stop = const std::atomic<bool>*;
inline bool is_stopped(Stop stop) {
  return stop != nullptr && stop->load(std::memory_order_relaxed);
}

using SpanReader = std::function<Status(void* to, uint64_t size, uint64_t offset)>;
using SpanWriter = std::function<Status(const void* from, uint64_t size, uint64_t offset)>;

// Reads all bytes of a span and compares them with their checksums on the way. Then passes them to
// `write`, which may be empty. EUCLEAN: they differ.
Status pass(const Span& span, uint64_t block_bytes, const SpanReader& read, const SpanWriter& write,
            std::vector<uint8_t>* buffer, Stop stop = nullptr);

}  // namespace cairn::checkpoint
