// The structures of the records DECOMPOSITION and LAYOUT (docs/format/checkpoint.md). They are
// copied out of records and into them, never read in place, because records need not be aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/sha256.h"

namespace cairn::checkpoint {

inline constexpr uint32_t format_version = 1;

struct RecordHead {
  char magic[8];
  uint32_t version;
  uint32_t crc;
  uint64_t length;
  uint32_t incompatible;
  uint32_t compatible;
};
static_assert(sizeof(RecordHead) == 32 && offsetof(RecordHead, length) == 16);

struct DecompositionRecord {
  RecordHead head;
  uint8_t kind;
  uint8_t dimensions;
  uint8_t owner;
  uint8_t rank_order;
  uint32_t ranks;
  uint64_t entries;
  uint8_t reserved[16];
};
static_assert(sizeof(DecompositionRecord) == 64 && offsetof(DecompositionRecord, entries) == 40);

struct GridRecord {
  uint32_t pieces;
  uint32_t rule;
};
static_assert(sizeof(GridRecord) == 8);

// A dimension of kind 4.
struct DarrayRecord {
  uint32_t processes;
  uint32_t kind;
  uint64_t argument;
  friend bool operator==(const DarrayRecord&, const DarrayRecord&) = default;
};
static_assert(sizeof(DarrayRecord) == 16);

// An entry of kind 3. One offset per dimension follows, then one count per dimension.
struct BoxRecord {
  uint32_t rank;
  uint32_t reserved;
};
static_assert(sizeof(BoxRecord) == 8);
constexpr uint64_t box_record_bytes(unsigned dimensions) {
  return sizeof(BoxRecord) + uint64_t{16} * dimensions;
}

struct LayoutRecord {
  RecordHead head;
  uint32_t variables;
  uint32_t decompositions;
  uint32_t ranks;
  uint8_t block_shift;
  uint8_t packing_rule;
  uint8_t reserved1[2];
  uint32_t pack_limit;
  uint32_t alignment;
  uint64_t heap_offset;
  uint64_t heap_length;
  uint8_t reserved2[24];
};
static_assert(sizeof(LayoutRecord) == 96 && offsetof(LayoutRecord, pack_limit) == 48 &&
              offsetof(LayoutRecord, heap_offset) == 56);

struct VariableRecord {
  uint32_t name_offset;
  uint16_t name_length;
  uint8_t type;
  uint8_t flags;
  uint64_t element_size;
  uint32_t decomposition;
  uint8_t dimensions;
  uint8_t reserved1[3];
  uint8_t order[16];
  uint16_t halo_low[16];
  uint16_t halo_high[16];
  uint32_t over;
  uint32_t key;
  uint32_t attributes_offset;
  uint32_t attributes_length;
  uint32_t aliases_offset;
  uint32_t aliases_length;
  uint8_t reserved2[32];
};
static_assert(sizeof(VariableRecord) == 160 && offsetof(VariableRecord, order) == 24 &&
              offsetof(VariableRecord, over) == 104 &&
              offsetof(VariableRecord, attributes_offset) == 112 &&
              offsetof(VariableRecord, reserved2) == 128);

inline constexpr uint8_t variable_is_required = 1;

struct AttributeRecord {
  uint16_t key_length;
  uint8_t type;
  uint8_t reserved;
  uint32_t count;
};
static_assert(sizeof(AttributeRecord) == 8);

inline constexpr char magic_decomposition[] = "CAIRNDEC";
inline constexpr char magic_layout[] = "CAIRNLAY";

// Returns a copy of the structure at `from`; the caller has checked the bounds.
template <typename Record>
Record record_at(const void* from) {
  Record record;
  std::memcpy(&record, from, sizeof record);
  return record;
}

}  // namespace cairn::checkpoint
