// The page backend: stores go to the page cache, msync() makes them durable.
//
// flush() notes the pages, per thread; fence() writes all noted pages back. A thread remembers only
// a few ranges (neighbours are joined); when they are full, the oldest is written back immediately.
// A failed write-back means that the kernel may have dropped the data, so the error sticks to its
// region and every later fence() there returns it.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "persist/machine/machine.h"

namespace cairn::persist {
namespace {

constexpr uintptr_t page_mask = 4095;
constexpr int note_capacity = 16;

struct Note {
  RegionState* region;
  uintptr_t begin;
  uintptr_t end;
};

struct PageNotes {
  Note list[note_capacity];
  int count;
};

// Initial-exec: a preloaded library must not make the dynamic linker allocate on first use.
thread_local __attribute__((tls_model("initial-exec"))) PageNotes notes;

void write_back(const Note& note) {
  int saved = errno;
  while (msync(reinterpret_cast<void*>(note.begin), note.end - note.begin, MS_SYNC) != 0) {
    if (errno == EINTR) continue;
    note.region->note_writeback_error(errno);
    break;
  }
  errno = saved;
}

void page_flush(RegionState& region, const void* address, size_t size, Site) {
  if (size == 0) return;
  uintptr_t begin = reinterpret_cast<uintptr_t>(address) & ~page_mask;
  uintptr_t end = (reinterpret_cast<uintptr_t>(address) + size + page_mask) & ~page_mask;
  for (int i = 0; i < notes.count; ++i) {
    Note& note = notes.list[i];
    if (note.region == &region && begin <= note.end && end >= note.begin) {
      note.begin = std::min(note.begin, begin);
      note.end = std::max(note.end, end);
      return;
    }
  }
  if (notes.count == note_capacity) {
    write_back(notes.list[0]);
    notes.list[0] = notes.list[note_capacity - 1];
    notes.count = note_capacity - 1;
  }
  // The entry is stored before the count: a signal handler that fences in between sees whole
  // entries.
  notes.list[notes.count] = Note{&region, begin, end};
  std::atomic_signal_fence(std::memory_order_seq_cst);
  notes.count = notes.count + 1;
}

Status page_fence(RegionState& region, Site) {
  while (notes.count > 0) {
    const Note note = notes.list[notes.count - 1];
    notes.count = notes.count - 1;
    write_back(note);
  }
  int error = region.writeback_error();
  if (error == 0) return Status();
  return fail(error,
              "write-back of the pool to its file failed; what was written since is in doubt");
}

Status page_copy(RegionState& region, uint8_t* to, const void* from, size_t size) {
  std::memcpy(to, from, size);
  page_flush(region, to, size, Site());
  return Status();
}

Status page_zero(RegionState& region, uint8_t* to, size_t size) {
  std::memset(to, 0, size);
  page_flush(region, to, size, Site());
  return Status();
}

void page_forget(RegionState& region) {
  for (int i = notes.count; i-- > 0;) {
    if (notes.list[i].region == &region) notes.list[i] = notes.list[--notes.count];
  }
}

}  // namespace

const Backend page_backend = {"page",  page_copy,   page_zero, page_flush, page_fence,
                              nullptr, page_forget, false,     page_forget};

}  // namespace cairn::persist
