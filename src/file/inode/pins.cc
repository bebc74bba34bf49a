#include "file/inode/pins.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "file/map/map_growth.h"
#include "pool/space/space.h"

namespace cairn::file {
namespace {

using format::Pin;
using format::pins_per_block;

constexpr uint64_t most_pins = 1U << 20;

Pin* pin_at(const FileSystem& fs, uint64_t number) {
  MapCursor cursor;
  if (!walk(fs.pool, fs.ptable(), number / pins_per_block, &cursor).ok() || !cursor.block)
    return nullptr;
  return reinterpret_cast<Pin*>(fs.pool.at(cursor.block)) + number % pins_per_block;
}

bool is_held(const FileSystem& fs, uint64_t number) {
  const int fd = open(fs.pool.lock_path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return true;  // unknown: the blocks stay
  const auto held = media::is_held(fd, pool::pin_lock_byte(number));
  close(fd);
  return !held.ok() || *held;
}

// Empties the entry of a pin on the inode if no process holds the pin; returns false if one does.
// The entry is emptied under its lock: another process that takes the pin in between would lose its
// entry.
bool empty_unheld(FileSystem& fs, uint64_t number, Pin& pin, uint64_t inode) {
  const int fd = open(fs.pool.lock_path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;  // unknown: the blocks stay
  const bool unheld = media::keep_unlocked(fd, pool::pin_lock_byte(number)).ok();
  if (unheld) {
    uint64_t expected = inode;
    fs.pool.compare_exchange(pin.inode, expected, 0);
    // Unlocks explicitly: a child that another thread forks meanwhile has the description too.
    media::unlock(fd, pool::pin_lock_byte(number));
  }
  close(fd);
  return unheld;
}

// Takes pin `number`. EAGAIN if another process has it.
Result<PinHandle> take_pin(FileSystem& fs, LocalSeat& seat, uint64_t number, uint64_t inode) {
  CAIRN_TRY_ASSIGN(
      block, block_for(fs.pool, seat, fs.ptable(), number / pins_per_block, pool::Need::ordinary));
  static_cast<void>(block);
  Pin* pin = pin_at(fs, number);
  if (pin == nullptr) return fail(EIO, "invalid pin %llu", static_cast<unsigned long long>(number));
  if (pin->inode.load() != 0 && is_held(fs, number)) return Status(EAGAIN);
  CAIRN_TRY_ASSIGN(lock, media::try_lock(fs.pool.lock_path.c_str(), pool::pin_lock_byte(number),
                                         media::Inheritance::inherited));
  // The entry is written only by the holder of the byte.
  fs.pool.store(pin->inode, inode);
  // Scans of the table end at this mark.
  uint64_t mark = fs.pool.state->pin_cursor.load();
  while (mark < number + 1 &&
         !fs.pool.compare_exchange(fs.pool.state->pin_cursor, mark, number + 1)) {
  }
  return PinHandle{number, std::move(lock)};
}

// Returns the number to try next, behind the numbers that this process has tried. At the end of the
// table it adds numbers if most of the old ones were held, until there are twice as many. Otherwise
// it starts again from the beginning, for numbers that have been released. So a pin costs the same
// with ten thousand others, and the table stays not much longer than the most pins ever held.
uint64_t next_number(FileSystem& fs) {
  FileSystem::PinSearch& search = fs.pin_search;
  const uint64_t number = search.next.fetch_add(1);
  const uint64_t mark = std::min(fs.pool.state->pin_cursor.load(), most_pins);
  const uint64_t searched = search.searched.load();
  const bool may_add = number < most_pins && mark < 2 * searched + pins_per_block &&
                       4 * search.taken.load() <= searched;
  if (number != 0 && (number < mark || may_add)) return number;
  search.searched.store(mark);
  search.taken.store(0);
  search.next.store(1);
  return 0;
}

}  // namespace

Result<PinHandle> pin_inode(FileSystem& fs, LocalSeat& seat, uint64_t inode) {
  for (uint64_t number = 0; fs.free_pins.pop(&number);) {
    auto pin = take_pin(fs, seat, number, inode);
    if (pin.ok() || pin.code() != EAGAIN) return pin;
  }
  for (uint64_t looked = 0; looked < 2 * most_pins; ++looked) {
    const uint64_t number = next_number(fs);
    auto pin = take_pin(fs, seat, number, inode);
    if (!pin.ok() && pin.code() == EAGAIN) continue;
    if (pin.ok() && number < fs.pin_search.searched.load()) fs.pin_search.taken.fetch_add(1);
    return pin;
  }
  return fail(ENOMEM, "more than %llu mappings", static_cast<unsigned long long>(most_pins));
}

void unpin(FileSystem& fs, PinHandle& pin) {
  // The entry stays until a process finds its byte unlocked: a child may still hold it.
  pin.lock.release();
  fs.free_pins.push(pin.number);
}

bool is_pinned(FileSystem& fs, uint64_t inode) {
  const uint64_t mark = std::min(fs.pool.state->pin_cursor.load(), most_pins);
  for (uint64_t number = 0; number < mark; ++number) {
    Pin* pin = pin_at(fs, number);
    if (pin == nullptr || pin->inode.load() != inode) continue;
    if (!empty_unheld(fs, number, *pin, inode)) return true;
  }
  return false;
}

}  // namespace cairn::file
