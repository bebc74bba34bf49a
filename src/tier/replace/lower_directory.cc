#include "tier/replace/lower_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "file/inode/attributes.h"
#include "file/namespace/moved.h"
#include "pool/lanes/lock.h"
#include "tier/changes/changes.h"
#include "tier/lower/beneath.h"
#include "tier/lower/pool_rights.h"
#include "tier/record/attributes.h"
#include "tier/record/locate.h"
#include "tier/record/mode_of_lower.h"
#include "tier/replace/reporting.h"
#include "tier/stage/at_home.h"
#include "tier/stage/from_pool.h"
#include "tier/stage/stage.h"

namespace cairn::tier {

int64_t LowerDirectory::fd() {
  if (fd_.ok()) return fd_.get();
  const file::Witness* witness = where_.witness ? &*where_.witness : nullptr;
  const bool may_be_any = where_.inode == state_.top.inode;
  if (witness == nullptr && !may_be_any) return -ESTALE;
  int64_t opened = open_directory(state_.beneath, where_.path, state_.known, witness);
  if (opened == -EACCES) {
    set_drained(state_.fs, where_.map, 0);  // so the end of the drain sets its mode again
    opened = open_own_directory(state_.beneath, where_.path, state_.known, witness);
  }
  if (opened >= 0) fd_ = sys::Descriptor(static_cast<int>(opened));
  return opened;
}

int64_t LowerDirectory::touch() {
  const int64_t opened = fd();
  if (opened < 0) return opened;
  constexpr uint64_t margin = 5'000'000'000;
  if (file::now_ns() + margin > ours_until_) {
    // A change in a moved directory would be taken for another process's when the directory's old
    // place is removed.
    if (has_moved(state_, where_)) return -ESTALE;
    const uint64_t until = announce(state_.fs, where_.inode);
    if (until == 0) return -ESTALE;
    ours_until_ = until;
  }
  if (touched_) return opened;
  touched_ = true;
  take_over(state_, where_, fd_.get());
  // If this drain does not finish, the next one compares the directory's times again.
  set_drained(state_.fs, where_.map, 0);
  sys::FileStat st = {};
  constexpr uint32_t needed = S_IRUSR | S_IWUSR | S_IXUSR;
  if (geteuid() != 0 && sys::fstat(fd_.get(), &st) == 0 && (st.st_mode & needed) != needed)
    sys::fchmod(fd_.get(), (st.st_mode & 07777) | needed);  // if it fails, so does the first file
  return opened;
}

bool wanted_rights(DrainState& state, const DrainDirectory& where, const sys::FileStat& st,
                   file::Attributes* wanted) {
  {
    const pool::SeatGuard seat(state.fs.pool);
    if (!seat.ok()) return false;
    *wanted = with_rights(state.fs, file::attributes_of(state.fs, where.map));
  }
  file::Witness top;
  top.rights = state.top_rights;
  const auto old = state.old_rights.find(where.inode);
  if (old != state.old_rights.end())
    *wanted = merge_rights(old->second.witness, old->second.st, *wanted);
  else
    *wanted = merge_rights(where.witness ? *where.witness : top, st, *wanted);
  return true;
}

void take_over(DrainState& state, const DrainDirectory& where, int directory) {
  if (change_time(state.fs, where.map) == where.map.inode->drained.load()) return;
  sys::FileStat st = {};
  file::Attributes wanted;
  // If this process may not give the directory away, it does not write into it with other rights
  // than before either.
  if (sys::fstat(directory, &st) < 0) return;
  st.st_mode = (st.st_mode & S_IFMT) | without_access_list(directory, st.st_mode & 07777);
  if (!wanted_rights(state, where, st, &wanted) || wanted.uid == keeps_owner ||
      st.st_uid == wanted.uid || sys::fchownat(directory, "", wanted.uid, wanted.gid) < 0)
    return;
  drop_access_lists(directory);
  sys::fchmod(directory, wanted.mode & 07777);  // if it fails, so does the end of the drain
  end_mode_of_others(state.fs, where.map, directory, st);
  if (sys::fstat(directory, &st) == 0) note_owner(state.fs, where.inode, st).ignore();
}

const NewFileList& LowerDirectory::list_of_new() {
  if (!list_of_new_) {
    sys::FileStat st = {};
    const bool is_open = fd() >= 0 && sys::fstat(fd_.get(), &st) == 0;
    if (is_open && !is_trusted_owner(st.st_uid, state_.owner))
      list_of_new_ = noted_list(state_.fs, where_.map, fd_.get());
    else
      list_of_new_ = NewFileList{is_open, ""};
  }
  return *list_of_new_;
}

namespace {

// Makes the file count as changed again. Takes its lock, as an eviction does that reads the mark.
void unmark(DrainState& state, const file::Map& map) {
  file::FileSystem& fs = state.fs;
  {
    const pool::SeatGuard seat(fs.pool);
    std::optional<pool::LockGuard> lock;
    if (seat.ok()) lock.emplace(fs.pool, *seat, map.inode->lock);
    set_drained(fs, map, 0);
    file::forget_move(fs.pool, *map.inode);
  }
  // If the file was evicted meanwhile, the pool needs the bytes again, because lower may lose them.
  stage(state.fs, map.number).ignore();
}

}  // namespace

Status LowerDirectory::sync() {
  if (!touched_) return Status();
  const int64_t result = sys::fsync_directory(fd_.get());
  if (result < 0) {
    for (const file::Map& map : marked_) unmark(state_, map);
  }
  marked_.clear();
  return result < 0 ? sys::failed(result, "fsync", where_.path) : Status();
}

}  // namespace cairn::tier
