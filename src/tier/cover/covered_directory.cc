#include "tier/cover/covered_directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "tier/changes/undrained_summary.h"
#include "tier/claim/claim.h"
#include "tier/cover/cover_state.h"
#include "tier/cover/make_cover.h"
#include "tier/lower/lower.h"
#include "tier/lower/lower_base.h"
#include "tier/record/locate.h"
#include "tier/record/parts.h"
#include "tier/record/records_directory.h"

namespace cairn::tier {
namespace {

// Other users can move the user's claim into a directory of their own, and move that to the path.
// So the directory's owner must be the same as before.
Result<bool> may_be_covered(const CoverRecord& record, int directory, const std::string& path) {
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(directory, &st); result < 0)
    return sys::failed(result, "stat", path);
  return record.directory_owner == no_owner || is_trusted_owner(st.st_uid, record.directory_owner);
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

// Opens the covered directory (O_PATH) and tells whether it still is the one that was covered.
Result<Covered> open_and_look(const file::FileSystem& fs, const CoverRecord& record,
                              const std::string& path, sys::Descriptor* directory) {
  const int64_t opened = lower_base(path);
  if (opened == -ENOENT || opened == -ENOTDIR || opened == -ELOOP) return Covered::gone;
  if (opened < 0) return sys::failed(opened, "open", path);
  *directory = sys::Descriptor(static_cast<int>(opened));
  return look_at_opened(fs, record, directory->get(), path);
}

}  // namespace

bool is_another(Covered found) {
  return found == Covered::other || found == Covered::gone || found == Covered::copy;
}

Status refuse_other(file::FileSystem& fs, const std::string& path, Covered found) {
  CAIRN_TRY_ASSIGN(undrained, summarize_undrained(fs, cover_name(path)));
  return fail(ESTALE, "%s: %s; the pool %s keeps what was never drained to the covered one: %s",
              path.c_str(),
              found == Covered::gone ? "the covered directory is gone"
              : found == Covered::copy
                  ? "this path leads to a directory other than the covered one, with a copy of its "
                    "claim (to put it in the place of the covered one, drain to it with --to)"
                  : "this path leads to a directory other than the covered one",
              fs.pool.path.c_str(), describe_undrained(undrained).c_str());
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

Status note_lost_records(file::FileSystem& fs, const std::string& path, CoverRecord* record) {
  CAIRN_TRY_ASSIGN(parts, has_parts(fs, cover_name(path)));
  record->records_lost =
      parts && (record->records_lost || are_records_missing(path, record->owner));
  return Status();
}

Result<bool> claim_for(file::FileSystem& fs, const std::string& path, bool is_known,
                       CoverRecord* record, const std::string& foreign) {
  ClaimRequest request;
  request.foreign = foreign;
  request.job = record->job;
  request.token = record->token.empty() ? new_token() : record->token;
  request.owner = record->owner;
  if (is_known)
    request.before_adopting = [&](const std::string& token) -> Status {
      // A process that is killed here leaves either token in the claim: the record knows both.
      CAIRN_TRY_ASSIGN(covers, find_covers(fs, false));
      record->earlier_token = record->token;
      record->token = token;
      return write_record(fs, covers, cover_name(path), *record);
    };
  CAIRN_TRY_ASSIGN(taken, take_claim(fs, path, request));
  record->token = taken.token;
  if (!taken.is_unwritable) record->owner = taken.owner;
  const int64_t opened = lower_base(path, O_RDONLY);
  if (opened < 0) return sys::failed(opened, "open", path);
  const sys::Descriptor directory(static_cast<int>(opened));
  sys::FileStat st = {};
  int64_t result = sys::fstat(directory.get(), &st);
  if (result == 0) result = marks_of(directory.get(), &record->marks);
  if (result < 0) return sys::failed(result, "stat", path);
  record->directory_owner = st.st_uid;
  if (record->directory_rights == 0)
    record->directory_rights = noted_rights(st.st_uid, st.st_gid, st.st_mode);
  return !taken.is_unwritable;
}

Result<Covered> look_at_path(const file::FileSystem& fs, const CoverRecord& record,
                             uint64_t* device) {
  sys::Descriptor directory;
  CAIRN_TRY_ASSIGN(found, open_and_look(fs, record, record.path, &directory));
  if (found == Covered::gone) return found;
  sys::FileStat st = {};
  DirectoryMarks marks;
  int64_t result = sys::fstat(directory.get(), &st);
  if (result >= 0) result = marks_of(directory.get(), &marks);
  if (result < 0) return sys::failed(result, "stat", record.path);
  if (device != nullptr) *device = st.st_dev;
  const bool is_copy =
      marks.birth != 0 && record.marks.birth != 0 && marks.birth != record.marks.birth;
  return found == Covered::same && is_copy ? Covered::copy : found;
}

Result<Covered> look_at_covered(const file::FileSystem& fs, const CoverRecord& record,
                                const std::string& path) {
  sys::Descriptor directory;
  return open_and_look(fs, record, path, &directory);
}

namespace {

Status confirm(const Cover& cover, bool copy_counts, const Notice& notice) {
  file::FileSystem& fs = *cover.fs;
  CAIRN_TRY_ASSIGN(lock, lock_covers(fs));
  auto record = find_record(fs, cover.path);
  if (record.code() == ENOENT) return Status();  // the drain returns that error
  CAIRN_TRY(record.status());
  uint64_t device = 0;
  CAIRN_TRY_ASSIGN(found, look_at_path(fs, *record, &device));
  if (!is_another(found) || (found == Covered::copy && copy_counts)) {
    const CoverRecord before = *record;
    CAIRN_TRY(confirm_device(fs, cover.top, cover.path, device));
    CAIRN_TRY(note_lost_records(fs, cover.path, &*record));
    bool is_claimed = true;
    if (found == Covered::unclaimed || found == Covered::copy) {
      CAIRN_TRY_ASSIGN(claimed, claim_for(fs, cover.path, true, &*record));
      is_claimed = claimed;
    }
    const bool is_changed = *record != before;
    const Status status =
        is_changed ? write_record(fs, cover.covers, cover.name, *record) : Status();
    // A full pool has no room for the record. It is drained all the same, and the next drain
    // recognises the directory again.
    if (status.code() != ENOSPC || record->records_lost) CAIRN_TRY(status);
    if (found == Covered::unclaimed && is_claimed) tell_claimed_again(found, cover.path, notice);
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
  covered.directory_rights = record.directory_rights;
  CAIRN_TRY_ASSIGN(found, open_and_look(fs, record, cover.path, &covered.directory));
  if (found != Covered::other && found != Covered::gone) return covered;
  covered.directory.reset();
  CAIRN_TRY_ASSIGN(state, state_of_cover(fs, cover.name));
  if (!state.all_drained) return refuse_other(fs, cover.path, found);
  return covered;
}

}  // namespace cairn::tier
