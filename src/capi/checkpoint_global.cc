// C API: copies of versions in lower (include/cairn/checkpoint.h).
#include <algorithm>

#include "cairn/checkpoint.h"
#include "capi/checkpoint_context.h"
#include "checkpoint/redundancy/drain_version.h"
#include "checkpoint/redundancy/restore_version.h"
#include "checkpoint/version/drop.h"
#include "checkpoint/version/set_user.h"

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

Status drain(cairn_checkpoint* checkpoint, uint64_t sequence, const std::string& directory,
             uint32_t keep) {
  const ckpt::SetRecord& record = checkpoint->set->record();
  CAIRN_TRY_ASSIGN(
      lower, ckpt::LowerSet::open(directory, std::string(record.name, record.name_length), true));
  CAIRN_TRY_ASSIGN(lock, lower.lock(longest_wait_ns));
  // The lock's last holder may have copied what a run has written since.
  if (!checkpoint->run) CAIRN_TRY(checkpoint->look_again());
  const ckpt::KnownVersion* const known = checkpoint->catalogue.find(sequence);
  if (known == nullptr) return fail(ENOENT, "the version is gone");
  const uint64_t last = std::max(checkpoint->catalogue.last_sequence(),
                                 checkpoint->writer ? checkpoint->writer->sequence() : 0);
  CAIRN_TRY_ASSIGN(slot, checkpoint->shelf->get(known->slot));
  CAIRN_TRY(
      ckpt::drain_version(*checkpoint->set, slot, checkpoint->catalogue, last, sequence, &lower));
  return keep == 0 ? Status() : ckpt::retire_in_lower(&lower, keep, sequence);
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
  ckpt::Shelf shelf(fs, (*set)->directory());
  const Status dropped = ckpt::drop_set(**set, &shelf, false);
  if (dropped.ok()) return uuid;
  if (dropped.code() == EPERM) return fail(EEXIST, "the pool has versions of another set");
  const std::string text = cairn::last_detail();
  // Another rank has made room, and is in.
  const auto again = ckpt::SetFile::open(fs, name);
  if (again.code() == ENOENT) return uuid;
  if (again.ok() && std::equal(uuid.begin(), uuid.end(), (*again)->record().set)) return uuid;
  return fail(dropped.code(), "%s", text.c_str());
}

// Under the set's lock. EEXIST: it has a version.
Result<ckpt::Restored> restore_into(const ckpt::SetFile& set, ckpt::Shelf* shelf,
                                    const ckpt::LowerSet& lower) {
  CAIRN_TRY_ASSIGN(stock, ckpt::Catalogue::take_stock(set, shelf));
  if (!stock.versions().empty()) return fail(EEXIST, "the pool has versions of the set");
  return ckpt::restore_newest(set, shelf, lower);
}

Result<ckpt::Restored> restore(cairn::file::FileSystem& fs, const std::string& name,
                               const std::string& directory) {
  CAIRN_TRY_ASSIGN(lower, ckpt::LowerSet::open(directory, name, false));
  CAIRN_TRY_ASSIGN(uuid, make_room(fs, name, lower));
  CAIRN_TRY_ASSIGN(set, ckpt::SetFile::open_or_make(fs, name, uuid));
  ckpt::Shelf shelf(fs, set->directory());
  ckpt::Restored restored;
  const Status status = ckpt::with_set_lock(*set, [&] {
    CAIRN_TRY(ckpt::check_unused(*set));
    CAIRN_TRY_ASSIGN(got, restore_into(*set, &shelf, lower));
    restored = got;
    return Status();
  });
  if (!status.ok()) return status;
  return restored;
}

}  // namespace

Result<ckpt::Uuid> cairn_checkpoint::uuid_of_new_set(const std::string& name) {
  const auto there = ckpt::LowerSet::open(lower, name, false);
  if (there.code() == ENOENT) return ckpt::draw_uuid();
  if (!there.ok()) return there.status();
  CAIRN_TRY_ASSIGN(sequences, there->versions());
  if (sequences.empty()) return ckpt::draw_uuid();
  const auto uuid = make_room(capi::fs_of(pool), name, *there);
  // Without the record of the set nothing is restored, which restore_from_lower() says.
  return uuid.code() == ENOENT ? ckpt::draw_uuid() : uuid;
}

Result<uint64_t> cairn_checkpoint::restore_from_lower() {
  if (lower.empty()) return uint64_t{0};
  const ckpt::SetRecord& record = set->record();
  const auto there =
      ckpt::LowerSet::open(lower, std::string(record.name, record.name_length), false);
  if (there.code() == ENOENT) return uint64_t{0};
  if (!there.ok()) return there.status();
  CAIRN_TRY_ASSIGN(sequences, there->versions());
  if (sequences.empty()) return uint64_t{0};
  const auto restored = restore_into(*set, &*shelf, *there);
  // The pool has versions, or the run begins anew: it needs none of lower.
  const bool is_needed = restored.code() != EEXIST && (options.flags & CAIRN_CHECKPOINT_FRESH) == 0;
  if (!restored.ok() && is_needed)
    return fail(restored.code(), "options.lower: %s; begin anew with CAIRN_CHECKPOINT_FRESH",
                std::string(cairn::last_detail()).c_str());
  return sequences.back();
}

Status cairn_checkpoint::drain_to_lower(uint64_t sequence) {
  return drain(this, sequence, lower, options.lower_keep == 0 ? 2 : options.lower_keep);
}

extern "C" {

int cairn_checkpoint_drain(cairn_checkpoint* checkpoint, int64_t version, const char* directory,
                           uint32_t keep) {
  const WriteWindow window;
  if (const Status given = check_given(checkpoint, "checkpoint"); !given.ok()) return code(given);
  if (const Status given = check_given(directory, "directory"); !given.ok()) return code(given);
  const ckpt::KnownVersion* const known = checkpoint->look_for(version);
  if (known == nullptr) return code(fail(ENOENT, "the set has no such version"));
  return code(drain(checkpoint, known->version.sequence, directory, keep));
}

int cairn_checkpoint_restore(cairn_pool* pool, const char* name, const char* directory,
                             cairn_checkpoint_info* info) {
  const WriteWindow window;
  if (const Status given = check_given(pool, "pool"); !given.ok()) return code(given);
  if (const Status given = check_given(name, "the set's name"); !given.ok()) return code(given);
  if (const Status given = check_given(directory, "directory"); !given.ok()) return code(given);
  const auto restored = restore(capi::fs_of(pool), name, directory);
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

}  // extern "C"
