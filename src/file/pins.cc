#include "file/pins.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "pool/space.h"

namespace cairn::file {
namespace {

using format::Pin;
using format::pins_per_block;

constexpr uint64_t most_pins = 1U << 20;

Pin* pin_at(const FileSystem& fs, uint64_t number) {
  Spot spot;
  if (!walk(fs.pool, fs.ptable(), number / pins_per_block, &spot).ok() || !spot.block)
    return nullptr;
  return reinterpret_cast<Pin*>(fs.pool.at(spot.block)) + number % pins_per_block;
}

bool is_held(const FileSystem& fs, uint64_t number) {
  const int fd = open(fs.pool.lock_path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return true;  // unknown: the blocks stay
  const auto held = media::is_held(fd, pool::pin_lock_byte(number));
  close(fd);
  return !held.ok() || *held;
}

}  // namespace

Result<PinHandle> pin_inode(FileSystem& fs, LocalSeat& seat, uint64_t inode) {
  for (uint64_t number = 0; number < most_pins; ++number) {
    if (number % pins_per_block == 0) {
      auto block =
          block_for(fs.pool, seat, fs.ptable(), number / pins_per_block, pool::Need::ordinary);
      if (!block.ok()) return block.status();
    }
    Pin* pin = pin_at(fs, number);
    if (pin == nullptr) break;
    uint64_t holder = pin->inode.load();
    if (holder != 0 && is_held(fs, number)) continue;
    auto lock = media::try_lock(fs.pool.lock_path.c_str(), pool::pin_lock_byte(number),
                                media::Inheritance::inherited);
    if (!lock.ok()) {
      if (lock.code() == EAGAIN) continue;
      return lock.status();
    }
    // The byte's holder alone writes the entry.
    fs.pool.store(pin->inode, inode);
    // Nobody scans beyond this mark.
    uint64_t mark = fs.pool.state->pin_cursor.load();
    while (mark < number + 1 &&
           !fs.pool.compare_exchange(fs.pool.state->pin_cursor, mark, number + 1)) {
    }
    return PinHandle{number, std::move(*lock)};
  }
  return fail(ENOMEM, "more than %llu mappings", static_cast<unsigned long long>(most_pins));
}

void unpin(FileSystem& /*fs*/, PinHandle& pin) {
  // The entry stays until somebody finds its byte unlocked: a child may still hold it.
  pin.lock.release();
}

bool is_pinned(FileSystem& fs, uint64_t inode) {
  const uint64_t mark = std::min(fs.pool.state->pin_cursor.load(), most_pins);
  for (uint64_t number = 0; number < mark; ++number) {
    Pin* pin = pin_at(fs, number);
    if (pin == nullptr || pin->inode.load() != inode) continue;
    if (is_held(fs, number)) return true;
    uint64_t expected = inode;
    fs.pool.compare_exchange(pin->inode, expected, 0);
  }
  return false;
}

}  // namespace cairn::file
