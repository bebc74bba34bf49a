// Drains a file whose bytes still lie in lower, but whose mode, owner, times or attributes were
// changed.
#include "tier/drain/drain_lazy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "file/inode/attributes.h"
#include "tier/drain/drain_anew.h"
#include "tier/drain/write_temp_file.h"
#include "tier/lower/pool_rights.h"
#include "tier/lower/unreadable.h"
#include "tier/record/attributes.h"
#include "tier/record/locate.h"
#include "tier/record/mode_of_lower.h"
#include "tier/replace/drain_notes.h"
#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"
#include "tier/replace/publish.h"
#include "tier/replace/reporting.h"
#include "tier/replace/while_running.h"
#include "tier/system/listing.h"

namespace cairn::tier {
namespace {

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
  CAIRN_TRY(export_attributes(state.fs, map, fd, {}));
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
// both. -ESTALE: this is not the file that the pool remembers.
int64_t open_any(const DrainState& state, int directory, const file::Listed& listed,
                 LazyFile* file) {
  constexpr int flags = O_NOFOLLOW | O_NONBLOCK;
  const auto checked = [&](int64_t opened) -> int64_t {
    if (opened < 0) return opened;
    sys::Descriptor fd(static_cast<int>(opened));
    if (const int64_t result = sys::fstat(fd.get(), &file->st); result < 0) return result;
    return S_ISREG(file->st.st_mode) && is_remembered(state.known, listed.lower, file->st)
               ? fd.take()
               : -ESTALE;
  };
  const int64_t read = sys::openat(directory, listed.name, O_RDONLY | flags);
  if (read != -EACCES) return checked(read);
  const int64_t written = sys::openat(directory, listed.name, O_WRONLY | flags);
  file->is_readable = written == -EACCES;
  if (written != -EACCES) return checked(written);
  file->is_opened_up = true;
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

// The file itself gets another owner, group or mode only if the same users can write to it before
// and after; or if it has not changed at all since it was imported, and nobody else could write to
// it before. Otherwise another user may hold it open for writing. A file with several names in
// lower becomes a new file, because the other names keep its times and attributes: some are files
// of their own in the pool, others were removed in the pool and wait for their removal in lower,
// which compares the times.
LazyWay way_for(const DrainState& state, const file::Listed& listed, const sys::FileStat& st,
                const Rights& wanted) {
  const bool is_same_mode = ((wanted.mode ^ st.st_mode) & 07777) == 0;
  const bool has_one_name = st.st_nlink == 1;
  if (has_one_name && st.st_uid == wanted.uid && st.st_gid == wanted.gid && is_same_mode &&
      !wanted.has_attributes)
    return LazyWay::in_place;
  if (has_one_name && keeps_writers(listed.lower, st, wanted)) return LazyWay::in_place;
  Rights given = wanted;
  if (geteuid() != 0) given.uid = geteuid();  // a new file is this user's
  if (!may_have_rights(state.known, listed.lower, st, given, state.owner))
    return LazyWay::conflicting;
  const bool is_certain = compare(state.known, listed.lower, st).difference == Difference::none &&
                          listed.lower.birth != 0;
  const bool is_ours = !may_have_been_written_by_others(listed.lower, st, state.owner);
  return has_one_name && is_certain && is_ours ? LazyWay::in_place : LazyWay::anew;
}

// Looks at the file in lower and opens it. False: it cannot be drained, and a report was made.
bool open_remembered(const DrainName& item, const std::string& path, LazyFile* file) {
  const int64_t directory = item.lower.fd();
  if (directory < 0) {
    report_not_opened(item.state, item.where, path, directory);
    return false;
  }
  int64_t opened = -ESTALE;
  if (look(item.state.known, static_cast<int>(directory), item.listed, &file->st) ==
      InLower::remembered)
    opened = open_any(item.state, static_cast<int>(directory), item.listed, file);
  if (opened == -ESTALE)
    report_conflict(item.state, item.where, item.listed, conflict_text);
  else if (opened < 0)
    report_failed(item.state, path, sys::failed(opened, "open", path));
  else
    file->fd = sys::Descriptor(static_cast<int>(opened));
  return opened >= 0;
}

// Notes which owner, mode, times and attributes the file is to have.
Status note_wanted(const DrainName& item, LazyFile* file) {
  {
    const pool::SeatGuard seat(item.state.fs.pool);
    if (!seat.ok()) return pool::no_seat(item.state.fs.pool);
    file->wanted = with_rights(item.state.fs, file::attributes_of(item.state.fs, item.map));
  }
  file::Attributes& wanted = file->wanted;
  if (wanted.uid == keeps_owner) {
    wanted.uid = file->st.st_uid;
    wanted.gid = file->st.st_gid;
  }
  const file::Attributes in_pool = wanted;
  file->temp.rights = noted_rights(in_pool.uid, in_pool.gid, in_pool.mode);
  wanted = merge_rights(item.listed.lower, file->st, in_pool);
  file->of_new = merge_rights(item.listed.lower, file->st, in_pool, true);
  // A capability acts for the owner that the file had when the program set it.
  const bool has_attributes = wanted.uid == in_pool.uid && wanted.gid == in_pool.gid &&
                              has_system_attributes(item.state.fs, item.map);
  file->rights = {wanted.uid, wanted.gid, wanted.mode, has_attributes};
  return Status();
}

// Notes in the pool how the file in lower is now, and that these rights are the pool's.
Status remember_attributes(const DrainName& item, int fd, uint64_t rights) {
  sys::FileStat st = {};
  if (sys::fstat(fd, &st) < 0) return Status();
  file::Witness witness = witness_of(item.state.known, st);
  witness.rights = rights;
  const Status set = remember(item.state, item.where, name_of(item.listed), &witness);
  if (!set.ok() && set.code() != ENOENT) return set;
  // The end of this drain must not lower that time.
  uint64_t& newest = item.state.unchanged_dirs[item.where.inode];
  newest = std::max(newest, sys::ctime_of(st));
  return raise_newest(item.state.fs, item.where.inode, sys::ctime_of(st));
}

// The caller holds the ImportLock.
Tried set_in_place(const DrainName& item, const std::string& path, const LazyFile& file) {
  // The file may be moved meanwhile. The announcement tells a removal of the directory its new
  // times.
  if (leaves_busy_files(item.state) && announce(item.state.fs, item.where.inode) == 0) {
    item.state.dirs_with_postponed.insert(item.where.inode);
    return Tried::failed;
  }
  const uint64_t time = file.temp.from.change_time;
  file::Witness witness = item.listed.lower;
  witness.mtime = file.wanted.mtime;
  witness.rights = file.temp.rights;
  const JournalRecord record{item.where.path,
                             item.state.temp_name,
                             name_of(item.listed),
                             item.where.inode,
                             item.where.map.inode->generation.load(),
                             item.map.number,
                             item.map.inode->generation.load(),
                             time,
                             witness};
  Status status = item.state.journal.write(record);
  if (status.ok()) status = apply(item.state, record, item.map, file.wanted, file.fd.get(), path);
  // After a failure too, because the times may have been set.
  const uint64_t rights = status.ok() ? file.temp.rights : uint64_t{item.listed.lower.rights};
  const Status noted = remember_attributes(item, file.fd.get(), rights);
  if (status.ok()) status = noted;
  if (!status.ok()) {
    report_failed(item.state, path, status);
    return Tried::failed;
  }
  set_drained(item.state.fs, item.map, time);
  ++item.state.report.files;
  return Tried::done;
}

// Finds the file, and decides how it is drained. The caller holds the ImportLock. Tried::done:
// found.
Tried find_way(const DrainName& item, const std::string& path, LazyFile* file, LazyWay* way) {
  if (!file::is_lazy(*item.map.inode)) return Tried::staged;
  file->temp = new_temp_file(item, InLower::remembered);
  file->temp.shape = item.map.inode->shape.load();
  note_before_copy(item, &file->temp);
  file->temp.mark = wait_for_tick(file->temp.from.change_time);
  if (!still_names(item.state.fs, item.where, item.listed, item.map) ||
      !open_remembered(item, path, file))
    return Tried::failed;
  if (const Status status = note_wanted(item, file); !status.ok()) {
    report_failed(item.state, path, status);
    return Tried::failed;
  }
  *way = way_for(item.state, item.listed, file->st, file->rights);
  if (*way != LazyWay::conflicting) return Tried::done;
  const char* reason = compare(item.state.known, item.listed.lower, file->st).reason;
  report_conflict(item.state, item.where, item.listed,
                  (std::string(conflict_text) + ": " + reason).c_str());
  return Tried::failed;
}

// Sets the mode again that open_any() or drain_anew() has changed.
void close_again(const LazyFile& file) {
  if (file.is_opened_up && file.fd.ok()) sys::fchmod(file.fd.get(), file.st.st_mode & 07777);
}

// May the attributes be set in place if lower takes no new file?
bool may_stay(const LazyFile& file) {
  return file.st.st_nlink == 1 && !gives_rights(file.st, file.rights);
}

// Are these errors of a file that lower does not take, though it may take the attributes?
bool is_refused(int error) {
  return error == EACCES || error == EPERM || error == ENOSPC || error == EDQUOT;
}

// `saves_room`: lower takes no new file, so the attributes are set in place if they give nobody
// rights.
Tried try_lazy(const DrainName& item, const std::string& path, bool saves_room) {
  LazyFile file;
  {
    const ImportLock lock(item.state.fs, item.map, import_patience_ns(item.state));
    if (!lock.ok()) {
      report_failed(item.state, path, pool::no_seat(item.state.fs.pool));
      return Tried::failed;
    }
    if (!lock.is_held()) return Tried::again;
    LazyWay way = LazyWay::anew;
    const Tried found = find_way(item, path, &file, &way);
    if (found != Tried::done) {
      close_again(file);
      return found;
    }
    if (way == LazyWay::in_place || (saves_room && may_stay(file)))
      return set_in_place(item, path, file);
  }
  const auto tried = drain_anew(item, &file);
  if (tried.ok() && *tried == Tried::done) return Tried::done;
  close_again(file);
  if (tried.ok()) return *tried;
  if (item.state.cancelled) return Tried::failed;
  if (!saves_room && is_refused(tried.code()) && may_stay(file)) return try_lazy(item, path, true);
  if (tried.code() == ESTALE)
    report_conflict(item.state, item.where, item.listed, conflict_text);
  else
    report_failed(item.state, path, tried.status());
  return Tried::failed;
}

}  // namespace

bool drain_lazy(const DrainName& item) {
  const std::string path = item.where.path + "/" + name_of(item.listed);
  return try_again(item, [&] { return try_lazy(item, path, false); }) != Tried::staged;
}

}  // namespace cairn::tier
