#include "checkpoint/redundancy/restore_set.h"

#include <algorithm>
#include <cstring>

#include "base/long_detail.h"
#include "base/saved_failure.h"
#include "checkpoint/record/way_back.h"
#include "checkpoint/redundancy/restore_nodes.h"
#include "checkpoint/run/set_user.h"
#include "checkpoint/sources/lower_copy.h"
#include "checkpoint/sources/lower_line.h"
#include "checkpoint/versions/drop.h"
#include "checkpoint/versions/merged_inventory.h"

namespace cairn::checkpoint {
namespace {

// Returns the uuid that the set in the pool is to have: the one in lower. A set without versions
// that has another one is dropped.
Result<Uuid> find_room_for(file::FileSystem& fs, const std::string& name, const LowerSet& lower) {
  CAIRN_TRY_ASSIGN(uuid, set_in_lower(lower));
  const auto set = SetFile::open(fs, name);
  if (set.code() == ENOENT) return uuid;
  if (!set.ok()) return set.status();
  if (std::equal(uuid.begin(), uuid.end(), (*set)->record().set)) return uuid;
  SlotCache slot_cache(fs, (*set)->directory());
  const Status dropped = drop_set(**set, &slot_cache, false);
  if (dropped.ok()) return uuid;
  if (dropped.code() == EPERM) return fail(EEXIST, "the pool has versions of another set");
  const SavedFailure saved(dropped);
  // Another rank may have dropped the set, and made it anew.
  const auto again = SetFile::open(fs, name);
  if (again.code() == ENOENT) return uuid;
  if (again.ok() && std::equal(uuid.begin(), uuid.end(), (*again)->record().set)) return uuid;
  return saved.restored();
}

// Restores under the set's lock. EEXIST: the pool has a version.
Result<Restored> restore_into(const SetFile& set, SlotCache* slot_cache, const LowerSet& lower,
                              bool is_earlier) {
  CAIRN_TRY_ASSIGN(manifests, Catalogue::read_manifests(set, slot_cache));
  if (manifests.versions().empty() && is_earlier)
    return restore_earlier(set, slot_cache, manifests, lower);
  if (manifests.versions().empty()) return restore_newest(set, slot_cache, manifests, lower);
  return fail(EEXIST, "the pool has versions of the set");
}

// Adds the command that gets the earlier line back, as no copy that counts is whole.
Status with_earlier_line(const Status& status, const std::string& name,
                         const std::string& directory) {
  const SavedFailure saved(status);
  const auto lower = LowerSet::open(directory, name, false);
  if (!lower.ok()) return saved.restored();
  const auto earlier = earlier_in(*lower);
  if (!earlier.ok() || earlier->empty()) return saved.restored();
  return fail_at_length(status.code(),
                        saved.text() + "; " + get_earlier_line_back(name, directory));
}

// Adds what the user can do if nothing could be had from lower.
Status lower_failure(const Status& status, const std::string& set, const std::string& directory) {
  if (status.code() == EUCLEAN) with_earlier_line(status, set, directory).ignore();
  const std::string text = last_detail();
  return fail_at_length(
      status.code(),
      "options.lower: " + text + "; CAIRN_CHECKPOINT_FRESH begins anew and keeps the copies");
}

// Returns the newest sequence in lower; 0: there is none.
Result<uint64_t> newest_in(const std::string& directory, const std::string& set) {
  const auto there = LowerSet::open(directory, set, false);
  if (there.code() == ENOENT) return uint64_t{0};
  if (!there.ok()) return there.status();
  CAIRN_TRY_ASSIGN(sequences, there->versions());
  return sequences.empty() ? 0 : sequences.back();
}

}  // namespace

Result<Restored> restore_set(file::FileSystem& fs, const std::string& name,
                             const std::string& directory, bool is_earlier) {
  CAIRN_TRY_ASSIGN(lower, LowerSet::open(directory, name, false));
  CAIRN_TRY_ASSIGN(uuid, find_room_for(fs, name, lower));
  CAIRN_TRY_ASSIGN(set, SetFile::open_or_make(fs, name, uuid));
  SlotCache slot_cache(fs, set->directory());
  Restored restored;
  const Status status = with_set_lock(*set, [&] {
    CAIRN_TRY(check_unused(*set));
    CAIRN_TRY_ASSIGN(got, restore_into(*set, &slot_cache, lower, is_earlier));
    restored = got;
    return Status();
  });
  if (status.code() == EUCLEAN && !is_earlier) return with_earlier_line(status, name, directory);
  if (!status.ok()) return status;
  return restored;
}

Result<std::optional<Uuid>> set_of_lower(file::FileSystem& fs, const std::string& name,
                                         const std::string& directory) {
  if (directory.empty()) return std::optional<Uuid>();
  const auto there = LowerSet::open(directory, name, false);
  if (there.code() == ENOENT) return std::optional<Uuid>();
  if (!there.ok()) return there.status();
  CAIRN_TRY_ASSIGN(sequences, there->versions());
  if (sequences.empty()) return std::optional<Uuid>();
  const auto uuid = find_room_for(fs, name, *there);
  // restore_at_begin() says that nothing is restored without the record of the set.
  if (uuid.code() == ENOENT) return std::optional<Uuid>();
  if (!uuid.ok()) return uuid.status();
  return std::optional<Uuid>(*uuid);
}

Result<SkippedVersions> restore_at_begin(Run* run, SlotCache* slot_cache, Catalogue* catalogue,
                                         const std::string& directory, bool is_fresh) {
  const SetFile& set = run->set();
  const auto meet = [&](int64_t value) {
    return run->barrier_max(Run::Purpose::restart, value, 0);
  };
  const auto agree = [&](const Status& own) -> Status {
    const SavedFailure saved(own);
    CAIRN_TRY_ASSIGN(worst, meet(own.code()));
    if (!own.ok() || worst == 0) return saved.restored();
    return fail(static_cast<int>(worst), "options.lower: another rank cannot read it: %s",
                strerror(static_cast<int>(worst)));
  };
  const auto own = run->is_leader() ? newest_in(directory, set.name()) : Result<uint64_t>(0);
  CAIRN_TRY(agree(own.status()));
  CAIRN_TRY_ASSIGN(greatest, meet(static_cast<int64_t>(*own)));
  const auto newest = static_cast<uint64_t>(greatest);
  run->set_last_sequence(std::max(run->last_sequence(), newest));
  if (newest == 0 || is_fresh) return SkippedVersions();
  const auto restored = restore_on_nodes(run, slot_cache, *catalogue, directory);
  if (!restored.ok()) return lower_failure(restored.status(), set.name(), directory);
  if (restored->sequence != 0) {
    const auto look = [&]() -> Status {
      SlotCache fresh(set.fs(), set.directory());
      CAIRN_TRY_ASSIGN(manifests, Catalogue::read_manifests(set, &fresh));
      *catalogue = std::move(manifests);
      return Status();
    };
    CAIRN_TRY(agree(look()));
    CAIRN_TRY(merge_inventories(run, slot_cache, catalogue));
    run->set_last_sequence(std::max(run->last_sequence(), newest));
    return restored->skipped;
  }
  const auto& versions = catalogue->versions();
  const bool has_any = std::any_of(versions.begin(), versions.end(),
                                   [](const auto& known) { return known.missing.empty(); });
  if (has_any || restored->skipped.newer_than(0) == 0) return restored->skipped;
  return lower_failure(
      fail(EUCLEAN, "no version is whole: %s", restored->skipped.why_newer_than(0).c_str()),
      set.name(), directory);
}

}  // namespace cairn::checkpoint
