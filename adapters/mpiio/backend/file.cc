#include "mpiio/backend/file.h"

#include <algorithm>
#include <array>

#include "mpiio/backend/walk.h"

namespace mpiio {
namespace {

// Open files by handle. Found without a lock: a place is written under one, and its key last.
struct Place {
  std::atomic<MPI_File> handle{};
  std::atomic<File*> file{nullptr};
};
constexpr size_t places = 4096;
constinit std::array<Place, places> table;
std::mutex table_lock;
std::atomic<size_t> used{0};  // places from here on have never been used

}  // namespace

File* find_file(MPI_File handle) {
  const size_t end = used.load(std::memory_order_acquire);
  for (size_t i = 0; i < end; ++i) {
    if (table[i].handle.load(std::memory_order_acquire) == handle)
      return table[i].file.load(std::memory_order_relaxed);
  }
  return nullptr;
}

void add_file(File* file) {
  const std::lock_guard guard(table_lock);
  size_t at = 0;
  while (at < used && table[at].file.load() != nullptr) ++at;
  if (at == places) return;
  table[at].file.store(file);
  table[at].handle.store(file->handle, std::memory_order_release);
  if (at == used) used.store(at + 1, std::memory_order_release);
}

void remove_file(MPI_File handle) {
  const std::lock_guard guard(table_lock);
  for (size_t i = 0; i < used; ++i) {
    if (table[i].handle.load() != handle || table[i].file.load() == nullptr) continue;
    table[i].handle.store(MPI_File{});
    table[i].file.store(nullptr);
    return;
  }
}

int64_t View::place_of(int64_t stream) const {
  if (dense) return displacement + stream;
  return Walk(*layout, displacement, stream).offset();
}

int64_t View::stream_below(int64_t end) const {
  if (end <= displacement) return 0;
  if (dense) return end - displacement;
  const int64_t tile = (end - displacement) / layout->extent;
  // Of the tiles around that one, whose pieces may lie outside their extent.
  int64_t first = tile;
  for (const Run& run : layout->runs) {
    const int64_t last_byte = run.offset + (run.count - 1) * std::max<int64_t>(run.stride, 0) + run.length;
    first = std::min(first, (end - displacement - last_byte) / layout->extent - 1);
  }
  first = std::max<int64_t>(first, 0);
  int64_t bytes = first * layout->size;
  for (int64_t t = first; t <= tile + 1; ++t) {
    for (const Run& run : layout->runs) {
      for (int64_t i = 0; i < run.count; ++i) {
        const int64_t at = displacement + t * layout->extent + run.offset + i * run.stride;
        if (at >= end) break;
        bytes += std::min(run.length, end - at);
      }
    }
  }
  return bytes;
}

}  // namespace mpiio
