// The structures of the records VERSION and SET, of roots and parts, and their places in their
// files (docs/format/checkpoint.md).
#pragma once

#include <cstddef>
#include <cstdint>

#include "checkpoint/record/records.h"

namespace cairn::checkpoint {

inline constexpr char magic_version[] = "CAIRNVER";
inline constexpr char magic_set[] = "CAIRNSET";

inline constexpr uint32_t max_ranks_of_part = 1024;
inline constexpr uint32_t max_parts = 1U << 20;
inline constexpr uint32_t max_ranges = 12;
inline constexpr uint32_t max_slots = 4096;
inline constexpr uint64_t max_manifest = uint64_t{512} << 20;
inline constexpr uint64_t max_sequence = INT64_MAX;

struct RangeRecord {
  uint64_t from;
  uint64_t to;
};

struct VersionRecord {
  RecordHead head;
  uint8_t set[16];
  uint8_t run[16];
  uint64_t sequence;
  uint64_t parent;
  int64_t number;
  int64_t step;
  uint64_t begun;
  uint8_t layout[32];
  uint32_t ranks;
  uint32_t parts;
  uint32_t part;
  uint32_t part_ranks;
  uint64_t roots_offset;
  uint64_t parts_offset;
  uint64_t attributes_offset;
  uint32_t attributes_length;
  uint32_t range_count;
  uint64_t horizon;
  uint64_t base;
  uint8_t codec;
  uint8_t redundancy;
  uint8_t data;
  uint8_t parity;
  uint8_t reserved1[4];
  uint8_t holder[16];
  char code_version[64];
  RangeRecord ranges[max_ranges];
  uint64_t manifest_length;
  uint8_t reserved2[24];
};
static_assert(sizeof(VersionRecord) == 512 && offsetof(VersionRecord, sequence) == 64 &&
              offsetof(VersionRecord, layout) == 104 && offsetof(VersionRecord, ranks) == 136 &&
              offsetof(VersionRecord, roots_offset) == 152 &&
              offsetof(VersionRecord, attributes_length) == 176 &&
              offsetof(VersionRecord, range_count) == 180 &&
              offsetof(VersionRecord, horizon) == 184 && offsetof(VersionRecord, codec) == 200 &&
              offsetof(VersionRecord, holder) == 208 &&
              offsetof(VersionRecord, code_version) == 224 &&
              offsetof(VersionRecord, ranges) == 288 &&
              offsetof(VersionRecord, manifest_length) == 480);

struct RootRecord {
  uint32_t rank;
  uint32_t flags;
  uint64_t sequence;
  uint64_t region_offset;
  uint64_t region_bytes;
  uint64_t extent_offset;
  uint64_t extent_bytes;
  uint32_t region_list_crc;
  uint32_t extent_list_crc;
  uint32_t directory;
  uint32_t reserved1;
  uint64_t block_table_offset;
  uint64_t block_table_bytes;
  uint8_t reserved2[44];
  uint32_t crc;
};
static_assert(sizeof(RootRecord) == 128 && offsetof(RootRecord, region_list_crc) == 48 &&
              offsetof(RootRecord, block_table_offset) == 64 && offsetof(RootRecord, crc) == 124);

struct PartRecord {
  uint8_t pool[16];
  char host[64];
  char failure_domain[32];
  uint32_t first;
  uint32_t stride;
  uint32_t count;
  uint32_t flags;
  uint64_t bytes;
  uint32_t roots_crc;
  uint32_t error;
  uint32_t group;
  uint32_t role;
  uint32_t partner;
  uint8_t reserved[96];
  uint32_t crc;
};
static_assert(sizeof(PartRecord) == 256 && offsetof(PartRecord, first) == 112 &&
              offsetof(PartRecord, bytes) == 128 && offsetof(PartRecord, partner) == 152 &&
              offsetof(PartRecord, crc) == 252);
inline constexpr uint32_t part_is_irregular = 1;

// An entry for each counted variable, at the begin of an extent.
struct DirectoryRecord {
  uint32_t variable;
  uint32_t reserved;
  uint64_t elements;
  uint64_t offset;
  uint64_t bytes;
};
static_assert(sizeof(DirectoryRecord) == 32);

struct SetRecord {
  RecordHead head;
  uint8_t set[16];
  uint8_t pool[16];
  uint64_t created;
  uint32_t name_length;
  uint32_t reserved1;
  char name[64];
  uint8_t reserved2[112];
};
static_assert(sizeof(SetRecord) == 256 && offsetof(SetRecord, name) == 80);

// The places of words in a manifest.
inline constexpr uint64_t decision_offset = 512;
inline constexpr uint64_t attempts_offset = 520;
inline constexpr uint64_t verified_offset = 528;
inline constexpr uint64_t partner_offset = 536;
inline constexpr uint64_t global_offset = 544;
inline constexpr uint64_t roots_offset = 1024;

// The places in `set` of the second copy of its record, and of words.
inline constexpr uint64_t set_copy_offset = 2048;
// Durable: the sequence of the newest version that was committed in this pool, and its complement.
// A hint, which tells an unreadable slot of that version from one of an older version.
inline constexpr uint64_t set_newest_offset = 3072;
inline constexpr uint64_t set_lock_offset = 4096;
inline constexpr uint64_t set_run_offset = 4160;
inline constexpr uint64_t set_opening_offset = 4224;
inline constexpr uint64_t set_arrivals_offset = 4288;  // 64 bytes for even, 64 for odd sequences
inline constexpr uint64_t set_due_offset = 4416;
inline constexpr uint64_t set_meeting_offset = 4480;
inline constexpr uint64_t set_answers_offset = 4608;
inline constexpr uint64_t set_answers = 64;
inline constexpr uint64_t set_members_offset = 8192;  // 64 bytes a rank
inline constexpr uint64_t set_bytes = set_members_offset + 64 * uint64_t{max_ranks_of_part};

}  // namespace cairn::checkpoint
