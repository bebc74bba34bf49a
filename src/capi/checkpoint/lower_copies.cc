// C API: copies of versions in lower (include/cairn/checkpoint.h).
#include <algorithm>

#include "base/long_detail.h"
#include "base/saved_failure.h"
#include "cairn/checkpoint.h"
#include "capi/context/context.h"
#include "checkpoint/record/way_back.h"
#include "checkpoint/redundancy/drain_nodes.h"
#include "checkpoint/redundancy/drain_part.h"
#include "checkpoint/redundancy/restore_nodes.h"
#include "checkpoint/redundancy/restore_version.h"
#include "checkpoint/run/set_user.h"
#include "checkpoint/versions/drop.h"
#include "checkpoint/write/failure_text.h"

using cairn::annotate;
using cairn::fail;
using cairn::Result;
using cairn::Status;
using cairn::capi::check_given;
using cairn::capi::code;
namespace capi = cairn::capi;
namespace ckpt = cairn::checkpoint;

namespace {

// For another process that copies to the same directory.
constexpr uint64_t longest_wait_ns = 60'000'000'000;

// What the context knows of the set, without a look at slots that it holds.
Status renew_catalogue(cairn_checkpoint* checkpoint) {
  ckpt::SlotCache slot_cache(checkpoint->set->fs(), checkpoint->set->directory());
  CAIRN_TRY_ASSIGN(manifests, ckpt::Catalogue::read_manifests(*checkpoint->set, &slot_cache));
  checkpoint->catalogue = std::move(manifests);
  return Status();
}

// The part of this host. A run on one host, and a host without a part of its own, have the others
// as copies.
std::vector<uint32_t> slots_to_drain(const cairn_checkpoint& checkpoint,
                                     const ckpt::KnownVersion& known) {
  if (known.slot == 0 || (checkpoint.run && !checkpoint.nodes)) return known.slots();
  return {known.slot};
}

// The number of parts that other hosts have not copied yet.
Result<uint32_t> drain(cairn_checkpoint* checkpoint, uint64_t sequence,
                       const std::string& directory, const ckpt::LowerRetention& retention) {
  CAIRN_TRY_ASSIGN(lower, ckpt::LowerSet::open(directory, checkpoint->name_of_set(), true));
  ckpt::PartSource source;
  source.look = [&](bool again) -> Result<ckpt::PoolSight> {
    if (!checkpoint->run) CAIRN_TRY(again ? renew_catalogue(checkpoint) : checkpoint->look_again());
    return ckpt::PoolSight{&checkpoint->catalogue, checkpoint->used_sequences()};
  };
  source.open = [&]() -> Result<std::vector<ckpt::DrainedPart>> {
    const ckpt::KnownVersion* const known = checkpoint->catalogue.find(sequence);
    if (known == nullptr) return fail(ENOENT, "the version is gone");
    std::vector<ckpt::DrainedPart> parts;
    for (const uint32_t number : slots_to_drain(*checkpoint, *known)) {
      CAIRN_TRY_ASSIGN(slot, checkpoint->slot_cache->get(number));
      CAIRN_TRY_ASSIGN(opened, ckpt::open_drained(*checkpoint->set, slot, sequence));
      parts.push_back(std::move(opened));
    }
    return parts;
  };
  return ckpt::drain_part(*checkpoint->set, source, {sequence, retention, longest_wait_ns}, &lower);
}

// The uuid that the set in the pool is to have: that of lower. A set without versions that has
// another one makes room for it.
Result<ckpt::Uuid> make_room(cairn::file::FileSystem& fs, const std::string& name,
                             const ckpt::LowerSet& lower) {
  CAIRN_TRY_ASSIGN(uuid, ckpt::set_in_lower(lower));
  const auto set = ckpt::SetFile::open(fs, name);
  if (set.code() == ENOENT) return uuid;
  if (!set.ok()) return set.status();
  if (std::equal(uuid.begin(), uuid.end(), (*set)->record().set)) return uuid;
  ckpt::SlotCache slot_cache(fs, (*set)->directory());
  const Status dropped = ckpt::drop_set(**set, &slot_cache, false);
  if (dropped.ok()) return uuid;
  if (dropped.code() == EPERM) return fail(EEXIST, "the pool has versions of another set");
  const cairn::SavedFailure saved(dropped);
  // Another rank has made room, and is in.
  const auto again = ckpt::SetFile::open(fs, name);
  if (again.code() == ENOENT) return uuid;
  if (again.ok() && std::equal(uuid.begin(), uuid.end(), (*again)->record().set)) return uuid;
  return saved.restored();
}

// Under the set's lock. EEXIST: it has a version.
Result<ckpt::Restored> restore_into(const ckpt::SetFile& set, ckpt::SlotCache* slot_cache,
                                    const ckpt::LowerSet& lower, bool is_earlier) {
  CAIRN_TRY_ASSIGN(manifests, ckpt::Catalogue::read_manifests(set, slot_cache));
  if (manifests.versions().empty() && is_earlier)
    return ckpt::restore_earlier(set, slot_cache, manifests, lower);
  if (manifests.versions().empty()) return ckpt::restore_newest(set, slot_cache, manifests, lower);
  return fail(EEXIST, "the pool has versions of the set");
}

// No copy that counts is whole: adds what the user can do.
Status with_earlier_line(const Status& status, const std::string& name,
                         const std::string& directory) {
  const cairn::SavedFailure saved(status);
  const auto lower = ckpt::LowerSet::open(directory, name, false);
  if (!lower.ok()) return saved.restored();
  const auto earlier = ckpt::earlier_in(*lower);
  if (!earlier.ok() || earlier->empty()) return saved.restored();
  return cairn::fail_at_length(status.code(),
                               saved.text() + "; " + ckpt::get_earlier_line_back(name, directory));
}

Result<ckpt::Restored> restore(cairn::file::FileSystem& fs, const std::string& name,
                               const std::string& directory, bool is_earlier) {
  CAIRN_TRY_ASSIGN(lower, ckpt::LowerSet::open(directory, name, false));
  CAIRN_TRY_ASSIGN(uuid, make_room(fs, name, lower));
  CAIRN_TRY_ASSIGN(set, ckpt::SetFile::open_or_make(fs, name, uuid));
  ckpt::SlotCache slot_cache(fs, set->directory());
  ckpt::Restored restored;
  const Status status = ckpt::with_set_lock(*set, [&] {
    CAIRN_TRY(ckpt::check_unused(*set));
    CAIRN_TRY_ASSIGN(got, restore_into(*set, &slot_cache, lower, is_earlier));
    restored = got;
    return Status();
  });
  if (status.code() == EUCLEAN && !is_earlier) return with_earlier_line(status, name, directory);
  if (!status.ok()) return status;
  return restored;
}

int restore_for_tool(cairn_pool* pool, const char* name, const char* directory, bool is_earlier,
                     cairn_checkpoint_info* info) {
  if (const Status given = check_given(pool, "pool"); !given.ok()) return code(given);
  if (const Status given = check_given(name, "the set's name"); !given.ok()) return code(given);
  if (const Status given = check_given(directory, "directory"); !given.ok()) return code(given);
  const auto restored = restore(capi::fs_of(pool), name, directory, is_earlier);
  if (!restored.ok()) return code(annotate(restored.status(), "checkpoint %s", name));
  cairn_checkpoint_info shown{};
  shown.number = restored->number;
  shown.sequence = restored->sequence;
  shown.bytes = restored->bytes;
  shown.level = CAIRN_LEVEL_GLOBAL;
  shown.skipped = restored->skipped;
  restored->why.copy(shown.why, sizeof shown.why - 1);
  capi::copy_out(shown, info);
  return 0;
}

}  // namespace

Result<std::optional<ckpt::Uuid>> cairn_checkpoint::set_of_lower(const std::string& name) {
  if (lower.empty()) return std::optional<ckpt::Uuid>();
  const auto there = ckpt::LowerSet::open(lower, name, false);
  if (there.code() == ENOENT) return std::optional<ckpt::Uuid>();
  if (!there.ok()) return there.status();
  CAIRN_TRY_ASSIGN(sequences, there->versions());
  if (sequences.empty()) return std::optional<ckpt::Uuid>();
  const auto uuid = make_room(capi::fs_of(pool), name, *there);
  // Without the record of the set nothing is restored, which begin_beside_lower() says.
  if (uuid.code() == ENOENT) return std::optional<ckpt::Uuid>();
  if (!uuid.ok()) return uuid.status();
  return std::optional<ckpt::Uuid>(*uuid);
}

std::string cairn_checkpoint::name_of_set() const {
  return {set->record().name, set->record().name_length};
}

Result<ckpt::LowerSet> cairn_checkpoint::open_lower() const {
  return ckpt::LowerSet::open(lower, name_of_set(), false);
}

// Nothing could be had from lower: adds what the user can do.
Status cairn_checkpoint::lower_failure(const Status& status) const {
  if (status.code() == EUCLEAN) with_earlier_line(status, name_of_set(), lower).ignore();
  const std::string text = cairn::last_detail();
  return cairn::fail_at_length(
      status.code(),
      "options.lower: " + text + "; CAIRN_CHECKPOINT_FRESH begins anew and keeps the copies");
}

Status cairn_checkpoint::begin_beside_lower() {
  const auto newest_there = [&]() -> Result<uint64_t> {
    const auto there = open_lower();
    if (there.code() == ENOENT) return uint64_t{0};
    if (!there.ok()) return there.status();
    CAIRN_TRY_ASSIGN(sequences, there->versions());
    return sequences.empty() ? 0 : sequences.back();
  };
  const auto meet = [&](int64_t value) {
    return run->barrier_max(ckpt::Run::Purpose::restart, value, 0);
  };
  const auto agree = [&](const Status& own) -> Status {
    const cairn::SavedFailure saved(own);
    CAIRN_TRY_ASSIGN(worst, meet(own.code()));
    if (!own.ok() || worst == 0) return saved.restored();
    return fail(static_cast<int>(worst), "options.lower: another rank cannot read it: %s",
                strerror(static_cast<int>(worst)));
  };
  const auto own = run->is_leader() ? newest_there() : Result<uint64_t>(uint64_t{0});
  CAIRN_TRY(agree(own.status()));
  CAIRN_TRY_ASSIGN(greatest, meet(static_cast<int64_t>(*own)));
  const auto newest = static_cast<uint64_t>(greatest);
  run->set_last_sequence(std::max(run->last_sequence(), newest));
  if (newest == 0 || (options.flags & CAIRN_CHECKPOINT_FRESH) != 0) return Status();
  const auto restored = ckpt::restore_on_nodes(&*run, &*slot_cache, catalogue, lower);
  if (!restored.ok()) return lower_failure(restored.status());
  in_lower = restored->skipped;
  if (restored->sequence != 0) {
    CAIRN_TRY(agree(renew_catalogue(this)));
    CAIRN_TRY(ckpt::merge_inventories(&*run, &*slot_cache, &catalogue));
    run->set_last_sequence(std::max(run->last_sequence(), newest));
    return Status();
  }
  const auto& versions = catalogue.versions();
  const bool has_any = std::any_of(versions.begin(), versions.end(),
                                   [](const auto& known) { return known.missing.empty(); });
  if (has_any || in_lower.newer_than(0) == 0) return Status();
  return lower_failure(
      fail(EUCLEAN, "no version is whole: %s", in_lower.why_newer_than(0).c_str()));
}

ckpt::UsedSequences cairn_checkpoint::used_sequences() const {
  const uint64_t last = catalogue.last_sequence();
  if (!writer) return {last, last, last};
  return {std::max(last, writer->sequence()), last_of_pools, run->last_sequence()};
}

namespace {

// The thread of this node does nothing meanwhile.
class Held {
 public:
  Held(ckpt::BackgroundDrain* drain, uint64_t sequence) : drain_(drain) {
    if (drain_ != nullptr) drain_->hold(sequence);
  }
  ~Held() {
    if (drain_ != nullptr) drain_->release();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  ckpt::BackgroundDrain* drain_;
};

}  // namespace

Status cairn_checkpoint::drain_to_lower(uint64_t sequence) {
  const Held held(background.get(), sequence);
  if ((options.flags & CAIRN_CHECKPOINT_BACKGROUND) != 0) {
    CAIRN_TRY_ASSIGN(is_there, was_copied(sequence));
    if (is_there) return Status();
  }
  const ckpt::LowerRetention retention = kept_in_lower();
  if (!nodes) return drain(this, sequence, lower, retention).status();
  const ckpt::KnownVersion* const known = catalogue.find(sequence);
  if (known == nullptr) return fail(ENOENT, "the version is gone");
  return ckpt::drain_on_nodes(*run, &*slot_cache, catalogue, *known,
                              {lower, retention, used_sequences(), longest_wait_ns});
}

Status cairn_checkpoint::drain_newest() {
  const ckpt::KnownVersion* const newest = catalogue.head();
  // Where a node is missing, there is nothing to copy.
  if (newest == nullptr || !newest->missing.empty()) return Status();
  const uint64_t sequence = newest->version.sequence;
  if (nodes) return meet_in_lower(sequence);
  return run->rank() == 0 ? drain_to_lower(sequence) : Status();
}

Status cairn_checkpoint::drain_at_end(bool is_fine) {
  const Status own = is_fine ? annotate(drain_newest(), "options.lower") : Status();
  if (run->ranks() == 1) return own;
  const cairn::SavedFailure saved(own);
  const auto worst = run->barrier_max(ckpt::Run::Purpose::leave, own.code(), writer->sequence());
  // Without the others it is this rank's own.
  if (!worst.ok() || *worst == 0) return saved.restored();
  const std::string told =
      share_text(&*run, ckpt::Run::Purpose::leave, !own.ok(), saved.text(), writer->sequence());
  return fail(
      static_cast<int>(*worst), "%s",
      told.empty() ? "options.lower: rank 0 could not copy the newest version" : told.c_str());
}

extern "C" {

int cairn_checkpoint_drain(cairn_checkpoint* checkpoint, int64_t version, const char* directory,
                           uint32_t keep) {
  const WriteWindow window;
  if (const Status given = check_given(checkpoint, "checkpoint"); !given.ok()) return code(given);
  if (const Status given = check_given(directory, "directory"); !given.ok()) return code(given);
  const ckpt::KnownVersion* const known = checkpoint->look_for(version);
  if (known == nullptr) return code(fail(ENOENT, "the set has no such version"));
  const auto missing =
      drain(checkpoint, known->version.sequence, directory, {keep, checkpoint->drops_copies()});
  return missing.ok() ? static_cast<int>(*missing)
                      : code(checkpoint->with_way_back(missing.status()));
}

int cairn_checkpoint_restore(cairn_pool* pool, const char* name, const char* directory,
                             cairn_checkpoint_info* info) {
  const WriteWindow window;
  return restore_for_tool(pool, name, directory, false, info);
}

int cairn_checkpoint_restore_earlier(cairn_pool* pool, const char* name, const char* directory,
                                     cairn_checkpoint_info* info) {
  const WriteWindow window;
  return restore_for_tool(pool, name, directory, true, info);
}

}  // extern "C"
