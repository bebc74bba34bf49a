// Lane: one process's place in a pool, with a seat for each of its threads inside a call
// (docs/format/lane.md). All of it is rebuilt or void after a power loss, but for the redo records.
#pragma once

#include <cstdint>

#include "format/layout.h"

namespace cairn::format {

// A redo record: words to be stored, as one atomic change (docs/format/lane.md).
inline constexpr unsigned redo_words = 44;
struct RedoStep {
  Word address;  // segment << 40 | byte offset in the segment
  Word value;
};
struct Redo {
  Word head;  // 0: none; else count (1..44) | crc32c of the steps << 32
  Word reserved;
  RedoStep step[redo_words];
};
static_assert(sizeof(Redo) == 720);

// Blocks that a seat is taking, has taken but not yet published, or is freeing.
//   run:  0-39 first block, 40-49 count - 1, 50-52 level, 53-55 phase
//   phase 1 taking; 2 freeing, entries not yet all cleared; 3 freeing, records free;
//   4 releasing: a whole chunk whose memory goes back to the system
constexpr uint64_t in_flight_run(BlockRef first, uint32_t count, unsigned level, unsigned phase) {
  return first.value | static_cast<uint64_t>(count - 1) << 40 | static_cast<uint64_t>(level) << 50 |
         static_cast<uint64_t>(phase) << 53;
}
constexpr BlockRef in_flight_first(uint64_t run) { return {run & ((1ULL << 40) - 1)}; }
constexpr uint32_t in_flight_count(uint64_t run) {
  return static_cast<uint32_t>((run >> 40) & 0x3ff) + 1;
}
constexpr unsigned in_flight_level(uint64_t run) { return (run >> 50) & 7; }
constexpr unsigned in_flight_phase(uint64_t run) { return (run >> 53) & 7; }
inline constexpr unsigned phase_taking = 1;
inline constexpr unsigned phase_freeing = 2;
inline constexpr unsigned phase_freed = 3;
inline constexpr unsigned phase_releasing = 4;
inline constexpr unsigned level_leaf = 7;  // freeing: one entry names the whole run

struct InFlight {
  Word run;
  Word inode;
  Word file_block;  // first file block; with phases 2 and 3 the address of the first entry
};
inline constexpr unsigned in_flight_slots = 8;

struct alignas(64) Seat {
  // line 0: stored by its thread at every call, read by threads that wait for it
  Word epoch;    // 0: not inside a call
  Word writing;  // inode whose map this seat may be storing through, 0: none
  Word reserved0[6];
  // line 1: notes for recovery
  Word extending_inode;  // bytes beyond the end of file that this seat may have written
  Word extending_from;
  Word extending_to;
  Word allocating_inode;  // an inode in state allocating
  Word shaped[4];         // inodes whose shape this seat has made odd
  InFlight in_flight[in_flight_slots];
  Redo redo;
};
static_assert(sizeof(Seat) == 1088);

// A time stamp of an inode that this lane wrote to.
struct Stamp {
  Word inode;  // 0: slot is free
  Word mtime;
};
inline constexpr unsigned lane_stamps = 24;

struct alignas(64) Lane {
  // generation << 1 | attached. Raised at every attach and recovery; locks of older ones are void.
  Word generation;
  Word pid;  // a hint for people
  Word command[4];
  Word exec_note;  // 1: kept by an exec descriptor, see docs/format/lane.md
  Word reserved0;
  Stamp stamp[lane_stamps];
  Word reserved[8];
  Seat seat[seats_per_lane];
  Word padding[8];
};
static_assert(sizeof(Lane) == lane_size);

}  // namespace cairn::format
