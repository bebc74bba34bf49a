// First touch: when to copy through the kernel, and when to populate.
//
// On a medium with 4 KiB pages a process pays for mapping each page, and how much depends on what
// the page has been through (measured, docs/design/persist.md):
//   a page that holds data   a write fault 0.9 µs; but one *read* fault maps 16 neighbours
//   writable,
//                            and MADV_POPULATE_READ a chunk for 0.12 µs a page
//   a page only reserved     1.0–1.9 µs by any fault, because the kernel zeroes it first, while a
//                            whole-page pwrite never zeroes (0.9 µs, copy included)
// So: while a chunk is cold, whole pages go through the kernel and smaller pieces through the
// mapping; each is charged to the chunk. When the charges say that the chunk is in use, mincore()
// tells how many of its pages hold data, and as soon as populating costs no more than what has been
// paid, the chunk is populated in one call and is warm from then on. That keeps the total within
// about twice of what an oracle would have paid, for any order of accesses.
//
// A chunk that has just been reserved holds no data in any page. Whoever fills it in sequence has
// no use for a look before that is done, nor for populating it unless it is used again: it starts
// with the charges of a first look.
//
// On a medium with 2 MiB pages the first store through the mapping makes the kernel zero all of the
// page. A first copy of 512 KiB and more goes through the kernel instead, which zeroes only what it
// does not copy to; a smaller one through the mapping, which is faster from the second piece on
// (measured).
//
// Warmth is one uint16_t per 2 MiB chunk, private to the process: 0 never touched, then charges,
// then `warm`. A forked child starts cold (its page tables are empty): the table is wiped at fork.
// Memory that went back to the system is mapped nowhere any more: a process that takes blocks of
// such a chunk makes it cold (Region::forget_warmth); one that only reads them meets faults on
// pages that hold data, for which a read maps 16 at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace cairn::persist::first_touch {

inline constexpr unsigned chunk_shift = 21;
inline constexpr uint64_t chunk_size = uint64_t{1} << chunk_shift;
inline constexpr uint16_t warm = 0xFFFF;

// From this size on, an access to a cold chunk goes through the kernel.
inline constexpr size_t kernel_copy_min = 4096;
// On a disk file every write-back makes the next store to a page fault again (5 µs): from this size
// on, writes to Granularity::page always go through the kernel.
inline constexpr size_t page_cache_write_min = 2048;
// Charges at which the state of the chunk's pages is looked at first.
inline constexpr uint16_t first_look = 32;
// From this size on, the first copy into an untouched page of 2 MiB goes through the kernel.
inline constexpr size_t large_page_kernel_min = size_t{512} << 10;

// A table for `size` bytes with every chunk cold, or null if there is no memory for it (then
// everything counts as warm: slower at first touch, never wrong).
uint16_t* create_table(size_t size);
void destroy_table(uint16_t* table, size_t size);

// Where a region's chunks lie and what the kernel may be asked to do with them.
struct MappedMemory {
  uint8_t* base;
  size_t size;
  bool writable;
  bool page_cache;  // mincore() tells which pages hold data (tmpfs, files; not dax)
};

// Charges an access of `size` bytes to the chunk that holds `offset`, and populates it when that
// has become the cheaper course. Failures to populate are left to the accesses themselves.
void charge(const MappedMemory& place, uint16_t* table, uint64_t offset, size_t size);

// Maps [offset, offset + size) into this process, whole pages; fails as madvise does, with EIO for
// poisoned memory and ENOSPC where the medium has no room behind the mapping.
Status populate(const MappedMemory& place, uint64_t offset, size_t size);

}  // namespace cairn::persist::first_touch
