#include "file/fill_ahead.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "file/cut.h"
#include "pool/seats.h"

namespace cairn::file {
namespace {

using format::block_shift;
using format::block_size;

// From here on a sequence is taken for one.
constexpr uint64_t streak_min = 64 << 10;
constexpr uint64_t share = 4;  // a quarter of it

}  // namespace

uint64_t blocks_ahead(const File& file, uint64_t offset, uint64_t end) {
  const FillHints& hints = file.fill;
  if (hints.next.load(std::memory_order_relaxed) != offset) return 0;
  const uint64_t streak = hints.streak.load(std::memory_order_relaxed);
  if (streak < streak_min) return 0;
  const uint64_t most = std::min(streak / share >> block_shift, format::chunk_blocks);
  const uint64_t first = (end + block_size - 1) >> block_shift;
  const uint64_t whole = file.inode->size.load() >> block_shift;
  return first < whole ? std::min(most, whole - first) : 0;
}

void note_filled(File& file, uint64_t offset, uint64_t end, uint64_t filled, bool zero) {
  FillHints& hints = file.fill;
  const bool goes_on = hints.next.load(std::memory_order_relaxed) == offset;
  const uint64_t before = goes_on && zero ? hints.streak.load(std::memory_order_relaxed) : 0;
  hints.streak.store(before + (filled - offset), std::memory_order_relaxed);
  hints.next.store(filled, std::memory_order_relaxed);
  const uint64_t written = (end + block_size - 1) & ~(block_size - 1);
  hints.ahead_from.store(written, std::memory_order_relaxed);
  hints.ahead_to.store(std::max(written, filled), std::memory_order_relaxed);
}

Ahead take_ahead(File& file) {
  FillHints& hints = file.fill;
  const uint64_t to = hints.ahead_to.exchange(0, std::memory_order_relaxed);
  const uint64_t from = hints.ahead_from.load(std::memory_order_relaxed);
  return {file.map(), from >> block_shift, std::max(from, to) >> block_shift};
}

void keep_ahead(FileSystem& fs, uint64_t number) {
  std::lock_guard guard(fs.files_lock);
  for (File* file = fs.files; file != nullptr; file = file->next) {
    if (file->number == number) take_ahead(*file);
  }
}

bool trim_all_ahead(FileSystem& fs) {
  std::vector<Ahead> all;
  {
    std::lock_guard guard(fs.files_lock);
    for (File* file = fs.files; file != nullptr; file = file->next) {
      const Ahead ahead = take_ahead(*file);
      if (ahead.from < ahead.to) all.push_back(ahead);
    }
  }
  bool any = false;
  for (const Ahead& ahead : all) {
    pool::SeatGuard seat(fs.pool);
    if (seat.ok()) any = free_zero_blocks(fs, *seat, ahead.map, ahead.from, ahead.to) || any;
  }
  return any;
}

}  // namespace cairn::file
