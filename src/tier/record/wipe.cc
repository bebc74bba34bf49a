#include "tier/record/wipe.h"

#include <sys/stat.h>

#include <vector>

#include "file/inode/attributes.h"
#include "file/namespace/names.h"
#include "file/namespace/tree.h"
#include "pool/lanes/lock.h"
#include "tier/record/record.h"
#include "tier/system/listing.h"

namespace cairn::tier {
namespace {

Status gone_is_fine(Status status) {
  return status.code() == ENOENT || status.code() == ESTALE ? Status() : status;
}

// Finds the slot of a name, in the form that a listing gives. Inode 0: there is none.
Result<file::Listed> find_slot(file::FileSystem& fs, uint64_t directory, const std::string& text) {
  file::Listed listed = {};
  auto name = file::make_name(text.data(), text.size());
  if (!name.ok()) return name.status();
  auto inode = file::live_inode(fs, directory);
  if (!inode.ok()) return listed;
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  auto slot = file::find_name(fs, {*inode, directory}, *name);
  if (slot.code() == ENOENT) return listed;
  if (!slot.ok()) return slot.status();
  CAIRN_TRY_ASSIGN(count, file::list_slots(fs, {*inode, directory}, slot->unit, &listed, 1));
  if (count == 0 || listed.unit != slot->unit) listed.inode = 0;
  return listed;
}

// Calls visit(listed) for each live slot; unlike for_each_name() for unsound names too.
template <typename Visit>
Status for_each_slot(file::FileSystem& fs, const file::Map& directory, Visit visit) {
  std::vector<file::Listed> batch(32);
  for (uint64_t cookie = 0;;) {
    size_t count = 0;
    {
      pool::SeatGuard seat(fs.pool);
      if (!seat.ok()) return pool::no_seat(fs.pool);
      const pool::LockGuard lock(fs.pool, *seat, directory.inode->lock);
      CAIRN_TRY_ASSIGN(n, file::list_slots(fs, directory, cookie, batch.data(), batch.size()));
      count = n;
    }
    if (count == 0) return Status();
    for (size_t i = 0; i < count; ++i) CAIRN_TRY(visit(batch[i]));
    cookie = batch[count - 1].cookie;
  }
}

// A directory that was found below another one.
struct Child {
  file::Map above;
  file::Listed listed;
};

// Removes an inode by its name, or by its slot if the name leads to another inode.
Status remove_listed(file::FileSystem& fs, uint64_t parent, const file::Listed& listed,
                     bool is_directory) {
  Status status(ENOENT);
  if (listed.sound)
    status = is_directory ? file::remove_directory(fs, parent, name_of(listed))
                          : file::unlink_name(fs, parent, name_of(listed));
  switch (status.code()) {
    case ENOENT:
    case ESTALE:
    case EISDIR:
    case ENOTDIR:
    case ENOTEMPTY:  // or a damaged directory only seems so
    case EUCLEAN:
      return gone_is_fine(file::clear_slot(fs, parent, listed.unit, listed.inode, true));
    default:
      return status;
  }
}

// Removes the files of one directory. `directories` gets its directories.
Status wipe_files(file::FileSystem& fs, uint64_t number, std::vector<Child>* directories) {
  auto inode = file::live_inode(fs, number);
  if (!inode.ok() || !S_ISDIR((*inode)->mode.load())) return Status();
  // Not lazy any more: names need not be imported only to be removed.
  CAIRN_TRY(gone_is_fine(file::set_flags(fs, number, 0, format::flag_lazy)));
  const file::Map map{*inode, number};
  return for_each_slot(fs, map, [&](const file::Listed& listed) -> Status {
    if (listed.whiteout) return Status();
    auto child = file::live_inode(fs, listed.inode);
    if (!child.ok() || !S_ISDIR((*child)->mode.load()))
      return remove_listed(fs, number, listed, false);
    directories->push_back({map, listed});
    return Status();
  });
}

}  // namespace

Status wipe(file::FileSystem& fs, uint64_t parent, const std::string& name) {
  struct WipedDirectory {
    uint64_t parent;
    file::Listed listed;
    std::vector<Child> directories;  // still to be removed
  };
  std::vector<WipedDirectory> way;
  const auto enter = [&](uint64_t above, const file::Listed& listed) -> Status {
    way.push_back({above, listed, {}});
    return wipe_files(fs, listed.inode, &way.back().directories);
  };
  CAIRN_TRY_ASSIGN(top, find_slot(fs, parent, name));
  if (top.inode == 0) return Status();
  file::Tree tree(fs, top.inode);
  CAIRN_TRY(enter(parent, top));
  while (!way.empty()) {
    WipedDirectory& level = way.back();
    if (!level.directories.empty()) {
      const Child child = level.directories.back();
      level.directories.pop_back();
      if (tree.enter(child.above, child.listed).ok())
        CAIRN_TRY(enter(child.above.number, child.listed));
      else  // The inode has another name, or is a directory further up.
        CAIRN_TRY(gone_is_fine(file::clear_slot(fs, child.above.number, child.listed.unit,
                                                child.listed.inode, false)));
      continue;
    }
    CAIRN_TRY(remove_listed(fs, level.parent, level.listed, true));
    way.pop_back();
  }
  return Status();
}

}  // namespace cairn::tier
