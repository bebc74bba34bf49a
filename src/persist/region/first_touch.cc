#include "persist/region/first_touch.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

// Older C library headers do not know these; older kernels answer EINVAL.
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace cairn::persist::first_touch {
namespace {

constexpr size_t page_size = 4096;
constexpr size_t chunk_pages = chunk_size / page_size;

size_t table_bytes(size_t size) {
  // One entry more than chunks: an access of no bytes may start at the end.
  size_t entries = (size + chunk_size - 1) / chunk_size + 1;
  return (entries * sizeof(uint16_t) + page_size - 1) & ~(page_size - 1);
}

// Restores errno: the accesses that call this promise not to change it.
class KeepErrno {
 public:
  KeepErrno() : saved_(errno) {}
  ~KeepErrno() { errno = saved_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  int saved_;
};

// Replaces MADV_POPULATE on old kernels: one value-preserving access per page.
void touch_pages(const MappedMemory& place, uint8_t* begin, size_t size) {
  for (size_t at = 0; at < size; at += page_size) {
    if (place.writable) {
      __atomic_fetch_or(begin + at, uint8_t{0}, __ATOMIC_RELAXED);
    } else {
      (void)__atomic_load_n(begin + at, __ATOMIC_RELAXED);
    }
  }
}

int populate_errno(const MappedMemory& place, uint8_t* begin, size_t size, int advice) {
  while (madvise(begin, size, advice) != 0) {
    if (errno == EINTR || errno == EAGAIN) continue;
    if (errno != EINVAL) return errno;
    touch_pages(place, begin, size);
    return 0;
  }
  return 0;
}

// Counts the chunk's pages that hold no data yet. On tmpfs mincore() answers "present" only for
// pages that have been written, not for those that are merely reserved.
size_t count_missing(uint8_t* begin, size_t size) {
  unsigned char present[chunk_pages];
  if (mincore(begin, size, present) != 0) return 0;
  size_t missing = 0;
  for (size_t page = 0; page < (size + page_size - 1) / page_size; ++page) {
    missing += (present[page] & 1U) == 0;
  }
  return missing;
}

// Decides when to look at the pages, which costs about as much as ten accesses. The first look
// detects chunks that hold data. A chunk that is being filled deserves another look when it has
// been filled and is used again. At the last look populating has become cheaper than going on,
// whatever the pages are.
bool is_look(unsigned before, unsigned now) {
  for (unsigned look :
       {unsigned{first_look}, unsigned{chunk_pages + first_look + 1}, unsigned{2 * chunk_pages}}) {
    if (before < look && now >= look) return true;
  }
  return false;
}

}  // namespace

uint16_t* create_table(size_t size) {
  KeepErrno keep;
  void* table =
      mmap(nullptr, table_bytes(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (table == MAP_FAILED) return nullptr;
  // A child of fork has empty page tables for shared mappings, so nothing is warm there.
  (void)madvise(table, table_bytes(size), MADV_WIPEONFORK);
  return static_cast<uint16_t*>(table);
}

void destroy_table(uint16_t* table, size_t size) {
  KeepErrno keep;
  if (table != nullptr) (void)munmap(table, table_bytes(size));
}

void charge(const MappedMemory& place, uint16_t* table, uint64_t offset, size_t size) {
  uint64_t chunk = offset >> chunk_shift;
  unsigned before = __atomic_load_n(&table[chunk], __ATOMIC_RELAXED);
  if (before == warm) return;
  // A unit is the extra cost of one small access, or of one page through the kernel, over a warm
  // chunk: about half a microsecond to one.
  unsigned units = static_cast<unsigned>(std::clamp<size_t>(size / page_size, 1, chunk_pages));
  unsigned now = std::min(before + units, unsigned{warm} - 1);
  if (is_look(before, now)) {
    KeepErrno keep;
    uint8_t* begin = place.base + (chunk << chunk_shift);
    size_t length = std::min<size_t>(chunk_size, place.size - (chunk << chunk_shift));
    size_t missing = place.page_cache ? count_missing(begin, length) : 0;
    if (missing * 2 <= now) {
      // Reading maps a shared page writable, and sixteen at once; only pages without data are
      // cheaper to map by writing.
      int advice = missing == 0 && place.page_cache ? MADV_POPULATE_READ : MADV_POPULATE_WRITE;
      if (!place.writable) advice = MADV_POPULATE_READ;
      if (populate_errno(place, begin, length, advice) == 0) now = warm;
    }
  }
  __atomic_store_n(&table[chunk], static_cast<uint16_t>(now), __ATOMIC_RELAXED);
}

Status populate(const MappedMemory& place, uint64_t offset, size_t size) {
  KeepErrno keep;
  if (size == 0) return Status();
  uint64_t begin = offset & ~(page_size - 1);
  size_t length = offset + size - begin;
  bool holds_data = place.page_cache;
  for (uint64_t at = 0; holds_data && at < length; at += chunk_size) {
    holds_data =
        count_missing(place.base + begin + at, std::min<size_t>(chunk_size, length - at)) == 0;
  }
  int advice = holds_data || !place.writable ? MADV_POPULATE_READ : MADV_POPULATE_WRITE;
  int error = populate_errno(place, place.base + begin, length, advice);
  switch (error) {
    case 0:
      return Status();
    case EHWPOISON:
      return fail(EIO, "populate at offset %llu: poisoned memory",
                  static_cast<unsigned long long>(offset));
    // The kernel returns EFAULT where a store would have raised SIGBUS.
    case EFAULT:
      return fail(ENOSPC, "populate at offset %llu: no space behind the mapping",
                  static_cast<unsigned long long>(offset));
    default:
      return fail(error, "populate %zu bytes at offset %llu", size,
                  static_cast<unsigned long long>(offset));
  }
}

}  // namespace cairn::persist::first_touch
