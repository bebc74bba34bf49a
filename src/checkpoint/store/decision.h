// The decision word of a manifest: eight bytes say whether a version exists, and prove the bytes
// that were decided on.
#pragma once

#include <cstdint>

namespace cairn::checkpoint {

enum class Decision : uint8_t {
  none = 0,  // never decided
  committed = 0xc1,
  aborted = 0xa2,
  retired = 0xd3,
};

// Makes the word; the seal is 0 unless committed.
constexpr uint64_t decision_word(Decision decision, uint64_t sequence, uint32_t seal) {
  return static_cast<uint64_t>(decision) | (sequence & 0xffffff) << 8 | uint64_t{seal} << 32;
}
constexpr uint8_t decision_state(uint64_t word) { return static_cast<uint8_t>(word); }
constexpr uint32_t decision_seal(uint64_t word) { return static_cast<uint32_t>(word >> 32); }

// Returns true if the slot may be used for another version. A word that is neither free nor
// committed is damage.
constexpr bool is_free_word(uint64_t word) {
  if (word == 0) return true;
  const auto state = static_cast<Decision>(decision_state(word));
  return (state == Decision::aborted || state == Decision::retired) && decision_seal(word) == 0;
}
constexpr bool says_committed(uint64_t word) {
  return static_cast<Decision>(decision_state(word)) == Decision::committed;
}

}  // namespace cairn::checkpoint
