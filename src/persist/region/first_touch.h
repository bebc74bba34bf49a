// First touch: decides when to copy through the kernel, and when to populate.
//
// On a medium with 4 KiB pages a process pays for mapping each page. The price depends on the
// page's history (measured, docs/design/persist.md):
//   a page that holds data   a write fault 0.9 µs; but one *read* fault maps 16 neighbours
//                            writable, and MADV_POPULATE_READ a chunk for 0.12 µs a page
//   a page only reserved     1.0–1.9 µs by any fault, because the kernel zeroes it first, while a
//                            whole-page pwrite never zeroes (0.9 µs, copy included)
// So while a chunk is cold, whole pages go through the kernel and smaller pieces through the
// mapping; each is charged to the chunk. When the charges say that the chunk is in use, mincore()
// counts its pages that hold data. As soon as populating costs no more than what has been paid, the
// chunk is populated in one call and is warm from then on. That keeps the total within about twice
// of an oracle's, for any order of accesses.
//
// A chunk that has just been reserved holds no data in any page. A process that fills it in
// sequence needs no look before that is done, and no populating unless the chunk is used again: it
// starts with the charges of a first look.
//
// On a medium with 2 MiB pages the first store through the mapping makes the kernel zero all of the
// page. A first copy of 512 KiB and more goes through the kernel instead, which zeroes only what it
// does not copy to. A smaller one goes through the mapping, which is faster from the second piece
// on (measured).
//
// Warmth is one uint16_t per 2 MiB chunk, private to the process: 0 never touched, then charges,
// then `warm`. A forked child starts cold (its page tables are empty): the table is wiped at fork.
// Memory that went back to the system is no longer mapped. A process that takes blocks of such a
// chunk makes it cold (Region::forget_warmth). One that only reads them meets faults on pages that
// hold data, for which a read maps 16 at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace cairn::persist::first_touch {

inline constexpr unsigned chunk_shift = 21;
inline constexpr uint64_t chunk_size = uint64_t{1} << chunk_shift;
inline constexpr uint16_t warm = 0xFFFF;

// An access of this size to a cold chunk goes through the kernel.
inline constexpr size_t kernel_copy_min = 4096;
// Writes of this size to Granularity::page always go through the kernel: on a disk file every
// write-back makes the next store to a page fault again (5 µs).
inline constexpr size_t page_cache_write_min = 2048;
// The charges at which the state of the chunk's pages is looked at first.
inline constexpr uint16_t first_look = 32;
// A first copy of this size into an untouched page of 2 MiB goes through the kernel.
inline constexpr size_t large_page_kernel_min = size_t{512} << 10;

// Returns a table for `size` bytes with every chunk cold, or null if there is no memory for it
// (then everything counts as warm: slower at first touch, never wrong).
uint16_t* create_table(size_t size);
void destroy_table(uint16_t* table, size_t size);

// The place of a region's chunks, and the operations that the kernel may perform on them.
struct MappedMemory {
  uint8_t* base;
  size_t size;
  bool writable;
  bool page_cache;  // mincore() tells which pages hold data (tmpfs, files; not dax)
};

// Charges an access of `size` bytes to the chunk that holds `offset`, and populates the chunk when
// that has become cheaper. If populating fails, the accesses themselves meet the failure.
void charge(const MappedMemory& place, uint16_t* table, uint64_t offset, size_t size);

// Maps [offset, offset + size) into this process, whole pages. Fails as madvise does, with EIO for
// poisoned memory and ENOSPC if the medium has no room behind the mapping.
Status populate(const MappedMemory& place, uint64_t offset, size_t size);

}  // namespace cairn::persist::first_touch
