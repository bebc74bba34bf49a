#include "tier/cover/leave_cover.h"

#include <fcntl.h>

#include "tier/changes/undrained_summary.h"
#include "tier/claim/claim.h"
#include "tier/cover/cover_state.h"
#include "tier/cover/covered_directory.h"
#include "tier/cover/make_cover.h"
#include "tier/lower/lower.h"
#include "tier/lower/lower_base.h"
#include "tier/record/behind.h"
#include "tier/record/parts.h"
#include "tier/record/record.h"

namespace cairn::tier {

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
  if (draining.code() == EAGAIN) return false;  // a keeper drains, and a run does not wait for it
  CAIRN_TRY(draining.status());
  CAIRN_TRY_ASSIGN(covers, find_covers(fs, false));
  CAIRN_TRY_ASSIGN(top, find_child(fs, covers, cover.name));
  if (top == 0) return false;  // the process that opened the cover was killed before it made it
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

Status look_for_moved(file::FileSystem& fs, const std::string& path, const Notice& notice,
                      std::string* foreign) {
  const int64_t opened = lower_base(path, O_RDONLY);
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
    CAIRN_TRY_ASSIGN(undrained, summarize_undrained(fs, name));
    return fail(EEXIST,
                "%s: it was covered as %s, and `cairn drain %s --to %s` writes what the pool %s "
                "keeps of it: %s",
                path.c_str(), other.path.c_str(), other.path.c_str(), path.c_str(),
                fs.pool.path.c_str(), describe_undrained(undrained).c_str());
  }
  CAIRN_TRY_ASSIGN(all, find_covers(fs, false));
  return leave_other(fs, all, other.path, found, notice);
}

}  // namespace cairn::tier
