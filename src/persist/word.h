// Word: 64 bits of pool memory that anyone may load and only `persist` may store.
//
// All structures on a medium are made of Words (and of byte ranges, which are written by
// Region::copy). A plain assignment to pool memory does not compile, so no store, flush or fence can
// be forgotten by accident outside this folder. Loads are acquire unless asked otherwise.
#pragma once

#include <cstdint>
#include <type_traits>

namespace cairn::persist {

class Region;

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

static_assert(sizeof(Word) == 8 && std::is_standard_layout_v<Word> && std::is_trivial_v<Word>);

}  // namespace cairn::persist
