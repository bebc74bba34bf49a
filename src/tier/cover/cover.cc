#include "tier/cover/cover.h"

#include <fcntl.h>

#include "base/saved_failure.h"
#include "tier/claim/claim.h"
#include "tier/cover/cover_state.h"
#include "tier/cover/covered_directory.h"
#include "tier/cover/discard_earlier.h"
#include "tier/cover/leave_cover.h"
#include "tier/cover/make_cover.h"
#include "tier/cover/nesting.h"
#include "tier/drain/undrained.h"
#include "tier/lower/lower.h"
#include "tier/record/journal.h"
#include "tier/record/locate.h"
#include "tier/record/parts.h"
#include "tier/record/record.h"
#include "tier/record/wipe.h"
#include "tier/system/system.h"

namespace cairn::tier {
namespace {

Result<std::string> real_directory(const std::string& directory) {
  std::string path;
  const int64_t result = sys::real_path(directory.c_str(), O_DIRECTORY, &path);
  if (result < 0) return sys::failed(result, "cannot be covered", directory);
  return path;
}

// Makes this process a member of a cover that has a record. The caller holds the lock on covers.
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
  if (needs_lower) CAIRN_TRY(cover_of_top(fs, cover->top).status());
  if (when_alone) {
    CAIRN_TRY_ASSIGN(others, has_other_members(*cover));
    if (!others) CAIRN_TRY(when_alone(*cover));
  }
  CAIRN_TRY(become_member(*cover));
  return cover;
}

}  // namespace

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
  CAIRN_TRY_ASSIGN(is_claimed, claim_for(fs, *path, record.ok(), &wanted, foreign));
  if (record.ok() && is_claimed) tell_claimed_again(found, *path, options.notice);
  auto covers = find_covers(fs, true);
  Status status = covers.status();
  if (status.ok() && options.left) status = discard_earlier(fs, *covers, *path, options);
  if (status.ok()) status = make_cover(fs, *covers, cover_name(*path), wanted);
  if (!status.ok()) {
    const SavedFailure saved(status);
    if (!covers.ok() || !read_record(fs, *covers, cover_name(*path)).ok())
      drop_claim(fs, *path, wanted.owner).ignore();  // the caller gets the first failure
    return saved.restored();
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
  // The covered directory may be gone, and a symbolic link may have its path by now.
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
    // A process may have joined the cover since the drain, changed files and left.
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
    // This process remains a member. If this fails, other processes do not count it.
    const SavedFailure saved(status);
    become_member(cover).ignore();
    return saved.restored();
  }
  // From here on the cover does not exist. If this process is killed, the next one that opens a
  // cover removes the rest.
  CAIRN_TRY(wipe(fs, cover.covers, cover.name));
  CAIRN_TRY(wipe_parts(fs, cover.name));
  CAIRN_TRY(Journal::remove(fs, cover.covers, cover.name));
  return drop_claim(fs, cover.path, owner);
}

}  // namespace cairn::tier
