#include "file/space/fill_ahead.h"

#include <algorithm>

namespace cairn::file {
namespace {

using format::block_shift;
using format::block_size;

// The number of bytes from which on writes count as a sequence.
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

void note_filling(File& file, uint64_t offset, uint64_t end, uint64_t filled, bool zero) {
  FillHints& hints = file.fill;
  const bool goes_on = hints.next.load(std::memory_order_relaxed) == offset;
  const uint64_t before = goes_on && zero ? hints.streak.load(std::memory_order_relaxed) : 0;
  hints.streak.store(before + (filled - offset), std::memory_order_relaxed);
  hints.next.store(filled, std::memory_order_relaxed);
  const uint64_t written = (end + block_size - 1) >> block_shift;
  const uint64_t note =
      format::ahead_note(written, std::max(filled >> block_shift, written) - written);
  format::OpenFile& shared = *file.shared;
  const uint64_t since = file.inode->file.preallocations.load();
  if (shared.ahead_since.load_relaxed() != since) {
    file.fs->pool.store(shared.ahead, 0);  // blocks noted before stay
    file.fs->pool.store(shared.ahead_since, since);
  }
  if (shared.ahead.load_relaxed() != note) file.fs->pool.store(shared.ahead, note);
}

}  // namespace cairn::file
