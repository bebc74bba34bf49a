#include "tier/replace/drain_state.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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
    if (state_.has_moved(where_)) return -ESTALE;
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

bool wanted_rights(DrainState& state, const Where& where, const sys::FileStat& st,
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

void take_over(DrainState& state, const Where& where, int directory) {
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
    if (is_open && !is_believed(st.st_uid, state_.owner))
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

void note_foreign(DrainState& state, uint64_t directory) {
  climb(state.fs, directory, [&](uint64_t inode, uint64_t* newest) {
    state.foreign.insert(inode);
    *newest = newest_unknown;
    return true;
  }).ignore();  // this drain removes no directory that was removed meanwhile
}

void DrainState::failed(const std::string& path, Status status) {
  // The directory was probably removed while it was listed. If it is damaged, the next drain says
  // so.
  if (status.code() == EUCLEAN && calls.while_running && have_names_changed()) return;
  ++report.failed;
  if (status.code() == ENOSPC || status.code() == EDQUOT) out_of_space = true;
  const std::string detail = last_detail();
  const std::string text = detail.find(path) == std::string::npos ? path + ": " + detail : detail;
  if (calls.problem) calls.problem(text.c_str());
}

bool DrainState::has_moved(const Where& where) const {
  if (!have_names_changed()) return false;
  const auto home = home_of_directory(fs, where.inode);
  return !home || top.path + *home != where.path;
}

void DrainState::conflict(const Where& where, const std::string& path, const char* what) {
  if (has_moved(where)) {
    waiting.insert(where.inode);
    return;
  }
  ++report.conflicts;
  note_foreign(*this, where.inode);
  const std::string text = path + ": " + what;
  if (calls.problem) calls.problem(text.c_str());
}

void DrainState::not_opened(const Where& where, const std::string& path, int64_t result) {
  if (result == -ESTALE)
    return conflict(where, path, "its directory was replaced outside Cairn; the pool keeps it");
  if (has_moved(where)) {
    waiting.insert(where.inode);
    return;
  }
  failed(path, sys::failed(result, "open", where.path));
}

bool DrainState::advance(uint64_t bytes) {
  done += bytes;
  if (calls.progress && !calls.progress(done, std::max(done, total))) cancelled = true;
  return !cancelled;
}

Status remember(DrainState& state, const Where& where, const std::string& name,
                const file::Witness* witness) {
  if (where.map.inode->generation.load() != where.generation) return Status(ENOENT);
  return set_witness(state.fs, where.map, name, witness);
}

void announce_links(DrainState& state, const sys::FileStat& st) {
  constexpr uint64_t second = 1'000'000'000;
  if (S_ISDIR(st.st_mode) || st.st_nlink < 2 ||
      file::now_ns() + 5 * second < state.journal.links_until())
    return;
  // If this fails and the drain is killed, later removals are more careful than they need be.
  state.journal.announce_links(file::now_ns() + 10 * second).ignore();
}

}  // namespace cairn::tier
