#include "file/namespace/moved.h"

#include <sys/stat.h>

#include "file/namespace/directory_slots.h"
#include "file/space/evict.h"

namespace cairn::file {

void note_left_home(pool::RedoChange& change, Inode& inode, const Map& directory,
                    const DirentSlot& slot) {
  if (inode.lower_parent.load() == 0) return;
  const uint64_t unit = inode.lower_unit.load();
  const bool is_home =
      inode.lower_parent.load() == directory.number && (unit & format::unit_bits) == slot.unit + 1;
  // An inode with one name is not at home if this name is not the one. Earlier versions did not
  // note that.
  const bool has_others = !S_ISDIR(inode.mode.load()) && inode.links.load() > 1;
  if (is_home || !has_others) change.set(inode.lower_unit, unit | format::unit_was_left);
}

void note_move(const FileSystem& fs, pool::RedoChange& change, const Map& map, const Map& directory,
               const DirentSlot& slot, uint64_t now) {
  Inode& inode = *map.inode;
  // This count is read first: a writer that folds its stamp takes no lock, and raises the time
  // before the count. A writer whose time is not seen here raises the count after this read.
  const uint64_t folded = inode.change.load();
  // Other versions that may have the pool attached know these words and the events that end a
  // record.
  if (!check_evicts(fs.pool).ok() || !S_ISREG(inode.mode.load()) || inode.links.load() != 1 ||
      is_lazy(inode) || inode.stamps.load() != 0)
    return;
  if (has_only_moved(inode)) {
    change.set(inode.file.moved, now);
    return;
  }
  const bool is_at_home = slot.has_lower && inode.lower_parent.load() == directory.number &&
                          inode.lower_unit.load() == slot.unit + 1;
  if (inode.ctime.load() != inode.drained.load() || !is_at_home) return;
  const WitnessWords words = words_of(slots::witness_in(*slot.dirent, slot.head));
  for (unsigned i = 0; i < words.size(); ++i) change.set(inode.file.moved_lower[i], words[i]);
  change.set(inode.file.moved_change, folded);
  change.set(inode.file.moved, now);
}

bool has_only_moved(const Inode& inode) {
  if (!S_ISREG(inode.mode.load()) || inode.file.moved.load() == 0) return false;
  return inode.links.load() == 1 && !is_lazy(inode) && inode.stamps.load() == 0 &&
         inode.ctime.load() == inode.file.moved.load() &&
         inode.change.load() == inode.file.moved_change.load();
}

Witness witness_before_move(const Inode& inode) {
  return witness_of(inode.file.moved_lower, format::witness_words);
}

void forget_move(Pool& pool, Inode& inode) {
  if (!S_ISREG(inode.mode.load())) return;
  // A rename that was prepared before, and is replayed or continues later, makes no record that
  // holds.
  pool.fetch_add(inode.change, 1);
  pool.store_flush(inode.file.moved, 0);
}

}  // namespace cairn::file
