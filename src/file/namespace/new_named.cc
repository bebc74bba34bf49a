#include "file/namespace/new_named.h"

#include "file/map/map_growth.h"
#include "pool/space/space.h"

namespace cairn::file::names {

Status NewNamed::make(uint32_t mode) {
  auto made = make_inode(fs_, seat_, mode, pool::Need::ordinary);
  if (made.ok()) made_ = *made;
  return made.status();
}

NewNamed::~NewNamed() {
  if (made_.inode == nullptr) return;
  // The inode has at most a link's text: one block, named by direct[0].
  const Entry entry{made_.inode->direct[0].load()};
  if (entry && fs_.pool.valid(entry.block()))
    pool::free_published(fs_.pool, seat_, entry.block(), 1, &made_.inode->direct[0]);
  unmake_inode(fs_, seat_, made_);
}

Status NewNamed::write_target(std::string_view target) {
  Inode& inode = *made_.inode;
  fs_.pool.store(inode.size, target.size());
  if (target.size() <= format::inline_bytes) {
    pool::Segment& segment = fs_.pool.segment_of(&inode);
    return segment.region.copy(static_cast<uint64_t>(inode.text - segment.base), target.data(),
                               target.size());
  }
  auto block = block_for(fs_.pool, seat_, map(), 0, pool::Need::ordinary);
  if (!block.ok()) return block.status();
  return fs_.pool.copy_in(*block, 0, target.data(), target.size());
}

Status NewNamed::name(LockedName& at, const DirentSlot& place, const Witness* lower, uint64_t now) {
  Inode& inode = *made_.inode;
  const uint64_t mode = inode.mode.load();
  const bool is_directory = S_ISDIR(mode);
  fs_.pool.store(inode.links, is_directory ? 2 : 1);
  if (is_directory) {
    fs_.pool.store(inode.directory.parent, at.directory.number);
    fs_.pool.store(inode.flags,
                   inode.flags.load() | (at.inode().flags.load() & format::flag_covered));
  }
  fs_.pool.flush(&inode, sizeof inode);
  pool::RedoChange change(fs_.pool, seat_);
  CAIRN_TRY(insert_name(fs_, seat_, change, at.directory, at.name, place,
                        {made_.number, type_of(mode), now, lower}));
  change.set(inode.state, format::inode_live);
  if (is_directory) change.set(at.inode().links, at.inode().links.load() + 1);
  const Status status = change.commit();
  // If the commit cannot write back, recovery replays the record, and with it the inode.
  made_ = {};
  inode_is_made(fs_, seat_);
  return status;
}

}  // namespace cairn::file::names
