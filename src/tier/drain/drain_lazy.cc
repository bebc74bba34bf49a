// Drains a file whose bytes still lie in lower, but whose mode, owner, times or attributes were
// changed.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "file/inode/attributes.h"
#include "tier/drain/drain_state.h"
#include "tier/lower/pool_rights.h"
#include "tier/lower/unreadable.h"
#include "tier/record/attributes.h"
#include "tier/record/mode_of_lower.h"
#include "tier/system/listing.h"

namespace cairn::tier {
namespace {

// How long a drain beside programs waits for a process that stages the file. That process may wait
// for room, which only the rest of the drain can make.
constexpr uint64_t patience_ns = 20'000'000;

// Sets the times to the present time, which a process may do that may write the file but does not
// own it. The program that set them could do no more either. That time is not known before, so the
// journal announces it; if this drain is killed, the next one sets the times again.
Status set_present_times(DrainState& state, JournalRecord record, int fd, const std::string& path) {
  record.witness.mtime = present_time;
  record.change_time = 0;
  CAIRN_TRY(state.journal.write(record));
  const int64_t result = sys::set_present_times(fd);
  if (result == -EACCES) return Status();  // it may not write to the file either: the times stay
  return result < 0 ? sys::failed(result, "times", path) : Status();
}

Status apply_times(DrainState& state, const JournalRecord& record, const file::Attributes& wanted,
                   const sys::FileStat& st, int fd, const std::string& path) {
  if (sys::mtime_of(st) == wanted.mtime && sys::atime_of(st) == wanted.atime) return Status();
  int64_t result = sys::utimensat(fd, nullptr, wanted.atime, wanted.mtime);
  if (result == -EPERM) {
    if (sys::mtime_of(st) != wanted.mtime) return set_present_times(state, record, fd, path);
    result = 0;  // every reader changes the atime, so it is left
  }
  return result < 0 ? sys::failed(result, "times", path) : Status();
}

// Sets only what differs: this user may be able to write a file of another user, but not to change
// its attributes.
Status apply(DrainState& state, const JournalRecord& record, const file::Map& map,
             const file::Attributes& wanted, int fd, const std::string& path) {
  int64_t result = 0;
  sys::FileStat st = {};
  if ((result = sys::fstat(fd, &st)) < 0) return sys::failed(result, "stat", path);
  const sys::FileStat before = st;
  if (st.st_uid != wanted.uid || st.st_gid != wanted.gid) {
    if ((result = sys::fchownat(fd, "", wanted.uid, wanted.gid)) < 0 ||
        (result = sys::fstat(fd, &st)) < 0)  // chown may have cleared the set-user-ID bit
      return sys::failed(result, "chown", path);
  }
  CAIRN_TRY(export_attributes(state.fs, map, fd, -1, false));
  if ((st.st_mode & 07777) != (wanted.mode & 07777)) {
    if ((result = sys::fchmod(fd, wanted.mode & 07777)) < 0)
      return sys::failed(result, "chmod", path);
  }
  end_mode_of_others(state.fs, map, fd, before);
  CAIRN_TRY(apply_times(state, record, wanted, st, fd, path));
  if ((result = sys::fsync(fd)) < 0) return sys::failed(result, "fsync", path);
  return Status();
}

// Opens a file in any way that its mode allows: it may refuse its own owner reading, writing or
// both. -ESTALE: this is not the file that the pool remembers. `*st`: of the file before a mode
// that refuses both was changed.
int64_t open_any(const DrainState& state, int directory, const file::Listed& listed,
                 sys::FileStat* st) {
  constexpr int flags = O_NOFOLLOW | O_NONBLOCK;
  const auto checked = [&](int64_t opened) -> int64_t {
    if (opened < 0) return opened;
    sys::Descriptor fd(static_cast<int>(opened));
    if (const int64_t result = sys::fstat(fd.get(), st); result < 0) return result;
    return S_ISREG(st->st_mode) && is_remembered(state.known, listed.lower, *st) ? fd.take()
                                                                                 : -ESTALE;
  };
  int64_t opened = sys::openat(directory, listed.name, O_RDONLY | flags);
  if (opened == -EACCES) opened = sys::openat(directory, listed.name, O_WRONLY | flags);
  if (opened != -EACCES) return checked(opened);
  return open_unreadable(checked(sys::openat(directory, listed.name, O_PATH | O_NOFOLLOW)),
                         O_RDONLY | O_NONBLOCK);
}

constexpr const char* conflict_text =
    "its attributes were changed in the pool, and it changed there outside Cairn";

// How the attributes reach lower.
enum class LazyWay : uint8_t {
  in_place,    // they are set on the file
  anew,        // a new file gets the same bytes and the attributes (drain_anew.cc)
  conflicting  // both are kept
};

// A file with several names in lower becomes a new file, because the other names keep its times and
// attributes: some are files of their own in the pool, others were removed in the pool and wait for
// their removal in lower, which compares the times.
// The file itself gets another owner, group or mode only if it has not changed at all since it was
// imported, and nobody else could write to it before. Otherwise another user may hold it open for
// writing.
LazyWay way_for(const DrainState& state, const file::Listed& listed, const sys::FileStat& st,
                const Rights& wanted) {
  const bool is_same_mode = ((wanted.mode ^ st.st_mode) & 07777) == 0;
  const bool has_one_name = st.st_nlink == 1;
  if (has_one_name && st.st_uid == wanted.uid && st.st_gid == wanted.gid && is_same_mode &&
      !wanted.has_attributes)
    return LazyWay::in_place;
  Rights given = wanted;
  if (geteuid() != 0) given.uid = geteuid();  // a new file is this user's
  if (!may_have_rights(state.known, listed.lower, st, given, state.owner))
    return LazyWay::conflicting;
  const bool is_certain = compare(state.known, listed.lower, st).difference == Difference::none &&
                          listed.lower.birth != 0;
  const bool is_ours = !may_have_been_written_by_others(listed.lower, st, state.owner);
  return has_one_name && is_certain && is_ours ? LazyWay::in_place : LazyWay::anew;
}

}  // namespace

bool drain_lazy(const DrainName& item) {
  const std::string path = item.where.path + "/" + name_of(item.listed);
  const ImportLock lock(item.state.fs, item.map,
                        item.state.leaves_busy_files() ? patience_ns : ImportLock::forever);
  if (!lock.ok()) {
    item.state.failed(path, pool::no_seat(item.state.fs.pool));
    return true;
  }
  if (!lock.is_held()) {
    postpone(item.state, item.where, item.map);
    return true;
  }
  if ((item.map.inode->flags.load() & format::flag_lazy) == 0) return false;
  const uint64_t time = change_time(item.state.fs, item.map);
  wait_for_tick(time);
  if (!still_names(item.state.fs, item.where, item.listed, item.map)) return true;
  const int64_t directory = item.lower.fd();
  if (directory < 0) {
    item.state.not_opened(item.where, path, directory);
    return true;
  }
  sys::FileStat st = {};
  if (look(item.state.known, static_cast<int>(directory), item.listed, &st) !=
      InLower::remembered) {
    item.state.conflict(item.where, path, conflict_text);
    return true;
  }
  const int64_t opened = open_any(item.state, static_cast<int>(directory), item.listed, &st);
  if (opened == -ESTALE) {
    item.state.conflict(item.where, path, conflict_text);
    return true;
  }
  if (opened < 0) {
    item.state.failed(path, sys::failed(opened, "open", path));
    return true;
  }
  const sys::Descriptor fd(static_cast<int>(opened));
  file::Attributes wanted;
  {
    pool::SeatGuard seat(item.state.fs.pool);
    if (!seat.ok()) return true;
    wanted = with_rights(item.state.fs, file::attributes_of(item.state.fs, item.map));
  }
  if (wanted.uid == keeps_owner) {
    wanted.uid = st.st_uid;
    wanted.gid = st.st_gid;
  }
  const file::Attributes in_pool = wanted;
  const uint64_t noted = noted_rights(in_pool.uid, in_pool.gid, in_pool.mode);
  wanted = merge_rights(item.listed.lower, st, in_pool);
  // A capability acts for the owner that the file had when the program set it.
  const bool has_attributes = wanted.uid == in_pool.uid && wanted.gid == in_pool.gid &&
                              has_system_attributes(item.state.fs, item.map);
  const Rights rights{wanted.uid, wanted.gid, wanted.mode, has_attributes};
  const LazyWay way = way_for(item.state, item.listed, st, rights);
  if (way == LazyWay::conflicting) {
    const std::string text =
        std::string(conflict_text) + ": " + compare(item.state.known, item.listed.lower, st).reason;
    item.state.conflict(item.where, path, text.c_str());
    return true;
  }
  if (way == LazyWay::anew) {
    const file::Attributes of_new = merge_rights(item.listed.lower, st, in_pool, true);
    const Status status = drain_anew(item, {fd.get(), st, of_new, time, noted});
    const bool may_be_in_place =
        status.code() == EACCES && st.st_nlink == 1 && !gives_rights(st, rights);
    if (status.ok() || item.state.cancelled) return true;
    if (!may_be_in_place) {
      if (status.code() == ESTALE)
        item.state.conflict(item.where, path, conflict_text);
      else
        item.state.failed(path, status);
      return true;
    }
  }
  file::Witness witness = item.listed.lower;
  witness.mtime = wanted.mtime;
  witness.rights = noted;
  // The file may be moved meanwhile. The announcement tells a removal of the directory its new
  // times.
  if (item.state.leaves_busy_files() && announce(item.state.fs, item.where.inode) == 0) {
    item.state.waiting.insert(item.where.inode);
    return true;
  }
  const JournalRecord record{item.where.path,
                             item.state.aside,
                             name_of(item.listed),
                             item.where.inode,
                             item.where.map.inode->generation.load(),
                             item.map.number,
                             item.map.inode->generation.load(),
                             time,
                             witness};
  Status status = item.state.journal.write(record);
  if (status.ok()) status = apply(item.state, record, item.map, wanted, fd.get(), path);
  // After a failure too, because the times may have been set.
  if (sys::fstat(fd.get(), &st) == 0) {
    witness = witness_of(item.state.known, st);
    witness.rights = status.ok() ? noted : uint64_t{item.listed.lower.rights};
    const Status set = remember(item.state, item.where, name_of(item.listed), &witness);
    if (status.ok() && set.code() != ENOENT) status = set;
    if (status.ok()) status = item.state.lower.raise_newest(item.where.inode, sys::ctime_of(st));
    // The end of this drain must not lower that time.
    uint64_t& newest = item.state.looked[item.where.inode];
    newest = std::max(newest, sys::ctime_of(st));
  }
  if (!status.ok()) {
    item.state.failed(path, status);
    return true;
  }
  set_drained(item.state.fs, item.map, time);
  ++item.state.report.files;
  return true;
}

}  // namespace cairn::tier
