#include "file/names.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "file/open_file.h"
#include "file/reclaim.h"
#include "file/shape.h"
#include "pool/lock.h"
#include "pool/seats.h"
#include "pool/space.h"

namespace cairn::file {
namespace {

unsigned type_of(uint64_t mode) { return (static_cast<unsigned>(mode) & S_IFMT) >> 12; }

Status writable(const FileSystem& fs) {
  if (fs.pool.read_only)
    return fail(EROFS, "pool %s is attached read-only", fs.pool.path.c_str());
  return Status();
}

// Still a directory that names may be put into, now that its lock is held.
Status check_alive(const Map& directory) {
  if ((directory.inode->state.load() & 7) != format::inode_live || directory.inode->links.load() == 0)
    return fail(ENOENT, "directory %llu was removed", static_cast<unsigned long long>(directory.number));
  return Status();
}

Result<Name> checked_name(const std::string& text) {
  if (text.empty() || text == "." || text == "..") return fail(EINVAL, "\"%s\" is no name", text.c_str());
  return make_name(text.data(), text.size());
}

Status exists(const std::string& name) { return fail(EEXIST, "%s: file exists", name.c_str()); }

// Writes a link's text: short ones into the inode, others into its first block.
Status write_target(FileSystem& fs, LocalSeat& seat, const Map& link, const std::string& target) {
  fs.pool.store(link.inode->size, target.size());
  if (target.size() <= format::inline_bytes) {
    pool::Segment& segment = fs.pool.segment_of(link.inode);
    return segment.region.copy(
        static_cast<uint64_t>(link.inode->text - segment.base), target.data(), target.size());
  }
  auto block = block_for(fs.pool, seat, link, 0, pool::Need::ordinary);
  if (!block.ok()) return block.status();
  return fs.pool.copy_in(*block, 0, target.data(), target.size());
}

// Gives back what an inode in the making holds.
void abandon(FileSystem& fs, LocalSeat& seat, const NewInode& made) {
  // Only a link's text can be there: one block, named by direct[0].
  const Entry entry{made.inode->direct[0].load()};
  if (entry && fs.pool.valid(entry.block()))
    pool::free_published(fs.pool, seat, entry.block(), 1, &made.inode->direct[0]);
  unmake_inode(fs, seat, made);
}

// The directories' locks for a change of two names, in an order that cannot deadlock.
class TwoDirectories {
 public:
  TwoDirectories(FileSystem& fs, LocalSeat& seat, const Map& a, const Map& b)
      : pool_(fs.pool), a_(a), b_(b) {
    if (a.number == b.number) {
      pool::acquire(pool_, seat, a.inode->lock);
      return;
    }
    pool::acquire(pool_, seat, pool_.state->rename_lock);
    const bool b_first = is_below(fs, a.number, b.number) ||
                         (!is_below(fs, b.number, a.number) && b.number < a.number);
    pool::acquire(pool_, seat, b_first ? b.inode->lock : a.inode->lock);
    pool::acquire(pool_, seat, b_first ? a.inode->lock : b.inode->lock);
  }
  ~TwoDirectories() {
    pool::release(pool_, a_.inode->lock);
    if (a_.number == b_.number) return;
    pool::release(pool_, b_.inode->lock);
    pool::release(pool_, pool_.state->rename_lock);
  }
  TwoDirectories(const TwoDirectories&) = delete;
  TwoDirectories& operator=(const TwoDirectories&) = delete;

  // Is `directory` at or below `ancestor`? Stable only under the rename lock.
  static bool is_below(FileSystem& fs, uint64_t directory, uint64_t ancestor) {
    for (unsigned depth = 0; depth < 65536; ++depth) {
      if (directory == ancestor) return true;
      if (directory <= format::root_inode) return false;
      const Inode* inode = inode_at(fs, directory);
      if (inode == nullptr || !S_ISDIR(inode->mode.load())) return false;
      directory = inode->directory.parent.load();
    }
    return false;
  }

 private:
  Pool& pool_;
  const Map& a_;
  const Map& b_;
};

// The locks of up to two inodes, in the order of their numbers.
class TwoInodes {
 public:
  TwoInodes(FileSystem& fs, LocalSeat& seat, const Map& a, const Map* b) : pool_(fs.pool) {
    first_ = &a.inode->lock;
    if (b != nullptr && b->number != a.number) second_ = &b->inode->lock;
    if (second_ != nullptr && b->number < a.number) std::swap(first_, second_);
    pool::acquire(pool_, seat, *first_);
    if (second_ != nullptr) pool::acquire(pool_, seat, *second_);
  }
  ~TwoInodes() {
    if (second_ != nullptr) pool::release(pool_, *second_);
    pool::release(pool_, *first_);
  }
  TwoInodes(const TwoInodes&) = delete;
  TwoInodes& operator=(const TwoInodes&) = delete;

 private:
  Pool& pool_;
  Word* first_ = nullptr;
  Word* second_ = nullptr;
};

Result<Map> live_map(FileSystem& fs, uint64_t number) {
  auto inode = live_inode(fs, number);
  if (!inode.ok()) return inode.status();
  return Map{*inode, number};
}

// Whether a directory that is about to be removed is empty is known only once lower was asked.
Status fill_victim(FileSystem& fs, const Map& directory, const Name& name) {
  if (fs.lower == nullptr) return Status();
  uint64_t number = 0;
  {
    pool::SeatGuard seat(fs.pool);
    if (!seat.ok()) return pool::no_seat(fs.pool);
    auto slot = find_name(fs, directory, name);
    if (!slot.ok() || !slot->has_lower()) return Status();
    number = slot->inode;
  }
  auto map = live_map(fs, number);
  if (!map.ok() || !S_ISDIR(map->inode->mode.load()) ||
      (map->inode->flags.load() & format::flag_lazy) == 0)
    return Status();
  return fs.lower->fill_directory(number);
}

}  // namespace

Result<Map> create_name(FileSystem& fs, uint64_t parent, const std::string& text,
                        const CreateRequest& request) {
  CAIRN_TRY(writable(fs));
  auto name = checked_name(text);
  if (!name.ok()) return name.status();
  auto directory = enter_directory(fs, parent);
  if (!directory.ok()) return directory.status();
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  pool::LockGuard lock(fs.pool, *seat, directory->inode->lock);
  CAIRN_TRY(check_alive(*directory));
  auto before = find_name(fs, *directory, *name);
  if (before.ok()) return exists(text);
  if (before.code() != ENOENT) return before.status();
  CAIRN_TRY(grow_index(fs, *seat, *directory));
  auto made = make_inode(fs, *seat, request.mode, pool::Need::ordinary);
  if (!made.ok()) return made.status();
  const Map map{made->inode, made->number};
  const bool is_directory = S_ISDIR(request.mode);
  fs.pool.store(map.inode->rdev, request.rdev);
  fs.pool.store(map.inode->links, is_directory ? 2 : 1);
  if (is_directory) fs.pool.store(map.inode->directory.parent, parent);
  if ((directory->inode->mode.load() & S_ISGID) != 0) {
    fs.pool.store(map.inode->owner, (map.inode->owner.load() & 0xffffffff) |
                                        (directory->inode->owner.load() >> 32) << 32);
    if (is_directory) fs.pool.store(map.inode->mode, request.mode | S_ISGID);
  }
  Status status;
  if (request.target != nullptr) status = write_target(fs, *seat, map, *request.target);
  fs.pool.flush(map.inode, sizeof *map.inode);
  pool::Change change(fs.pool, *seat);
  if (status.ok())
    status = insert_name(fs, *seat, change, *directory, *name, map.number, type_of(request.mode));
  if (!status.ok()) {
    abandon(fs, *seat, *made);
    return status;
  }
  change.set(map.inode->state, format::inode_live);
  if (is_directory) change.set(directory->inode->links, directory->inode->links.load() + 1);
  status = change.commit();
  inode_is_made(fs, *seat);
  CAIRN_TRY(status);
  return map;
}

Result<Map> create_unnamed(FileSystem& fs, LocalSeat& seat, uint32_t mode) {
  CAIRN_TRY(writable(fs));
  auto made = make_inode(fs, seat, mode, pool::Need::ordinary);
  if (!made.ok()) return made.status();
  fs.pool.store(made->inode->opens, 1);
  pool::Change change(fs.pool, seat);
  change.set(made->inode->state, format::inode_live);
  Status status = change.commit();
  inode_is_made(fs, seat);
  CAIRN_TRY(status);
  return Map{made->inode, made->number};
}

Status unlink_name(FileSystem& fs, uint64_t parent, const std::string& text) {
  CAIRN_TRY(writable(fs));
  auto name = checked_name(text);
  if (!name.ok()) return name.status();
  auto directory = enter_directory(fs, parent);
  if (!directory.ok()) return directory.status();
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  uint64_t number = 0;
  bool last_name = false;
  {
    pool::LockGuard lock(fs.pool, *seat, directory->inode->lock);
    auto slot = find_name(fs, *directory, *name);
    if (!slot.ok()) {
      if (slot.code() == ENOENT) return fail(ENOENT, "%s: no such file or directory", text.c_str());
      return slot.status();
    }
    auto map = live_map(fs, slot->inode);
    if (!map.ok()) return map.status();
    if (S_ISDIR(map->inode->mode.load())) return fail(EISDIR, "%s: is a directory", text.c_str());
    pool::LockGuard inode_lock(fs.pool, *seat, map->inode->lock);
    pool::Change change(fs.pool, *seat);
    CAIRN_TRY(remove_name(fs, change, *directory, *slot, *name));
    const uint64_t links = map->inode->links.load() - 1;
    change.set(map->inode->links, links);
    change.set(map->inode->ctime, now_ns());
    number = map->number;
    last_name = links == 0;
    DirectoryChange moving(fs, *seat, *directory->inode, directory->number);
    CAIRN_TRY(change.commit());
  }
  if (last_name) end_if_unused(fs, *seat, number);
  return Status();
}

Status remove_directory(FileSystem& fs, uint64_t parent, const std::string& text) {
  CAIRN_TRY(writable(fs));
  if (text == ".") return fail(EINVAL, "\".\" cannot be removed");
  auto name = checked_name(text);
  if (!name.ok()) return name.status();
  auto directory = enter_directory(fs, parent);
  if (!directory.ok()) return directory.status();
  CAIRN_TRY(fill_victim(fs, *directory, *name));
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  uint64_t number = 0;
  {
    pool::LockGuard lock(fs.pool, *seat, directory->inode->lock);
    auto slot = find_name(fs, *directory, *name);
    if (!slot.ok()) {
      if (slot.code() == ENOENT) return fail(ENOENT, "%s: no such file or directory", text.c_str());
      return slot.status();
    }
    auto map = live_map(fs, slot->inode);
    if (!map.ok()) return map.status();
    if (!S_ISDIR(map->inode->mode.load())) return fail(ENOTDIR, "%s: not a directory", text.c_str());
    pool::LockGuard inode_lock(fs.pool, *seat, map->inode->lock);
    if ((map->inode->flags.load() & format::flag_lazy) != 0)
      return fail(ENOTEMPTY, "%s: directory not empty", text.c_str());
    if (map->inode->directory.entries.load() != 0)
      return fail(ENOTEMPTY, "%s: directory not empty", text.c_str());
    pool::Change change(fs.pool, *seat);
    CAIRN_TRY(remove_name(fs, change, *directory, *slot, *name));
    change.set(map->inode->links, 0);
    change.set(directory->inode->links, directory->inode->links.load() - 1);
    number = map->number;
    DirectoryChange moving(fs, *seat, *directory->inode, directory->number);
    CAIRN_TRY(change.commit());
  }
  end_if_unused(fs, *seat, number);
  return Status();
}

Status link_inode(FileSystem& fs, uint64_t number, uint64_t parent, const std::string& text) {
  CAIRN_TRY(writable(fs));
  auto name = checked_name(text);
  if (!name.ok()) return name.status();
  auto directory = enter_directory(fs, parent);
  if (!directory.ok()) return directory.status();
  auto map = live_map(fs, number);
  if (!map.ok()) return map.status();
  if (S_ISDIR(map->inode->mode.load())) return fail(EPERM, "a directory has one name only");
  if ((map->inode->flags.load() & format::flag_lazy) != 0 && fs.lower != nullptr)
    CAIRN_TRY(fs.lower->stage(number, false));
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  pool::LockGuard lock(fs.pool, *seat, directory->inode->lock);
  CAIRN_TRY(check_alive(*directory));
  auto before = find_name(fs, *directory, *name);
  if (before.ok()) return exists(text);
  if (before.code() != ENOENT) return before.status();
  CAIRN_TRY(grow_index(fs, *seat, *directory));
  pool::LockGuard inode_lock(fs.pool, *seat, map->inode->lock);
  if ((map->inode->state.load() & 7) != format::inode_live)
    return fail(ENOENT, "the file to be linked was removed");
  pool::Change change(fs.pool, *seat);
  CAIRN_TRY(insert_name(fs, *seat, change, *directory, *name, number,
                        type_of(map->inode->mode.load())));
  change.set(map->inode->links, map->inode->links.load() + 1);
  change.set(map->inode->ctime, now_ns());
  return change.commit();
}

namespace {

// One attempt at a rename; ESTALE: the names changed before the inodes were locked, try again.
Status rename_locked(FileSystem& fs, LocalSeat& seat, const Map& from_directory, const Name& from,
                     const Map& to_directory, const Name& to, const RenameEnd& from_end,
                     const RenameEnd& to_end, unsigned flags, uint64_t* removed) {
  CAIRN_TRY(check_alive(to_directory));
  auto source = find_name(fs, from_directory, from);
  if (!source.ok()) {
    if (source.code() == ENOENT)
      return fail(ENOENT, "%s: no such file or directory", from_end.name.c_str());
    return source.status();
  }
  auto moved = live_map(fs, source->inode);
  if (!moved.ok()) return moved.status();
  auto target = find_name(fs, to_directory, to);
  if (!target.ok() && target.code() != ENOENT) return target.status();
  const bool exchange = (flags & rename_exchange) != 0;
  if (target.ok() && (flags & rename_no_replace) != 0) return exists(to_end.name);
  if (!target.ok() && exchange)
    return fail(ENOENT, "%s: no such file or directory", to_end.name.c_str());
  const bool moved_directory = S_ISDIR(moved->inode->mode.load());
  if (!moved_directory && (from_end.must_be_directory || (to_end.must_be_directory && !exchange)))
    return fail(ENOTDIR, "%s: not a directory", from_end.name.c_str());
  Map other;
  if (target.ok()) {
    auto map = live_map(fs, target->inode);
    if (!map.ok()) return map.status();
    other = *map;
    if (other.number == moved->number) return Status();  // two names of one file: nothing to do
  }
  // A directory must not move below itself.
  if (moved_directory && TwoDirectories::is_below(fs, to_directory.number, moved->number))
    return fail(EINVAL, "%s cannot move below itself", from_end.name.c_str());
  const bool other_directory = other.inode != nullptr && S_ISDIR(other.inode->mode.load());
  if (exchange && other_directory &&
      TwoDirectories::is_below(fs, from_directory.number, other.number))
    return fail(EINVAL, "%s cannot move below itself", to_end.name.c_str());
  if (!exchange && other.inode != nullptr) {
    // An ancestor of the source is not empty; say so before its lock is asked for.
    if (other_directory && TwoDirectories::is_below(fs, from_directory.number, other.number))
      return fail(ENOTEMPTY, "%s: directory not empty", to_end.name.c_str());
    if (moved_directory && !other_directory)
      return fail(ENOTDIR, "%s: not a directory", to_end.name.c_str());
    if (!moved_directory && other_directory)
      return fail(EISDIR, "%s: is a directory", to_end.name.c_str());
  }
  if (other.inode == nullptr) CAIRN_TRY(grow_index(fs, seat, to_directory));
  TwoInodes inodes(fs, seat, *moved, other.inode == nullptr ? nullptr : &other);
  if (!exchange && other_directory &&
      (other.inode->directory.entries.load() != 0 ||
       (other.inode->flags.load() & format::flag_lazy) != 0))
    return fail(ENOTEMPTY, "%s: directory not empty", to_end.name.c_str());

  const uint64_t now = now_ns();
  pool::Change change(fs.pool, seat);
  const auto add_links = [&change](const Map& map, int64_t n) {
    change.set(map.inode->links, change.get(map.inode->links) + static_cast<uint64_t>(n));
  };
  if (other.inode != nullptr) {
    replace_name(change, *target, moved->number, type_of(moved->inode->mode.load()));
    change.set(other.inode->ctime, now);
  } else {
    CAIRN_TRY(insert_name(fs, seat, change, to_directory, to, moved->number,
                          type_of(moved->inode->mode.load())));
  }
  if (exchange) {
    replace_name(change, *source, other.number, type_of(other.inode->mode.load()));
  } else {
    // The slot was looked up before the insertion; it has not moved, but its chain may have.
    CAIRN_TRY(remove_name(fs, change, from_directory, *source, from));
    if (other.inode != nullptr) {
      if (other_directory) {
        change.set(other.inode->links, 0);
        add_links(to_directory, -1);
      } else {
        add_links(other, -1);
      }
      if (change.get(other.inode->links) == 0) *removed = other.number;
    }
  }
  if (from_directory.number != to_directory.number) {
    if (moved_directory) {
      add_links(from_directory, -1);
      add_links(to_directory, 1);
      change.set(moved->inode->directory.parent, to_directory.number);
    }
    if (exchange && other_directory) {
      add_links(to_directory, -1);
      add_links(from_directory, 1);
      change.set(other.inode->directory.parent, from_directory.number);
    }
  }
  for (const Map& directory : {from_directory, to_directory}) {
    change.set(directory.inode->mtime, now);
    change.set(directory.inode->ctime, now);
  }
  change.set(moved->inode->ctime, now);
  DirectoryChange from_change(fs, seat, *from_directory.inode, from_directory.number);
  if (from_directory.number == to_directory.number) return change.commit();
  DirectoryChange to_change(fs, seat, *to_directory.inode, to_directory.number);
  return change.commit();
}

// What moves must not depend on its path in lower any more.
Status make_own(FileSystem& fs, const Map& directory, const Name& name) {
  if (fs.lower == nullptr) return Status();
  uint64_t number = 0;
  {
    pool::SeatGuard seat(fs.pool);
    if (!seat.ok()) return pool::no_seat(fs.pool);
    auto slot = find_name(fs, directory, name);
    if (!slot.ok() || !slot->has_lower()) return Status();
    number = slot->inode;
  }
  return fs.lower->stage_tree(number);
}

}  // namespace

Status rename(FileSystem& fs, const RenameEnd& from_end, const RenameEnd& to_end, unsigned flags) {
  CAIRN_TRY(writable(fs));
  if ((flags & ~(rename_no_replace | rename_exchange)) != 0 ||
      flags == (rename_no_replace | rename_exchange))
    return fail(EINVAL, "rename flags %#x are not served", flags);
  for (const RenameEnd* end : {&from_end, &to_end}) {
    if (end->name == "." || end->name == "..") return fail(EBUSY, "\"%s\" cannot be renamed", end->name.c_str());
  }
  auto from = checked_name(from_end.name);
  if (!from.ok()) return from.status();
  auto to = checked_name(to_end.name);
  if (!to.ok()) return to.status();
  auto from_directory = enter_directory(fs, from_end.parent);
  if (!from_directory.ok()) return from_directory.status();
  auto to_directory = enter_directory(fs, to_end.parent);
  if (!to_directory.ok()) return to_directory.status();
  CAIRN_TRY(make_own(fs, *from_directory, *from));
  if ((flags & rename_exchange) != 0) CAIRN_TRY(make_own(fs, *to_directory, *to));
  else CAIRN_TRY(fill_victim(fs, *to_directory, *to));
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  uint64_t removed = 0;
  {
    TwoDirectories locks(fs, *seat, *from_directory, *to_directory);
    CAIRN_TRY(rename_locked(fs, *seat, *from_directory, *from, *to_directory, *to, from_end, to_end,
                            flags, &removed));
  }
  if (removed != 0) end_if_unused(fs, *seat, removed);
  return Status();
}

Result<std::string> path_of(FileSystem& fs, uint64_t top, uint64_t directory) {
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  std::string path;
  for (unsigned depth = 0; directory != top; ++depth) {
    auto here = live_map(fs, directory);
    if (!here.ok() || here->inode->links.load() == 0 || depth > 65536)
      return fail(ENOENT, "the directory was removed");
    const uint64_t parent = here->inode->directory.parent.load();
    auto above = live_map(fs, parent);
    if (!above.ok()) return fail(ENOENT, "the directory was removed");
    // Names are found by looking through the parent: paths are asked for rarely.
    std::vector<Listed> batch(64);
    bool found = false;
    for (uint64_t cookie = 0; !found;) {
      auto n = list_names(fs, *seat, *above, cookie, batch.data(), batch.size());
      if (!n.ok()) return n.status();
      if (*n == 0) break;
      for (size_t i = 0; i < *n && !found; ++i) {
        if (batch[i].inode != directory) continue;
        path = "/" + std::string(batch[i].name, batch[i].length) + path;
        found = true;
      }
      cookie = batch[*n - 1].cookie;
    }
    if (!found) return fail(ENOENT, "the directory was removed");
    directory = parent;
  }
  return path.empty() ? std::string("/") : path;
}

Status import_name(FileSystem& fs, uint64_t parent, const std::string& text,
                   const ImportedInode& imported, const LowerIdentity& lower) {
  auto name = checked_name(text);
  if (!name.ok()) return name.status();
  auto directory = live_map(fs, parent);
  if (!directory.ok()) return directory.status();
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  pool::LockGuard lock(fs.pool, *seat, directory->inode->lock);
  CAIRN_TRY(check_alive(*directory));
  auto before = find_name(fs, *directory, *name, true);
  if (before.ok()) return exists(text);
  if (before.code() != ENOENT) return before.status();
  CAIRN_TRY(grow_index(fs, *seat, *directory));
  auto made = make_inode(fs, *seat, imported.mode, pool::Need::ordinary);
  if (!made.ok()) return made.status();
  Inode& inode = *made->inode;
  const bool is_directory = S_ISDIR(imported.mode);
  const bool lazy = is_directory || (S_ISREG(imported.mode) && imported.size != 0);
  Pool& pool = fs.pool;
  pool.store(inode.owner, imported.uid | static_cast<uint64_t>(imported.gid) << 32);
  pool.store(inode.atime, imported.atime);
  pool.store(inode.mtime, imported.mtime);
  pool.store(inode.ctime, imported.ctime);
  pool.store(inode.links, is_directory ? 2 : 1);
  pool.store(inode.flags, lazy ? format::flag_lazy : 0);
  if (S_ISREG(imported.mode)) pool.store(inode.size, imported.size);
  pool.store(inode.rdev, imported.rdev);
  pool.store(inode.lower_parent, parent);
  pool.store(inode.drained, imported.ctime);
  if (is_directory) pool.store(inode.directory.parent, parent);
  Status status;
  if (S_ISLNK(imported.mode))
    status = write_target(fs, *seat, {&inode, made->number}, imported.target);
  pool.flush(&inode, sizeof inode);
  pool::Change change(pool, *seat);
  const uint64_t mtime = directory->inode->mtime.load();
  const uint64_t ctime = directory->inode->ctime.load();
  if (status.ok())
    status = insert_name(fs, *seat, change, *directory, *name, made->number,
                         type_of(imported.mode), &lower);
  if (!status.ok()) {
    abandon(fs, *seat, *made);
    return status;
  }
  // Importing is no change that a user has made.
  change.set(directory->inode->mtime, mtime);
  change.set(directory->inode->ctime, ctime);
  change.set(inode.state, format::inode_live);
  if (is_directory) change.set(directory->inode->links, directory->inode->links.load() + 1);
  status = change.commit();
  inode_is_made(fs, *seat);
  CAIRN_TRY(status);
  // A hint that spares a search: without it (killed just here) the directory is looked through.
  auto slot = find_name(fs, *directory, *name);
  if (slot.ok()) pool.store_flush(inode.lower_unit, slot->unit + 1);
  return Status();
}

Status set_flags(FileSystem& fs, uint64_t number, uint64_t set, uint64_t clear) {
  auto map = live_map(fs, number);
  if (!map.ok()) return map.status();
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  pool::LockGuard lock(fs.pool, *seat, map->inode->lock);
  pool::Change change(fs.pool, *seat);
  change.set(map->inode->flags, (map->inode->flags.load() & ~clear) | set);
  return change.commit();
}

}  // namespace cairn::file
