// History: the events that the crash simulator records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace cairn::persist {

enum class EventKind : uint8_t {
  word,   // 8 bytes, atomic
  bulk,   // copy or zero: counts as flushed when issued, may be torn between 8-byte words
  flush,  // the lines of a range start their way
  fence,  // what this CPU flushed has arrived
  drop,   // what this CPU flushed stays where it is
};

struct Event {
  EventKind kind = EventKind::fence;
  uint16_t cpu = 0;
  uint32_t region = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  const uint8_t* bytes = nullptr;  // bulk: what was stored, kept by the History
  uint64_t value = 0;              // word: what it holds afterwards
};

struct History {
  std::deque<Event> events;  // appending moves none: crash images point into them
  std::deque<std::vector<uint8_t>> bulk;

  const uint8_t* keep(const void* bytes, size_t size) {
    const auto* first = static_cast<const uint8_t*>(bytes);
    bulk.emplace_back(first, first + size);
    return bulk.back().data();
  }
  void clear() {
    events.clear();
    bulk.clear();
  }
};

}  // namespace cairn::persist
