#include "file/space/fill_ahead.h"

#include <algorithm>

#include "file/inode/open_table.h"

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

void note_filling(File& file, uint64_t offset, uint64_t end, uint64_t filled, bool zero) {
  FillHints& hints = file.fill;
  const bool goes_on = hints.next.load(std::memory_order_relaxed) == offset;
  const uint64_t before = goes_on && zero ? hints.streak.load(std::memory_order_relaxed) : 0;
  hints.streak.store(before + (filled - offset), std::memory_order_relaxed);
  hints.next.store(filled, std::memory_order_relaxed);
  const uint64_t written = (end + block_size - 1) >> block_shift;
  const uint64_t note =
      format::ahead_note(written, std::max(filled >> block_shift, written) - written);
  Word& ahead = file.shared->ahead;
  if (ahead.load_relaxed() != note) file.fs->pool.store(ahead, note);
}

void keep_ahead(FileSystem& fs, uint64_t number) {
  for_each_open_file(fs, [&](format::OpenFile& open) {
    if (open.ahead.load() != 0 && open.inode.load() == number) fs.pool.store(open.ahead, 0);
    return true;
  });
}

}  // namespace cairn::file
