// Inode: 512 bytes in the inode table (docs/format/inode.md). Words that writers of the data path
// touch (size, locks) stand on other lines than those that readers need (shape, entries).
#pragma once

#include <cstdint>

#include "persist/core/word.h"

namespace cairn::format {

using persist::Word;

inline constexpr uint64_t inode_size = 512;
inline constexpr uint64_t inodes_per_block = 8;
inline constexpr uint64_t root_inode = 1;
inline constexpr uint64_t max_inode = (1ULL << 36) - 1;
// Inode numbers of the pool's own maps, as they stand in block records and entries.
inline constexpr uint64_t itable_number = max_inode;
inline constexpr uint64_t otable_number = max_inode - 1;
inline constexpr uint64_t ptable_number = max_inode - 2;
inline constexpr unsigned direct_entries = 8;
inline constexpr unsigned root_levels = 4;
inline constexpr uint64_t inline_bytes = 192;
// Words of a witness: what a file in lower was (file/namespace/witness.h). Pools without
// feature_witness have the first four.
inline constexpr unsigned witness_words = 7;
inline constexpr unsigned short_witness_words = 4;

// state: low 3 bits the state; above them the lock word of the seat that makes or frees the inode
// (allocating), or that is about to free it together with its last name (live).
inline constexpr unsigned state_bits = 3;
inline constexpr uint64_t inode_never = 0;
inline constexpr uint64_t inode_free = 1;
inline constexpr uint64_t inode_allocating = 2;
inline constexpr uint64_t inode_live = 3;
inline constexpr uint64_t inode_orphan = 4;  // its blocks wait to be freed

// flags
inline constexpr uint64_t flag_lazy = 1;        // contents still lie in lower
inline constexpr uint64_t flag_sealed = 2;      // reserved
inline constexpr uint64_t flag_mapped = 8;      // was mapped for writing: fsync flushes its data
inline constexpr uint64_t flag_companion = 16;  // it has a companion file for record locks
// The directory lies below a covered one: its names have room for a witness.
inline constexpr uint64_t flag_covered = 32;
// The file was cut while it was mapped: blocks beyond its end stay until no process has it mapped.
inline constexpr uint64_t flag_kept = 128;
// The file was made without a name (O_TMPFILE): it may get its first one.
inline constexpr uint64_t flag_nameless = 64;
// The nodes of a job are deciding which of them has it: a process that opens it waits.
inline constexpr uint64_t flag_moving = 256;
// The file was evicted: it is lazy, but for the other nodes of a job it still is this node's.
inline constexpr uint64_t flag_evicted = 512;
inline constexpr uint64_t flag_change = 4;  // an orphan made by truncate or punch, not by unlink

// lower_unit
// A drain has made the directory in lower and has not finished below it.
inline constexpr uint64_t unit_is_new = 1ULL << 63;
// The inode has lost the name in that slot. By now lower may have another file under the name, so
// the inode is not at home even if it gets the slot again.
inline constexpr uint64_t unit_was_left = 1ULL << 62;
inline constexpr uint64_t unit_bits = ~(unit_is_new | unit_was_left);

struct DirectoryWords {
  Word parent;
  Word entries;       // live names
  Word tail;          // units in use or free below it
  Word buckets;       // of the hash index, 0: none yet
  Word free_slot[7];  // heads by units (1..6): unit + 1
  Word reserved[5];
  Word commit_epoch;  // reserved for commits across nodes
  Word checksum_root;
  Word share_map;
  Word reserved2[4];
  Word lower_links;  // while the directory is lazy: its links in lower. 0: not known
};

struct FileWords {
  // Page media: the size at the last fsync, less what truncation has cut since.
  Word synced_size;
  Word unsynced;  // page media: 1 while entries are marked, or the size is not the synced one
  // While the file is lazy: units of 512 bytes that it takes up in lower, + 1. 0: not known.
  Word lower_units;
  Word mover;  // with flag_moving: the lock word of the seat that has set it
  // Counts those that succeeded: what one that fails took may have been promised to another one
  // meanwhile. Never flushed.
  Word preallocations;
  // If only its name has changed since lower had the same (file/namespace/moved.h): its ctime then
  // (0: no such note), `change` then, and the witness that the file had in lower.
  Word moved;
  Word moved_change;
  Word moved_lower[witness_words];
  Word reserved[10];
};

struct alignas(64) Inode {
  // line 0: read by every access, written by structural change only
  Word shape;  // odd while entries are cut, moved or joined
  Word state;
  Word mode;  // type and permissions, as st_mode
  Word flags;
  Word generation;  // counts the lives of this inode number
  Word owner;       // uid | gid << 32
  Word links;
  Word rdev;

  // line 1
  Word direct[direct_entries];  // file blocks 0..7

  // line 2: roots[l] covers file blocks [512^l, 512^(l+1)) with a node of level l + 1 digits
  Word root[root_levels];
  Word atime;
  Word ctime;
  Word btime;
  Word quota;

  // line 3: written by extending writers
  Word size;
  Word mtime;
  Word change;  // counts changes, folded from the lanes' stamps
  Word append_lock;
  Word orphan_of;  // an orphan made by truncate or punch: whose blocks these were
  // If it was imported from lower or drained (tier/): the directory and the dirent's unit + 1 of
  // its name there, with the bits below, and the ctime at which it was last known to be the same
  // in lower.
  Word lower_parent;
  Word lower_unit;
  Word drained;

  // line 4: written by metadata calls
  Word lock;
  Word opens;   // open file descriptions, never too low
  Word stamps;  // bit i: a lane with number i mod 64 may hold time stamps for this inode
  Word orphan_next;
  Word orphan_epoch;  // which must have passed; 0: that of the next look at the orphan
  Word orphan_from;   // file blocks [from, to) of the map are to be freed
  Word orphan_to;
  Word xattr;  // entry of the block that holds the extended attributes

  // line 5-7: a symbolic link's text, a directory's words, or a regular file's
  union {
    uint8_t text[inline_bytes];
    DirectoryWords directory;
    FileWords file;
  };
};
static_assert(sizeof(Inode) == inode_size);

}  // namespace cairn::format
