// Checks memory that the program passes to a call: the kernel returns EFAULT where this library
// would crash.
//
// The first access to a page asks the kernel (one system call). Each thread remembers some
// accessible pages, so most calls cost a comparison. A call that unmaps, replaces or protects
// memory makes all threads forget. Memory that the C library unmaps by itself (free) is not
// noticed.
//
// Reads and writes of file data do not ask: a bad buffer there is a fault.
#pragma once

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <atomic>

namespace posix::user_memory {

constexpr uintptr_t kPage = 4096;  // or larger ones, which are made of these

// Pages that this thread has found accessible. A page's number selects its place; 0: empty.
struct Known {
  static constexpr size_t kPlaces = 16;
  uint64_t changes;  // the count when these pages were found
  uintptr_t readable[kPlaces];
  uintptr_t writable[kPlaces];
};
extern __thread Known known;
extern std::atomic<uint64_t> changes;

// Call it after memory of the program was unmapped, replaced or protected.
inline void changed() { changes.fetch_add(1, std::memory_order_relaxed); }

bool ask(uintptr_t page);  // asks the kernel whether the page can be read, and remembers it

inline bool is_page_readable(uintptr_t page) {
  return __builtin_expect(known.readable[page % Known::kPlaces] == page && page != 0 &&
                              known.changes == changes.load(std::memory_order_relaxed),
                          1) ||
         ask(page);
}

bool is_readable(const void* address, size_t size);

// Checks text up to its end, or its first `most` bytes.
inline bool is_text(const char* text, size_t most = PATH_MAX) {
  for (;;) {
    const auto address = reinterpret_cast<uintptr_t>(text);
    if (!is_page_readable(address / kPage)) return false;
    const size_t here = kPage - address % kPage;
    if (here >= most || memchr(text, '\0', here) != nullptr) return true;
    text += here;
    most -= here;
  }
}

// Checks a list of texts that ends with a null pointer, as main's arguments do. A null list is
// empty.
bool is_list(char* const* list);

// Returns true if this thread has found that the memory can be written. False means that it has not
// asked.
inline bool is_known_writable(const void* address, size_t size) {
  const auto start = reinterpret_cast<uintptr_t>(address);
  const uintptr_t first = start / kPage, last = (start + size - 1) / kPage;
  if (size == 0 || first == 0 || last < first || last - first >= Known::kPlaces ||
      known.changes != changes.load(std::memory_order_relaxed))
    return false;
  for (uintptr_t page = first; page <= last; ++page) {
    if (known.writable[page % Known::kPlaces] != page) return false;
  }
  return true;
}

// Copies from and to the program's memory. Returns 0 or -EFAULT.
int read(void* to, const void* from, size_t size);
int write(void* to, const void* from, size_t size);

template <typename T>
int read(T* to, const void* from) {
  return read(to, from, sizeof(T));
}
template <typename T>
int write(void* to, const T& from) {
  return write(to, &from, sizeof(T));
}

}  // namespace posix::user_memory
