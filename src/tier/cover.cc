#include "tier/cover.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "file/inode/attributes.h"
#include "file/namespace/names.h"
#include "pool/lanes/seats.h"
#include "tier/attributes.h"
#include "tier/behind.h"
#include "tier/claim.h"
#include "tier/cover_state.h"
#include "tier/drain.h"
#include "tier/fresh.h"
#include "tier/journal.h"
#include "tier/kept.h"
#include "tier/listing.h"
#include "tier/lower.h"
#include "tier/parts.h"
#include "tier/record.h"
#include "tier/system.h"
#include "tier/wipe.h"

namespace cairn::tier {
namespace {

// Bytes of the pool's lock file, beyond those of the pool itself: one lock for all covers, one for
// each cover's drain, and for each cover a range in which every member holds a byte, and one for
// runs.
constexpr uint64_t covers_byte = 1ULL << 42;
constexpr uint64_t drain_bytes = covers_byte + 1;
constexpr uint64_t member_bytes = 1ULL << 43;
constexpr uint64_t run_bytes = 1ULL << 44;
constexpr uint64_t most_members = 1 << 14;  // and most runs
constexpr uint64_t name_slots = 1 << 20;

// Two covers that share a slot wait for each other without need; no more than that.
uint64_t slot_of(const std::string& name) {
  return std::strtoull(name.c_str(), nullptr, 16) % name_slots;
}
uint64_t first_member_byte(const std::string& name) {
  return member_bytes + slot_of(name) * most_members;
}

uint64_t first_run_byte(const std::string& name) {
  return run_bytes + slot_of(name) * most_members;
}

Result<media::LivenessLock> wait_for(const file::FileSystem& fs, uint64_t byte) {
  for (auto pause = std::chrono::microseconds(100);;
       pause = std::min(pause * 2, std::chrono::microseconds(10000))) {
    auto lock = media::try_lock(fs.pool.lock_path.c_str(), byte);
    if (lock.ok() || lock.code() != EAGAIN) return lock;
    std::this_thread::sleep_for(pause);
  }
}

Status become_member(Cover& cover) {
  const uint64_t first = first_member_byte(cover.name);
  for (uint64_t i = 0; i < most_members; ++i) {
    auto lock =
        media::try_lock(cover.fs->pool.lock_path.c_str(), first + i, media::Inheritance::inherited);
    if (lock.ok()) {
      cover.member = std::move(*lock);
      cover.member_byte = first + i;
      return Status();
    }
    if (lock.code() != EAGAIN) return lock.status();
  }
  return fail(EBUSY, "%s: more processes than a cover can count", cover.path.c_str());
}

Result<sys::Descriptor> open_locks(const file::FileSystem& fs) {
  const int64_t fd = sys::openat(AT_FDCWD, fs.pool.lock_path.c_str(), O_RDWR);
  if (fd < 0) return sys::failed(fd, "lock file", fs.pool.lock_path);
  return sys::Descriptor(static_cast<int>(fd));
}

bool is_below(const std::string& path, const std::string& ancestor) {
  return path.size() > ancestor.size() && path.compare(0, ancestor.size(), ancestor) == 0 &&
         (ancestor == "/" || path[ancestor.size()] == '/');
}

// Only the owner of a directory makes a pool of it: in one that is open to others, anybody can put
// a file under the name of a segment.
bool is_pool(const std::string& directory) {
  constexpr uint32_t open_to_others = S_IWGRP | S_IWOTH;
  struct stat above = {};
  if (sys::lstatat(AT_FDCWD, directory.c_str(), &above) < 0 ||
      (above.st_mode & open_to_others) != 0)
    return false;
  const int64_t fd =
      sys::openat(AT_FDCWD, (directory + "/segment.0").c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  const sys::Descriptor file(static_cast<int>(fd));
  struct stat st = {};
  if (sys::fstat(file.get(), &st) < 0 || st.st_uid != above.st_uid) return false;
  uint64_t magic = 0;
  return sys::pread(file.get(), &magic, sizeof magic, 0) == sizeof magic &&
         magic == format::superblock_magic;
}

// Covers do not nest, and none holds its own pool.
Status refuse_below(const std::string& path) {
  for (std::string above = path;;) {
    if (is_pool(above)) return fail(ELOOP, "%s lies in the pool %s", path.c_str(), above.c_str());
    if (above != path && is_claimed_above(above))
      return fail(ELOOP, "%s lies in %s, which is covered itself (it holds %s)", path.c_str(),
                  above.c_str(), claim_file);
    const size_t slash = above.rfind('/');
    if (slash == std::string::npos || above == "/") return Status();
    above.resize(slash == 0 ? 1 : slash);
  }
}

Status refuse_nested(file::FileSystem& fs, const std::string& path) {
  CAIRN_TRY(refuse_below(path));
  std::string pool;
  if (sys::real_path(fs.pool.path.c_str(), 0, &pool) == 0 && is_below(pool, path))
    return fail(ELOOP, "%s holds the pool %s", path.c_str(), pool.c_str());
  return for_each_record(fs, [&](const std::string&, const CoverRecord& record) {
    if (is_below(record.path, path) || is_below(path, record.path))
      return fail(ELOOP, "%s: %s is covered, and covers do not nest", path.c_str(),
                  record.path.c_str());
    return Status();
  });
}

Result<std::string> real_directory(const std::string& directory) {
  std::string path;
  const int64_t result = sys::real_path(directory.c_str(), O_DIRECTORY, &path);
  if (result < 0) return sys::failed(result, "cannot be covered", directory);
  return path;
}

// Directories that a process left which died while it opened or discarded their cover.
Status remove_unfinished(file::FileSystem& fs, uint64_t covers) {
  auto inode = file::live_inode(fs, covers);
  if (!inode.ok()) return inode.status();
  std::vector<std::string> left;
  CAIRN_TRY(for_each_name(fs, {*inode, covers}, false, [&](const file::Listed& listed) -> Status {
    if (listed.type != S_IFDIR >> 12) return Status();
    auto record = read_record(fs, covers, name_of(listed));
    if (record.code() == ENOENT) left.push_back(name_of(listed));
    return Status();
  }));
  for (const std::string& name : left) CAIRN_TRY(wipe(fs, covers, name));
  return Status();
}

// The directory that stands for lower: as lower's own, and lazy.
Status make_top(file::FileSystem& fs, uint64_t covers, const std::string& name,
                const std::string& path) {
  struct stat st = {};
  const int64_t opened = sys::open_beneath(path.c_str(), O_PATH | O_DIRECTORY);
  if (opened < 0) return sys::failed(opened, "open", path);
  const sys::Descriptor covered(static_cast<int>(opened));
  if (const int64_t result = sys::fstat(covered.get(), &st); result < 0)
    return sys::failed(result, "stat", path);
  file::CreateRequest request;
  request.mode = st.st_mode;
  auto top = file::create_name(fs, covers, name, request);
  if (!top.ok()) return top.status();
  {
    pool::SeatGuard seat(fs.pool);
    if (!seat.ok()) return pool::no_seat(fs.pool);
    CAIRN_TRY(file::set_owner(fs, *seat, *top, st.st_uid, st.st_gid));
    CAIRN_TRY(file::set_mode(fs, *seat, *top, st.st_mode & 07777));
    CAIRN_TRY(file::set_times(fs, *seat, *top, sys::atime_of(st), sys::mtime_of(st)));
  }
  CAIRN_TRY(import_attributes(fs, covers, name, {covered.get(), ".", path, st.st_dev, st.st_ino},
                              sys::ctime_of(st)));
  fs.pool.store_flush(top->inode->ctime, sys::ctime_of(st));
  fs.pool.store_flush(top->inode->drained, sys::ctime_of(st));
  fs.pool.store_flush(top->inode->directory.lower_links, st.st_nlink);
  return file::set_flags(fs, top->number, format::flag_lazy | format::flag_covered, 0);
}

Status make_cover(file::FileSystem& fs, uint64_t covers, const std::string& name,
                  CoverRecord record) {
  auto before = read_record(fs, covers, name);
  // A run without a launcher, which looks into the job, does not end the launch.
  if (before.ok() && record.launch.empty()) record.launch = before->launch;
  if (before.ok() && *before == record) return Status();
  if (!before.ok() && before.code() != ENOENT) return before.status();
  if (!before.ok()) {
    CAIRN_TRY(remove_unfinished(fs, covers));
    CAIRN_TRY(wipe_parts(fs, name));
    // A journal that is there is about another cover's inodes. The new one has its space from the
    // start: a drain of a full pool needs none.
    CAIRN_TRY(Journal::remove(fs, covers, name));
    CAIRN_TRY(Journal().open(fs, covers, name));
    CAIRN_TRY(make_top(fs, covers, name, record.path));
  }
  const Status status = write_record(fs, covers, name, record);
  // A full pool goes on with what it has noted of the directory before.
  const bool is_needed = !before.ok() || before->job != record.job || before->keep != record.keep;
  return status.code() == ENOSPC && !is_needed ? Status() : status;
}

// From here on the cover does not exist; what a killed process leaves is removed by the next one.
Status remove_cover(file::FileSystem& fs, uint64_t covers, const std::string& name) {
  CAIRN_TRY(remove_record(fs, covers, name));
  CAIRN_TRY(wipe(fs, covers, name));
  CAIRN_TRY(wipe_parts(fs, name));
  return Journal::remove(fs, covers, name);
}

// The record of the cover of this path; ENOENT if there is none.
Result<CoverRecord> find_record(file::FileSystem& fs, const std::string& path) {
  CAIRN_TRY_ASSIGN(covers, find_covers(fs, false));
  if (covers != 0) {
    auto record = read_record(fs, covers, cover_name(path));
    if (record.ok() || record.code() != ENOENT) return record;
  }
  return fail(ENOENT, "%s is not covered by pool %s", path.c_str(), fs.pool.path.c_str());
}

bool is_another(Covered found) {
  return found == Covered::other || found == Covered::gone || found == Covered::copy;
}

// What is said of a directory that is not the covered one any more.
Status refuse_other(file::FileSystem& fs, const std::string& path, Covered found) {
  CAIRN_TRY_ASSIGN(kept, kept_in_cover(fs, cover_name(path)));
  return fail(ESTALE, "%s: %s; the pool %s keeps what was never drained to the covered one: %s",
              path.c_str(),
              found == Covered::gone ? "the covered directory is gone"
              : found == Covered::copy
                  ? "this path leads to a directory other than the covered one, with a copy of its "
                    "claim (to put it in the place of the covered one, drain to it with --to)"
                  : "this path leads to a directory other than the covered one",
              fs.pool.path.c_str(), text_of(kept).c_str());
}

// Another directory has the path of a cover. The cover ends, if nothing is lost by that.
Status leave_other(file::FileSystem& fs, uint64_t covers, const std::string& path, Covered found,
                   const Notice& notice) {
  Cover cover;
  cover.fs = &fs;
  cover.path = path;
  cover.name = cover_name(path);
  CAIRN_TRY_ASSIGN(draining, lock_drain(fs, cover.name));
  CAIRN_TRY_ASSIGN(others, has_other_members(cover));
  CAIRN_TRY_ASSIGN(run, is_run_under_way(fs, cover.name));
  if (others || run)
    return fail(EBUSY,
                "%s: this path leads to a directory other than the covered one, and processes "
                "still use the covered one",
                path.c_str());
  CAIRN_TRY_ASSIGN(state, state_of_cover(fs, cover.name));
  if (!state.all_drained) return refuse_other(fs, path, found);
  CAIRN_TRY(remove_cover(fs, covers, cover.name));
  const std::string text =
      path +
      ": the directory that was covered is not here any more; everything was drained to it, "
      "so its cover is dropped";
  if (notice) notice(text.c_str());
  return Status();
}

// A cover of a run that has ended, or of files that were staged, shows what its directory had then.
// If that has been changed outside Cairn, the cover goes, as it holds nothing that the directory
// has not; if it holds more, whoever reads it is told. Returns whether it is gone.
Result<bool> leave_if_behind(file::FileSystem& fs, const CoverRecord& record,
                             const std::string& path, const Notice& notice) {
  Cover cover;
  cover.fs = &fs;
  cover.path = path;
  cover.name = cover_name(path);
  CAIRN_TRY_ASSIGN(others, has_other_members(cover));
  CAIRN_TRY_ASSIGN(run, is_run_under_way(fs, cover.name));
  CAIRN_TRY_ASSIGN(parts, has_parts(fs, cover.name));
  if (others || run || parts) return false;
  const auto draining = try_lock_drain(fs, cover.name);
  if (draining.code() == EAGAIN) return false;  // a keeper's, which a run does not wait for
  CAIRN_TRY(draining.status());
  CAIRN_TRY_ASSIGN(covers, find_covers(fs, false));
  CAIRN_TRY_ASSIGN(top, find_child(fs, covers, cover.name));
  if (top == 0) return false;  // its process was killed before it was made
  CAIRN_TRY_ASSIGN(behind, is_behind(fs, top));
  if (!behind) return false;
  CAIRN_TRY_ASSIGN(state, state_of_cover(fs, cover.name));
  std::string text = path + ": it was changed outside Cairn since it was covered";
  if (state.all_drained) {
    CAIRN_TRY(remove_cover(fs, covers, cover.name));
    CAIRN_TRY(drop_claim(fs, path, record.owner));
    text += "; all was drained, so it is covered anew";
  } else {
    text += ", and programs see what the pool has: `cairn drain DIR` first, to see both";
  }
  if (notice) notice(text.c_str());
  return state.all_drained;
}

void tell_claimed_again(Covered found, const std::string& path, const Notice& notice) {
  if (!notice || (found != Covered::unclaimed && found != Covered::unknown)) return;
  const std::string text =
      path + (found == Covered::unclaimed
                  ? ": its claim was missing and is written again; it still is the directory that "
                    "was covered"
                  : ": its claim was missing and is written again; an earlier version of Cairn "
                    "covered it, and did not note which directory that was");
  notice(text.c_str());
}

// Parts whose records went with `.cairn` are told from those that no record names any more.
Status note_lost_records(file::FileSystem& fs, const std::string& path, CoverRecord* record) {
  CAIRN_TRY_ASSIGN(parts, has_parts(fs, cover_name(path)));
  record->records_lost =
      parts && (record->records_lost || are_records_missing(path, record->owner));
  return Status();
}

// A directory that has no cover by this path, and a claim of another cover of the pool. If the
// directory of that one is still there, this is a copy, and `*foreign` is its token. If not, it was
// moved here: what is kept of it is not left behind in silence.
Status look_for_moved(file::FileSystem& fs, const std::string& path, const Notice& notice,
                      std::string* foreign) {
  const int64_t opened = sys::open_beneath(path.c_str(), O_RDONLY | O_DIRECTORY);
  if (opened < 0) return sys::failed(opened, "open", path);
  const sys::Descriptor directory(static_cast<int>(opened));
  CAIRN_TRY_ASSIGN(claims, believed_claims(fs, directory.get(), path, no_owner, false));
  if (claims.tokens.empty()) return Status();
  CoverRecord other;
  CAIRN_TRY(for_each_record(fs, [&](const std::string&, const CoverRecord& record) {
    for (const std::string& token : claims.tokens)
      if (token == record.token) other = record;
    return Status();
  }));
  if (other.path.empty()) return Status();
  CAIRN_TRY_ASSIGN(found, look_at_covered(fs, other, other.path));
  if (found != Covered::other && found != Covered::gone) {
    *foreign = other.token;
    return Status();
  }
  const std::string name = cover_name(other.path);
  CAIRN_TRY_ASSIGN(state, state_of_cover(fs, name));
  if (!state.all_drained) {
    CAIRN_TRY_ASSIGN(kept, kept_in_cover(fs, name));
    return fail(EEXIST,
                "%s: it was covered as %s, and `cairn drain %s --to %s` writes what the pool %s "
                "keeps of it: %s",
                path.c_str(), other.path.c_str(), other.path.c_str(), path.c_str(),
                fs.pool.path.c_str(), text_of(kept).c_str());
  }
  CAIRN_TRY_ASSIGN(all, find_covers(fs, false));
  return leave_other(fs, all, other.path, found, notice);
}

// Claims the directory, and completes the record with what says which one it is.
Status claim_for(file::FileSystem& fs, const std::string& path, bool is_known, CoverRecord* record,
                 const std::string& foreign = {}) {
  ClaimRequest request;
  request.foreign = foreign;
  request.job = record->job;
  request.token = record->token.empty() ? new_token() : record->token;
  request.owner = record->owner;
  if (is_known)
    request.before_adopting = [&](const std::string& token) -> Status {
      // Whichever of the two a killed process leaves in the claim, it is this directory's.
      CAIRN_TRY_ASSIGN(covers, find_covers(fs, false));
      record->earlier_token = record->token;
      record->token = token;
      return write_record(fs, covers, cover_name(path), *record);
    };
  CAIRN_TRY_ASSIGN(taken, take_claim(fs, path, request));
  record->token = taken.token;
  record->owner = taken.owner;
  const int64_t opened = sys::open_beneath(path.c_str(), O_RDONLY | O_DIRECTORY);
  if (opened < 0) return sys::failed(opened, "open", path);
  const sys::Descriptor directory(static_cast<int>(opened));
  struct stat st = {};
  int64_t result = sys::fstat(directory.get(), &st);
  if (result == 0) result = marks_of(directory.get(), &record->marks);
  if (result < 0) return sys::failed(result, "stat", path);
  record->directory_owner = st.st_uid;
  return Status();
}

// The rest of opening and joining; the caller holds the lock on covers, and there is a record.
Result<std::unique_ptr<Cover>> enter(file::FileSystem& fs, uint64_t covers, const std::string& path,
                                     const WhenAlone& when_alone, bool needs_lower = true) {
  auto cover = std::make_unique<Cover>();
  cover->fs = &fs;
  cover->path = path;
  cover->name = cover_name(path);
  cover->covers = covers;
  auto top = find_child(fs, covers, cover->name);
  if (!top.ok()) return top.status();
  if (*top == 0) return fail(EIO, "%s: its cover has a record and no directory", path.c_str());
  cover->top = *top;
  if (needs_lower) CAIRN_TRY(lower_of(fs).cover_of_top(cover->top).status());
  if (when_alone) {
    CAIRN_TRY_ASSIGN(others, has_other_members(*cover));
    if (!others) CAIRN_TRY(when_alone(*cover));
  }
  CAIRN_TRY(become_member(*cover));
  return cover;
}

}  // namespace

Result<bool> has_other_members(const Cover& cover) {
  auto file = open_locks(*cover.fs);
  if (!file.ok()) return file.status();
  const uint64_t first = first_member_byte(cover.name);
  if (!cover.member.held()) return media::is_held(file->get(), first, most_members);
  const uint64_t own = cover.member_byte - first;
  for (const auto& [from, count] :
       {std::pair{first, own}, {first + own + 1, most_members - own - 1}}) {
    if (count == 0) continue;
    auto held = media::is_held(file->get(), from, count);
    if (!held.ok() || *held) return held;
  }
  return false;
}

Result<bool> has_members(const file::FileSystem& fs, const std::string& name) {
  auto file = open_locks(fs);
  if (file.code() == ENOENT) return false;  // as below
  if (!file.ok()) return file.status();
  return media::is_held(file->get(), first_member_byte(name), most_members);
}

Result<int> hold_run(const Cover& cover) {
  auto file = open_locks(*cover.fs);
  if (!file.ok()) return file.status();
  for (uint64_t i = 0; i < most_members; ++i) {
    auto held = media::try_lock_descriptor(file->get(), first_run_byte(cover.name) + i);
    if (held.ok() || held.code() != EAGAIN) return held;
  }
  return fail(EBUSY, "%s: more runs than a cover can count", cover.path.c_str());
}

Result<bool> is_run_under_way(const file::FileSystem& fs, const std::string& name) {
  auto file = open_locks(fs);
  // The lock file of a pool on a device is made by the first who attaches in this boot.
  if (file.code() == ENOENT) return false;
  if (!file.ok()) return file.status();
  return media::is_held(file->get(), first_run_byte(name), most_members);
}

Result<media::LivenessLock> lock_covers(const file::FileSystem& fs) {
  return wait_for(fs, covers_byte);
}

Result<media::LivenessLock> lock_drain(const file::FileSystem& fs, const std::string& name) {
  return wait_for(fs, drain_bytes + slot_of(name));
}

Result<media::LivenessLock> try_lock_drain(const file::FileSystem& fs, const std::string& name) {
  return media::try_lock(fs.pool.lock_path.c_str(), drain_bytes + slot_of(name));
}

namespace {

// Others can move the claim of the user into a directory of their own, and that to the path.
Result<bool> may_be_covered(const CoverRecord& record, int directory, const std::string& path) {
  struct stat st = {};
  if (const int64_t result = sys::fstat(directory, &st); result < 0)
    return sys::failed(result, "stat", path);
  return record.directory_owner == no_owner || is_believed(st.st_uid, record.directory_owner);
}

Result<Covered> look_at_opened(const file::FileSystem& fs, const CoverRecord& record, int directory,
                               const std::string& path) {
  CAIRN_TRY_ASSIGN(possible, may_be_covered(record, directory, path));
  if (!possible) return Covered::other;
  for (const bool all : {false, true}) {
    CAIRN_TRY_ASSIGN(claims, believed_claims(fs, directory, path, record.owner, all));
    if (record.token.empty()) return claims.has_own ? Covered::same : Covered::unknown;
    for (const std::string& token : claims.tokens)
      if (token == record.token || token == record.earlier_token) return Covered::same;
  }
  DirectoryMarks marks;
  if (const int64_t result = marks_of(directory, &marks); result < 0)
    return sys::failed(result, "stat", path);
  return are_same(marks, record.marks) ? Covered::unclaimed : Covered::other;
}

// Open a covered directory (O_PATH), and say whether it still is that.
Result<Covered> open_and_look(const file::FileSystem& fs, const CoverRecord& record,
                              const std::string& path, sys::Descriptor* directory) {
  const int64_t opened = sys::open_beneath(path.c_str(), O_PATH | O_DIRECTORY);
  if (opened == -ENOENT || opened == -ENOTDIR || opened == -ELOOP) return Covered::gone;
  if (opened < 0) return sys::failed(opened, "open", path);
  *directory = sys::Descriptor(static_cast<int>(opened));
  return look_at_opened(fs, record, directory->get(), path);
}

// The directory at the path of the cover. Nobody has said that it is the covered one, and `cp -a`
// copies the claim: on a local file system it has to be of the same time of creation as well, which
// no user can set. The numbers of devices change.
Result<Covered> look_at_path(const file::FileSystem& fs, const CoverRecord& record,
                             uint64_t* device = nullptr) {
  sys::Descriptor directory;
  CAIRN_TRY_ASSIGN(found, open_and_look(fs, record, record.path, &directory));
  if (found == Covered::gone) return found;
  struct stat st = {};
  DirectoryMarks marks;
  int64_t result = sys::fstat(directory.get(), &st);
  if (result >= 0) result = marks_of(directory.get(), &marks);
  if (result < 0) return sys::failed(result, "stat", record.path);
  if (device != nullptr) *device = st.st_dev;
  const bool is_copy =
      marks.birth != 0 && record.marks.birth != 0 && marks.birth != record.marks.birth;
  return found == Covered::same && is_copy ? Covered::copy : found;
}

}  // namespace

Result<Covered> look_at_covered(const file::FileSystem& fs, const CoverRecord& record,
                                const std::string& path) {
  sys::Descriptor directory;
  return open_and_look(fs, record, path, &directory);
}

Status refuse_elsewhere(const Cover& cover, const std::string& path) {
  CAIRN_TRY(refuse_below(path));
  if (!is_claimed(path)) return Status();
  // The path of the cover may have a claim of this pool, which is not believed.
  if (path == cover.path) {
    CAIRN_TRY_ASSIGN(others, other_claims(*cover.fs, path));
    if (others.empty()) return Status();
  }
  return fail(ELOOP, "%s: cannot be drained to, because it is covered itself (it holds %s)",
              path.c_str(), claim_file);
}

namespace {

Status confirm(const Cover& cover, bool copy_counts, const Notice& notice) {
  file::FileSystem& fs = *cover.fs;
  CAIRN_TRY_ASSIGN(lock, lock_covers(fs));
  auto record = find_record(fs, cover.path);
  if (record.code() == ENOENT) return Status();  // the drain tells
  CAIRN_TRY(record.status());
  uint64_t device = 0;
  CAIRN_TRY_ASSIGN(found, look_at_path(fs, *record, &device));
  if (!is_another(found) || (found == Covered::copy && copy_counts)) {
    const CoverRecord before = *record;
    CAIRN_TRY(lower_of(fs).confirm_device(cover.top, cover.path, device));
    CAIRN_TRY(note_lost_records(fs, cover.path, &*record));
    if (found == Covered::unclaimed || found == Covered::copy)
      CAIRN_TRY(claim_for(fs, cover.path, true, &*record));
    const bool is_changed = *record != before;
    const Status status =
        is_changed ? write_record(fs, cover.covers, cover.name, *record) : Status();
    // A full pool is drained all the same, and the directory is recognised again the next time.
    if (status.code() != ENOSPC || record->records_lost) CAIRN_TRY(status);
    if (found == Covered::unclaimed) tell_claimed_again(found, cover.path, notice);
    return Status();
  }
  CAIRN_TRY_ASSIGN(state, state_of_cover(fs, cover.name));
  return state.all_drained ? Status() : refuse_other(fs, cover.path, found);
}

}  // namespace

Status confirm_covered(const Cover& cover, const Notice& notice) {
  return confirm(cover, false, notice);
}

Status accept_covered(const Cover& cover, const Notice& notice) {
  return confirm(cover, true, notice);
}

Result<OpenCovered> open_covered(const Cover& cover) {
  file::FileSystem& fs = *cover.fs;
  CAIRN_TRY_ASSIGN(record, read_record(fs, cover.covers, cover.name));
  OpenCovered covered;
  covered.owner = record.owner;
  CAIRN_TRY_ASSIGN(found, open_and_look(fs, record, cover.path, &covered.directory));
  if (found != Covered::other && found != Covered::gone) return covered;
  covered.directory.reset();
  CAIRN_TRY_ASSIGN(state, state_of_cover(fs, cover.name));
  if (!state.all_drained) return refuse_other(fs, cover.path, found);
  return covered;
}

Result<std::unique_ptr<Cover>> open_cover(file::FileSystem& fs, const std::string& directory,
                                          const OpenOptions& options) {
  auto path = real_directory(directory);
  if (!path.ok()) return path.status();
  auto lock = lock_covers(fs);
  if (!lock.ok()) return lock.status();
  CAIRN_TRY(refuse_nested(fs, *path));
  auto record = find_record(fs, *path);
  if (!record.ok() && record.code() != ENOENT) return record.status();
  Covered found = Covered::same;
  if (record.ok()) {
    CAIRN_TRY_ASSIGN(looked, look_at_path(fs, *record));
    found = looked;
    if (is_another(found)) {
      CAIRN_TRY_ASSIGN(all, find_covers(fs, false));
      if (options.left) CAIRN_TRY(discard_earlier(fs, all, *path, options));
      if (find_record(fs, *path).code() != ENOENT)
        CAIRN_TRY(leave_other(fs, all, *path, found, options.notice));
      record = Status(ENOENT);
    } else {
      CAIRN_TRY(note_lost_records(fs, *path, &*record));
      CAIRN_TRY_ASSIGN(is_gone, leave_if_behind(fs, *record, *path, options.notice));
      if (is_gone) record = Status(ENOENT);
    }
  }
  std::string foreign;
  if (!record.ok()) CAIRN_TRY(look_for_moved(fs, *path, options.notice, &foreign));
  CoverRecord wanted = record.ok() ? *record : CoverRecord();
  wanted.path = *path;
  wanted.job = options.job;
  wanted.keep = options.keep;
  wanted.launch = options.launch;
  CAIRN_TRY(claim_for(fs, *path, record.ok(), &wanted, foreign));
  if (record.ok()) tell_claimed_again(found, *path, options.notice);
  auto covers = find_covers(fs, true);
  Status status = covers.status();
  if (status.ok() && options.left) status = discard_earlier(fs, *covers, *path, options);
  if (status.ok()) status = make_cover(fs, *covers, cover_name(*path), wanted);
  if (!status.ok()) {
    const std::string text = last_detail();
    if (!covers.ok() || !read_record(fs, *covers, cover_name(*path)).ok())
      drop_claim(fs, *path, wanted.owner)
          .ignore();  // the failure that is told is the first one
    return fail(status.code(), "%s", text.c_str());
  }
  return enter(fs, *covers, *path, options.when_alone);
}

Result<std::unique_ptr<Cover>> join_cover(file::FileSystem& fs, const std::string& directory,
                                          const WhenAlone& when_alone) {
  auto path = real_directory(directory);
  if (!path.ok()) return path.status();
  auto lock = lock_covers(fs);
  if (!lock.ok()) return lock.status();
  CAIRN_TRY(find_record(fs, *path).status());
  CAIRN_TRY_ASSIGN(covers, find_covers(fs, false));
  return enter(fs, covers, *path, when_alone);
}

Result<std::unique_ptr<Cover>> join_kept(file::FileSystem& fs, const std::string& directory) {
  auto path = real_directory(directory);
  CAIRN_TRY_ASSIGN(lock, lock_covers(fs));
  // A symbolic link may have its path by now.
  if (!path.ok() || find_record(fs, *path).code() == ENOENT) path = directory;
  CAIRN_TRY(find_record(fs, *path).status());
  CAIRN_TRY_ASSIGN(covers, find_covers(fs, false));
  return enter(fs, covers, *path, {}, false);
}

Status discard_cover(Cover& cover, bool only_drained, const std::function<Status()>& before) {
  file::FileSystem& fs = *cover.fs;
  auto lock = lock_covers(fs);
  if (!lock.ok()) return lock.status();
  auto draining = lock_drain(fs, cover.name);
  if (!draining.ok()) return draining.status();
  cover.member.release();
  auto others = has_other_members(cover);
  Status status = others.status();
  if (others.ok() && *others)
    status = fail(EBUSY, "%s: other processes are in it", cover.path.c_str());
  if (status.ok() && only_drained) {
    // Somebody may have come and gone since the drain.
    auto all = is_all_drained(fs, cover.top);
    auto parts = has_parts(fs, cover.name);
    status = all.ok() ? parts.status() : all.status();
    if (status.ok() && (!*all || *parts))
      status = fail(EAGAIN, "%s: not all of it is drained", cover.path.c_str());
  }
  if (status.ok() && before) status = before();
  const auto record = read_record(fs, cover.covers, cover.name);
  const uint64_t owner = record.ok() ? record->owner : no_owner;
  if (status.ok()) status = remove_record(fs, cover.covers, cover.name);
  if (!status.ok()) {
    // Still a member, then; without a byte of its own it would not be counted, which is all.
    const std::string detail = last_detail();
    become_member(cover).ignore();
    return fail(status.code(), "%s", detail.c_str());
  }
  // From here on the cover does not exist; what a killed process leaves is removed by the next one.
  CAIRN_TRY(wipe(fs, cover.covers, cover.name));
  CAIRN_TRY(wipe_parts(fs, cover.name));
  CAIRN_TRY(Journal::remove(fs, cover.covers, cover.name));
  return drop_claim(fs, cover.path, owner);
}

}  // namespace cairn::tier
