// Drains files that were drained before and then renamed: lower's file gets a link under the new
// name, and nothing is copied. The old name is removed, as all removed names are, at the end of a
// drain that could do everything.
#include "tier/drain/drain_moved.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "file/inode/pins.h"
#include "file/inode/shape.h"
#include "file/namespace/moved.h"
#include "file/namespace/names.h"
#include "pool/lanes/lock.h"
#include "tier/replace/drain_notes.h"
#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"
#include "tier/replace/moved_directory.h"
#include "tier/replace/publish.h"
#include "tier/stage/at_home.h"
#include "tier/stage/from_pool.h"
#include "tier/system/listing.h"
#include "tier/system/open_files.h"

namespace cairn::tier {
namespace {

// How long the drain waits for a process that stores through the map.
constexpr int patience_ms = 20;

// The file as lower had it before it, or a directory above it, was renamed.
struct Before {
  file::Witness witness;
  uint64_t time = 0;  // of the last rename of the file; if there is none, of its drain
  bool with_directory = false;
};

bool is_still(const DrainDirectory& where, const file::Listed& listed, const file::Map& map,
              const Before& before) {
  if (before.with_directory)
    return has_only_moved_with_directory(where, listed, map) &&
           map.inode->drained.load() == before.time;
  return file::has_only_moved(*map.inode) && map.inode->file.moved.load() == before.time;
}

// No process writes the file while this looks. Later writes change its time.
bool only_the_name_has_changed(DrainState& state, const DrainDirectory& where,
                               const file::Listed& listed, const file::Map& map,
                               const Before& before) {
  file::FileSystem& fs = state.fs;
  // After the next tick, each write has another time than the rename.
  if (!wait_for_tick(before.time)) return false;
  const pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return false;
  const pool::LockGuard lock(fs.pool, *seat, map.inode->lock);
  const file::ShapeChange alone(fs, *seat, *map.inode, map.number, patience_ms);
  return alone.is_alone() && is_still(where, listed, map, before) &&
         !file::is_pinned(fs, map.number);
}

// The path in lower under which the file was drained. "": it is not known any more, or another file
// has it by now.
std::string old_path(DrainState& state, const DrainDirectory& where, const file::Listed& listed,
                     const file::Map& map, const Before& before) {
  if (before.with_directory) {
    const auto directory = state.old_paths.find(where.inode);
    return directory == state.old_paths.end() ? "" : directory->second + "/" + name_of(listed);
  }
  file::Listed slot;
  const std::string path =
      old_path_of(state, map.inode->lower_parent.load(), home_unit(*map.inode), &slot);
  return compare(slot.lower, before.witness).is_same() ? path : "";
}

// Opens lower's file under its old name. Another file may have its inode number by now, and a user
// can give that the same size and times, but not the same owner.
sys::Descriptor open_old(DrainState& state, const std::string& path, const file::Map& map,
                         const Before& before, sys::FileStat* st) {
  if (path.empty()) return {};
  const int64_t opened = state.beneath.open(path, O_PATH | O_NOFOLLOW);
  if (opened < 0) return {};
  sys::Descriptor file(static_cast<int>(opened));
  const file::Attributes wanted = attributes_now(state.fs, map);
  const bool counts = check_file(file.get(), state.known, before.witness) == 0 &&
                      sys::fstat(file.get(), st) == 0 && S_ISREG(st->st_mode) &&
                      static_cast<uint64_t>(st->st_size) == wanted.size &&
                      (is_trusted_owner(st->st_uid, state.owner) || st->st_uid == wanted.uid);
  return counts ? std::move(file) : sys::Descriptor();
}

}  // namespace

bool drain_moved(const DrainName& item, InLower expected) {
  Before before;
  if (file::has_only_moved(*item.map.inode))
    before = {file::witness_before_move(*item.map.inode), item.map.inode->file.moved.load(), false};
  else if (has_only_moved_with_directory(item.where, item.listed, item.map))
    before = {item.listed.lower, item.map.inode->drained.load(), true};
  else
    return false;
  const auto fd = static_cast<int>(item.lower.fd());
  TempFile temp = new_temp_file(item, expected);
  temp.from = {before.time, item.map.inode->drained.load()};
  temp.rights = before.witness.rights;
  if (!only_the_name_has_changed(item.state, item.where, item.listed, item.map, before) ||
      !still_names(item.state.fs, item.where, item.listed, item.map))
    return false;
  const sys::Descriptor old =
      open_old(item.state, old_path(item.state, item.where, item.listed, item.map, before),
               item.map, before, &temp.st);
  if (!old.ok()) return false;
  if (!announce_temp_file(item, temp).ok())
    return false;  // the caller copies the file, and reports errors
  sys::FileStat linked = temp.st;
  ++linked.st_nlink;
  announce_links(item.state, linked);
  // On a file system without links the caller copies the file.
  if (link_open_file(old.get(), fd, temp.name.c_str()) < 0) return false;
  // If the name is a link to the same file already, rename() does nothing.
  sys::FileStat there = {};
  if (sys::lstatat(fd, item.listed.name, &there) == 0 && is_same_file(there, temp.st)) {
    sys::unlinkat(fd, temp.name.c_str(), 0);
    return false;
  }
  publish(item, temp);
  return true;
}

}  // namespace cairn::tier
