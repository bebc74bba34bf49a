// Word: 64 bits of pool memory that any code may load and only `persist` may store.
//
// All structures on a medium consist of Words (and of byte ranges, which Region::copy writes). A
// plain assignment to pool memory does not compile, so no store, flush or fence can be forgotten by
// accident outside this folder. Loads are acquire unless the caller asks otherwise.
#pragma once

#include <cstdint>
#include <type_traits>

namespace cairn::persist {

class Region;

// Prefetches the cache line of a coming store, so that the store (and a locked instruction behind
// it) need not wait for it. Any address is allowed.
inline void prefetch_for_store(const void* address) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

class alignas(8) Word {
 public:
  Word() = default;
  Word(const Word&) = delete;
  Word& operator=(const Word&) = delete;

  [[nodiscard]] uint64_t load() const { return __atomic_load_n(&value_, __ATOMIC_ACQUIRE); }
  [[nodiscard]] uint64_t load_relaxed() const { return __atomic_load_n(&value_, __ATOMIC_RELAXED); }

 private:
  friend class Region;
  uint64_t value_;
};

// Orders loads before it before loads after it, for a reader that reads memory without a lock and
// then checks whether it was changed meanwhile. ThreadSanitizer knows no fences, and gcc refuses
// them there.
inline void read_barrier() {
#if defined(__SANITIZE_THREAD__)
  __asm__ volatile("" ::: "memory");
#else
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

static_assert(sizeof(Word) == 8 && std::is_standard_layout_v<Word> && std::is_trivial_v<Word>);

}  // namespace cairn::persist
