// Files that were drained and then renamed: lower's file gets a link under the new name, and
// nothing is copied. The old name goes as every removed name does, at the end of a drain that could
// do everything.
#include <fcntl.h>
#include <sys/stat.h>

#include "file/moved.h"
#include "file/names.h"
#include "file/pins.h"
#include "file/shape.h"
#include "pool/lock.h"
#include "tier/at_home.h"
#include "tier/drain_state.h"
#include "tier/from_pool.h"
#include "tier/listing.h"

namespace cairn::tier {
namespace {

// A process that stores through the map right now gets this long.
constexpr int patience_ms = 20;

// With no writer at work: what one has written shows afterwards. `*time`: of the last rename.
bool only_the_name_has_changed(DrainState& state, const file::Map& map, uint64_t* time) {
  file::FileSystem& fs = state.fs;
  *time = map.inode->file.moved.load();
  // From then on each write has another time.
  if (!wait_for_tick(*time)) return false;
  const pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return false;
  const pool::LockGuard lock(fs.pool, *seat, map.inode->lock);
  const file::ShapeChange alone(fs, *seat, *map.inode, map.number, patience_ms);
  return alone.is_alone() && file::has_only_moved(*map.inode) &&
         map.inode->file.moved.load() == *time && !file::is_pinned(fs, map.number);
}

// The path in lower of the name that the file had when it was drained; "": not known any more, or
// that name is another file's in lower by now.
std::string old_path(DrainState& state, const file::Map& map) {
  file::FileSystem& fs = state.fs;
  const uint64_t parent = map.inode->lower_parent.load();
  const uint64_t unit = map.inode->lower_unit.load();
  if (parent == 0 || unit == 0 || !is_directory_at_home(fs, parent)) return "";
  auto directory = file::live_inode(fs, parent);
  auto above = file::path_of(fs, state.top.inode, parent);
  if (!directory.ok() || !above.ok()) return "";
  const pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return "";
  file::Listed listed;
  const auto found = file::list_slots(fs, {*directory, parent}, unit - 1, &listed, 1);
  if (!found.ok() || *found == 0 || unit_of(listed) + 1 != unit || !listed.sound ||
      !listed.has_lower || !is_same(listed.lower, file::identity_before_move(*map.inode)))
    return "";
  return state.cover.path + (*above == "/" ? "" : *above) + "/" + name_of(listed);
}

// Lower's file under its old name. Size and time can be made the same, and its number be another
// file's by now; the owner cannot be made the same.
sys::Descriptor open_old(DrainState& state, const file::Map& map, struct stat* st) {
  const std::string path = old_path(state, map);
  if (path.empty()) return {};
  const int64_t opened = state.beneath.open(path, O_PATH | O_NOFOLLOW);
  if (opened < 0) return {};
  sys::Descriptor file(static_cast<int>(opened));
  const file::Attributes wanted = attributes_now(state.fs, map);
  const bool counts =
      check_file(file.get(), state.known, file::identity_before_move(*map.inode)) == 0 &&
      sys::fstat(file.get(), st) == 0 && S_ISREG(st->st_mode) &&
      static_cast<uint64_t>(st->st_size) == wanted.size &&
      (is_believed(st->st_uid, state.owner) || st->st_uid == wanted.uid);
  return counts ? std::move(file) : sys::Descriptor();
}

}  // namespace

bool drain_moved(DrainState& state, const Where& where, LowerDirectory& lower,
                 const file::Listed& listed, const file::Map& map, InLower expected) {
  if (!file::has_only_moved(*map.inode)) return false;
  const std::string path = where.path + "/" + name_of(listed);
  const auto fd = static_cast<int>(lower.fd());
  Aside aside;
  aside.name = state.aside;
  aside.expected = expected;
  if (!only_the_name_has_changed(state, map, &aside.change_time) ||
      !still_names(state.fs, where, listed, map))
    return false;
  const sys::Descriptor old = open_old(state, map, &aside.st);
  if (!old.ok()) return false;
  const Status status = state.journal.write({where.path, aside.name, "", 0, 0, 0, 0, 0, {}});
  if (!status.ok()) return false;  // who copies it tells
  struct stat linked = aside.st;
  ++linked.st_nlink;
  announce_links(state, linked);
  // Where there are no links, it is copied.
  if (link_open_file(old.get(), fd, aside.name.c_str()) < 0) return false;
  // The name may be a link to the same file already, and a rename of one to the other does nothing.
  struct stat there = {};
  if (sys::lstatat(fd, listed.name, &there) == 0 && there.st_dev == aside.st.st_dev &&
      there.st_ino == aside.st.st_ino) {
    sys::unlinkat(fd, aside.name.c_str(), 0);
    return false;
  }
  if (publish(state, where, lower, listed, map, aside)) ++state.report.files;
  return true;
}

}  // namespace cairn::tier
