// Pattern fills transfers with data that depend on the writer and on the position, and finds
// bytes that differ.
//
// Each 8-byte word of a transfer holds the writer's rank and the word's number. The first word of
// each 4 KiB holds the position in the file instead; it alone changes from one transfer to the
// next. So a fill costs one store for 4 KiB, and a transfer that lies in the wrong place or is an
// old one is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

namespace kernels {

constexpr int64_t stamp_bytes = 4096;

// PageVector is a vector whose memory begins at a page, as the buffers of IOR do. The kernel copies
// such memory at another speed.
template <typename T>
struct PageAllocator {
  using value_type = T;
  static constexpr std::align_val_t page{4096};

  PageAllocator() = default;
  template <typename Other>
  explicit PageAllocator(const PageAllocator<Other>&) {}

  T* allocate(size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), page)); }
  void deallocate(T* at, size_t) { ::operator delete(at, page); }
  bool operator==(const PageAllocator&) const = default;
};

template <typename T>
using PageVector = std::vector<T, PageAllocator<T>>;

class Pattern {
 public:
  // A buffer of `size` bytes, a multiple of 8. `seed` tells one file's data from another's.
  Pattern(int64_t size, int64_t seed);

  void use_seed(int64_t seed) { seed_ = static_cast<uint64_t>(seed); }  // then become_writer
  void become_writer(int rank);                                         // fills the buffer
  void move_to(int64_t file_offset);                                    // stamps it
  [[nodiscard]] const char* data() const { return reinterpret_cast<const char*>(words_.data()); }

 private:
  PageVector<uint64_t> words_;
  uint64_t seed_;
};

// Check counts the bytes that were compared and those that were wrong. first_wrong names the first
// wrong byte; "" if all were right.
struct Check {
  int repetition = 0;
  int64_t bytes = 0;
  int64_t wrong = 0;
  std::string first_wrong;

  // Compares `size` bytes; `where` names the first wrong byte's file.
  void compare(const void* expected, const void* got, int64_t size, const std::string& where,
               int64_t file_offset);
  // Sums over all ranks; the text is that of the lowest rank that has one. Collective.
  void gather();
};

// Flips one bit of `path` at `offset`, to show that the check finds it. Only rank 0 may call it.
void corrupt(const std::string& path, int64_t offset);

}  // namespace kernels
