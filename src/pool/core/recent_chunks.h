// RecentChunks: the chunks in which a process freed blocks last, youngest first. Recently freed
// memory is warm: in the cache, and in the process's page tables. A hint: entries may be stale, and
// threads that push and pop concurrently may lose some.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace cairn::pool {

class RecentChunks {
 public:
  static constexpr uint64_t none = UINT64_MAX;

  RecentChunks() { clear(); }
  void push(uint64_t chunk) {
    const uint32_t top = top_.load(std::memory_order_relaxed);
    // Blocks are usually freed one after the other in one chunk.
    if (at(top - 1).load(std::memory_order_relaxed) == chunk) return;
    at(top).store(chunk, std::memory_order_relaxed);
    top_.store(top + 1, std::memory_order_relaxed);
  }
  uint64_t pop() {
    const uint32_t top = top_.load(std::memory_order_relaxed) - 1;
    const uint64_t chunk = at(top).exchange(none, std::memory_order_relaxed);
    if (chunk != none) top_.store(top, std::memory_order_relaxed);
    return chunk;
  }
  void clear() {
    for (auto& entry : entries_) entry.store(none, std::memory_order_relaxed);
  }

 private:
  static constexpr uint32_t capacity = 64;  // 128 MiB
  std::atomic<uint64_t>& at(uint32_t position) { return entries_[position % capacity]; }

  std::atomic<uint32_t> top_{0};
  std::array<std::atomic<uint64_t>, capacity> entries_;
};

}  // namespace cairn::pool
