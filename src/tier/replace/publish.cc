// Gives a drained file its name in lower.
#include "tier/replace/publish.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tier/replace/clear_name.h"
#include "tier/replace/drain_notes.h"
#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"
#include "tier/replace/replaced_backup.h"
#include "tier/replace/reporting.h"
#include "tier/system/listing.h"
#include "tier/system/temp_file.h"

namespace cairn::tier {
namespace {

// Notes in the pool that lower has the file. If the name was removed in the pool meanwhile, it is
// removed in lower again.
Status note(DrainState& state, const DrainDirectory& where, const std::string& name,
            const file::Witness& witness, int fd) {
  const Status status = remember(state, where, name, &witness);
  if (status.code() != ENOENT) return status;
  // The name was removed in the pool while the drain wrote the file.
  sys::FileStat st = {};
  if (sys::lstatat(fd, name.c_str(), &st) == 0 && is_remembered(state.known, witness, st))
    sys::unlinkat(fd, name.c_str(), 0);
  return Status();
}

// The rename has changed the file's ctime. If another file has the name by now, the rights count as
// not known.
void note_rename(const DrainName& item, int fd, file::Witness* witness) {
  sys::FileStat st = {};
  const bool is_there = sys::lstatat(fd, item.listed.name, &st) == 0 &&
                        compare(item.state.known, *witness, st).is_same();
  witness->change = is_there ? sys::ctime_of(st) : 0;
}

Status rename_failed(int64_t result, const DrainName& item, int fd, const std::string& path) {
  sys::FileStat directory = {};
  sys::FileStat st = {};
  const bool is_sticky = result == -EPERM && sys::fstat(fd, &directory) == 0 &&
                         (directory.st_mode & S_ISVTX) != 0 &&
                         sys::lstatat(fd, item.listed.name, &st) == 0 && st.st_uid != geteuid();
  if (!is_sticky) return sys::failed(result, "rename", path);
  return fail(EPERM,
              "%s: not replaced, because it belongs to user %u and its directory is sticky; that "
              "user can drain it, or clear the sticky bit",
              path.c_str(), st.st_uid);
}

bool give_name(const DrainName& item, const TempFile& temp) {
  const std::string path = item.where.path + "/" + name_of(item.listed);
  const auto fd = static_cast<int>(item.lower.fd());
  file::Witness witness = witness_of(item.state, temp);
  JournalRecord record{item.where.path,
                       temp.name,
                       name_of(item.listed),
                       item.where.inode,
                       item.where.map.inode->generation.load(),
                       item.map.number,
                       item.map.inode->generation.load(),
                       temp.mark ? temp.from.change_time : 0,
                       witness};
  Status status = item.state.journal.write(record);
  sys::FileStat st = {};
  InLower found = temp.expected;
  if (status.ok()) {
    auto looked = try_to_look(item.state.known, fd, item.listed, &st);
    if (looked.ok())
      found = *looked;
    else
      status = sys::failed(-looked.code(), "stat", path);
  }
  if (status.ok() && found != temp.expected) {
    sys::unlinkat(fd, temp.name.c_str(), 0);
    if (take_same_special(item)) return true;
    report_conflict(item.state, item.where, item.listed,
                    "changed there outside Cairn while it was drained; both are kept");
    return false;
  }
  // The bytes of a file with several names stay under another name.
  if (status.ok() && temp.expected == InLower::remembered && S_ISREG(st.st_mode) &&
      st.st_nlink == 1 && is_moved_from(item.state, item.where, item.listed, item.map))
    keep_linked(item.state, fd, item.listed);
  if (status.ok() && temp.expected == InLower::remembered) announce_links(item.state, st);
  int64_t result = 0;
  if (status.ok())
    result = temp.expected == InLower::nothing
                 ? rename_to_free(fd, temp.name, fd, item.listed.name)
                 : sys::renameat2(fd, temp.name.c_str(), fd, item.listed.name, 0);
  if (!status.ok() || result < 0) {
    sys::unlinkat(fd, temp.name.c_str(), 0);
    if (result == -EEXIST && take_same_special(item)) return true;
    if (result == -EEXIST)
      report_conflict(item.state, item.where, item.listed,
                      "created there outside Cairn while it was drained; both are kept");
    else
      report_failed(item.state, path, status.ok() ? rename_failed(result, item, fd, path) : status);
    return false;
  }
  // After a power loss, a pool that survives must not rely on a rename that is lost.
  if (!item.state.fs.pool.is_volatile) status = item.lower.sync();
  note_rename(item, fd, &witness);
  const Status noted = note(item.state, item.where, name_of(item.listed), witness, fd);
  if (!status.ok() || !noted.ok()) {
    report_failed(item.state, path, status.ok() ? noted : status);
    return false;
  }
  set_home(item.state.fs, item.where, name_of(item.listed), item.map, false);
  if (!temp.mark) return true;
  set_drained_as_of(item.state.fs, item.map, temp.from);
  if (item.state.fs.pool.is_volatile) item.lower.note_marked(item.map);
  return true;
}

}  // namespace

file::Witness witness_of(const DrainState& state, const TempFile& temp) {
  file::Witness witness = witness_of(state.known, temp.st);
  witness.rights = temp.rights;
  return witness;
}

TempFile new_temp_file(const DrainName& item, InLower expected) {
  TempFile temp;
  temp.name = item.state.temp_name;
  temp.expected = expected;
  return temp;
}

Status announce_temp_file(const DrainName& item, const TempFile& temp) {
  return item.state.journal.write({item.where.path, temp.name, "", 0, 0, 0, 0, 0, {}});
}

bool publish(const DrainName& item, const TempFile& temp) {
  const bool has_name = give_name(item, temp);
  if (has_name) ++item.state.report.files;
  return has_name;
}

// Has another user's directory, which this user may not enter, the place of this one or of one
// above it?
bool is_shut_by_others(const DrainState& state, std::string path) {
  constexpr int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW;
  int64_t opened = state.beneath.open(path, flags);
  while (opened == -EACCES && path.size() > state.cover.path.size()) {
    path.resize(path.rfind('/'));
    opened = state.beneath.open(path, flags);
  }
  if (opened < 0) return false;
  const sys::Descriptor fd(static_cast<int>(opened));
  sys::FileStat st = {};
  return sys::fstat(fd.get(), &st) == 0 && st.st_uid != geteuid() && st.st_uid != state.owner;
}

// Finishes what a killed drain left: notes a file that it has renamed, and removes its temporary
// file.
Status recover_journal(DrainState& state) {
  auto record = state.journal.read();
  if (record.code() == EUCLEAN) {
    if (state.calls.problem)
      state.calls.problem((std::string(last_detail()) + "; the drain ignores it").c_str());
    return state.journal.clear();
  }
  if (!record.ok()) return record.status();
  if (record->directory.empty()) return Status();
  const int64_t opened = state.beneath.open(record->directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (opened == -ENOENT || opened == -ENOTDIR || opened == -ELOOP || opened == -EXDEV)
    return state.journal.clear();
  if (opened == -EACCES && is_shut_by_others(state, record->directory))
    return state.journal.clear();
  if (opened < 0) return sys::failed(opened, "open", record->directory);
  const sys::Descriptor fd(static_cast<int>(opened));
  auto directory = file::live_inode(state.fs, record->pool_directory);
  sys::FileStat st = {};
  if (!record->name.empty() && directory.ok() &&
      (*directory)->generation.load() == record->pool_generation &&
      sys::lstatat(fd.get(), record->name.c_str(), &st) == 0 &&
      is_announced(*record, state.known, st)) {
    if (const int64_t result = sys::fsync_directory(fd.get()); result < 0)
      return sys::failed(result, "fsync", record->directory);
    file::Witness witness = witness_of(state.known, st);
    witness.rights = record->witness.rights;
    CAIRN_TRY(note(state, {record->pool_directory, {*directory, record->pool_directory}},
                   record->name, witness, fd.get()));
    // A file whose bytes are in the pool may have changed without a new time: a process that is
    // killed while it writes leaves no stamp. So it is written once more.
    auto inode = file::live_inode(state.fs, record->inode);
    if (inode.ok() && (*inode)->generation.load() == record->generation &&
        record->change_time != 0 && ((*inode)->flags.load() & format::flag_lazy) != 0)
      set_drained(state.fs, {*inode, record->inode}, record->change_time);
  }
  remove_temp_files(fd.get(), record->temp_name);
  return state.journal.clear();
}

}  // namespace cairn::tier
