// Kinds of distributions: facts about each kind of cairn/kinds.def.
#pragma once

#include <cstdint>

namespace cairn::cli {

// Says what determines the number of a rank's elements; cairn/kinds.def explains each.
enum class Counting : uint8_t { by_layout, by_lists, by_keys, by_rank };

struct KindFacts {
  uint32_t kind;  // enum cairn_distribution_kind
  Counting counting;
  const char* word;    // in JSON and in exported files
  const char* listed;  // in `cairn ckpt show`; "": nothing
};

inline constexpr KindFacts all_kinds[] = {
#define CAIRN_KIND(NAME, number, counting, stored, word, listed, text) \
  {number, Counting::counting, word, listed},
#include "cairn/kinds.def"
};

// Returns the facts of a kind that libcairn, which is part of the command, reports.
constexpr const KindFacts& facts_of(uint32_t kind) {
  const KindFacts* facts = all_kinds;
  for (const KindFacts& one : all_kinds)
    if (one.kind == kind) facts = &one;
  return *facts;
}

}  // namespace cairn::cli
