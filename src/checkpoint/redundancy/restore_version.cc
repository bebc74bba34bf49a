#include "checkpoint/redundancy/restore_version.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/saved_failure.h"
#include "checkpoint/layout/checksum_list.h"
#include "checkpoint/sources/checked_span.h"
#include "checkpoint/sources/lower_copy.h"
#include "checkpoint/sources/lower_line.h"
#include "checkpoint/store/layout_files.h"
#include "checkpoint/versions/catalogue.h"
#include "checkpoint/versions/commit_part.h"
#include "checkpoint/versions/lineage.h"
#include "file/data/bulk_write.h"

namespace cairn::checkpoint {
namespace {

// Returns the VERSION in the form that this pool stores.
Result<VersionRecord> version_here(const SetFile& set, const Manifest& manifest) {
  VersionRecord version = manifest.version();
  const Uuid holder = pool_uuid(set.fs());
  std::memcpy(version.holder, holder.data(), holder.size());
  CAIRN_TRY(seal_version(&version));
  return version;
}

// Returns the bytes behind the words. The part of one node becomes that of this pool; several parts
// keep their table, which is the same in all of them.
std::vector<uint8_t> rest_here(const SetFile& set, const Manifest& manifest) {
  std::vector<uint8_t> bytes(manifest.bytes().begin() + static_cast<ptrdiff_t>(roots_offset),
                             manifest.bytes().end());
  const VersionRecord& version = manifest.version();
  if (version.parts != 1) return bytes;
  const Uuid holder = pool_uuid(set.fs());
  PartRecord part = manifest.part(0);
  std::memcpy(part.pool, holder.data(), holder.size());
  seal_part(&part);
  std::memcpy(bytes.data() + (version.parts_offset - roots_offset), &part, sizeof part);
  return bytes;
}

// Commits a copy. The VERSION is written last: until then the slot's old one says that its version
// is retired.
Status commit_copy(const SetFile& set, Slot* slot, const LowerPart& source, uint64_t block_bytes) {
  CAIRN_TRY_ASSIGN(version, version_here(set, source.manifest));
  const std::vector<uint8_t> rest = rest_here(set, source.manifest);
  const SpanReader from_lower = [&](void* to, uint64_t size, uint64_t offset) {
    return source.data.read(to, size, offset);
  };
  const SpanWriter to_pool = [&](const void* from, uint64_t size, uint64_t offset) {
    return file::write_bulk(slot->data_file(), from, static_cast<size_t>(size), offset);
  };
  std::vector<uint8_t> buffer;
  for (const Span& span : spans_of(source.manifest))
    CAIRN_TRY(pass(span, block_bytes, from_lower, to_pool, &buffer));
  file::File& manifest = slot->manifest_file();
  CAIRN_TRY(file::write_bulk(manifest, rest.data(), rest.size(), roots_offset));
  static constexpr uint8_t zeros[roots_offset - attempts_offset] = {};
  CAIRN_TRY(file::write_bulk(manifest, zeros, sizeof zeros, attempts_offset));
  pool::Pool& pool = set.fs().pool;
  CAIRN_TRY(pool.fence_bytes());
  CAIRN_TRY(file::write_bulk(manifest, &version, sizeof version, 0));
  CAIRN_TRY(pool.fence_bytes());
  return commit_slot(set.fs(), slot, version.sequence);
}

Result<Restored> restore(const SetFile& set, SlotCache* slot_cache, const Catalogue& catalogue,
                         const LowerSet& lower, uint64_t sequence) {
  CAIRN_TRY_ASSIGN(copy, open_for(set, catalogue, lower, sequence));
  const VersionRecord& version = copy.manifest.version();
  const KnownVersion* const known = catalogue.find(sequence);
  std::vector<uint32_t> slots;
  Status status;
  for (uint32_t part = 0; part < version.parts && status.ok(); ++part) {
    if (known != nullptr && has_part_here(*known, part)) continue;
    const auto slot = restore_part(set, slot_cache, lower, copy, part,
                                   [](const std::function<Status()>& work) { return work(); });
    status = slot.status();
    if (slot.ok()) slots.push_back(*slot);
  }
  if (!status.ok()) {
    const SavedFailure saved(status);
    retire_restored(set, slot_cache, slots);
    return saved.restored();
  }
  Restored restored;
  restored.number = version.number;
  restored.sequence = sequence;
  restored.bytes = copy.manifest.data_bytes();
  return restored;
}

// Returns a remark for the text that some versions in lower do not count.
const char* skips_others(const LowerSet& lower, uint32_t skipped) {
  const auto all = lower.versions();
  return all.ok() && all->size() > skipped ? "that counts " : "";
}

}  // namespace

bool has_part_here(const KnownVersion& known, uint32_t part) { return known.slot_of(part) != 0; }

bool has_part_anywhere(const KnownVersion& known, uint32_t part) {
  return known.has(part) || known.has_copy(part);
}

bool is_complete(const KnownVersion& known, const HasPart& has) {
  for (uint32_t part = 0; part < known.version.parts; ++part)
    if (!has(known, part)) return false;
  return true;
}

const KnownVersion* newest_complete(const Catalogue& catalogue, const HasPart& has) {
  for (const KnownVersion& known : catalogue.line())
    if (is_complete(known, has)) return catalogue.find(known.version.sequence);
  return nullptr;
}

Result<std::vector<uint64_t>> wanted_of(const LowerSet& lower, const Catalogue& catalogue,
                                        const HasPart& has) {
  std::vector<uint64_t> wanted;
  const KnownVersion* const head = catalogue.head();
  const KnownVersion* const complete = newest_complete(catalogue, has);
  CAIRN_TRY_ASSIGN(line, line_in(lower));
  for (const uint64_t sequence : line.sequences) {
    if (line.is_abandoned(sequence)) continue;
    if (complete != nullptr && sequence <= complete->version.sequence) break;
    const bool is_of_line = head == nullptr || sequence >= head->version.sequence ||
                            is_in_line(head->version, sequence);
    if (is_of_line) wanted.push_back(sequence);
  }
  return wanted;
}

Result<LowerCopy> open_for(const SetFile& set, const Catalogue& catalogue, const LowerSet& lower,
                           uint64_t sequence) {
  CAIRN_TRY_ASSIGN(copy, open_copy(lower, sequence));
  const VersionRecord& version = copy.manifest.version();
  if (std::memcmp(version.set, set.record().set, sizeof version.set) != 0)
    return fail(EUCLEAN, "belongs to another set");
  const KnownVersion* const known = catalogue.find(sequence);
  if (known != nullptr && !is_same_version(known->version, version))
    return fail(EUCLEAN, "the pools have another version of this sequence");
  return copy;
}

Result<uint32_t> restore_part(const SetFile& set, SlotCache* slot_cache, const LowerSet& lower,
                              const LowerCopy& copy, uint32_t part, const Locked& locked) {
  CAIRN_TRY_ASSIGN(source, open_part(lower, copy.manifest, copy.contents, part));
  CAIRN_TRY(store_contents(set.fs(), set.directory(), copy.contents));
  const uint64_t block_bytes = copy.contents.layout().block_bytes();
  Slot* slot = nullptr;
  Lease lease;
  bool is_new = false;
  CAIRN_TRY(locked([&]() -> Status {
    CAIRN_TRY_ASSIGN(found, slot_cache->take_free(source.manifest.version().manifest_length,
                                                  source.manifest.data_end(block_bytes), &is_new));
    CAIRN_TRY_ASSIGN(held, found->take_lease());
    lease = std::move(held);
    slot = found;
    return Status();
  }));
  const uint32_t number = slot->ids().number;
  const Status status = commit_copy(set, slot, source, block_bytes);
  if (status.ok()) {
    const uint64_t sequence = source.manifest.version().sequence;
    if (sequence > set.newest_committed()) set.note_newest(sequence);
    return number;
  }
  const SavedFailure saved(status);
  lease = {};
  // The blocks of a new slot are freed for others.
  if (is_new && status.code() == ENOSPC) {
    slot_cache->drop(number);
    remove_slot(set.fs(), set.directory(), number).ignore();  // the slot stays free then
  }
  return saved.restored();
}

void retire_restored(const SetFile& set, SlotCache* slot_cache,
                     const std::vector<uint32_t>& slots) {
  // A failure only makes a later run report a version that was never whole.
  if (!slots.empty()) set.forget_newest(UINT64_MAX).ignore();
  for (const uint32_t number : slots) {
    const auto slot = slot_cache->get(number);
    if (slot.ok()) (*slot)->retire().ignore();  // a part without the others does not count
  }
  if (!slots.empty()) set.fs().pool.fence().ignore();  // the slot's next user fences as well
}

namespace {

// Restores the first of these versions that is whole.
Result<Restored> restore_first(const SetFile& set, SlotCache* slot_cache,
                               const Catalogue& catalogue, const LowerSet& lower,
                               const std::vector<uint64_t>& wanted) {
  uint32_t skipped = 0;
  std::string why;
  for (const uint64_t sequence : wanted) {
    auto restored = restore(set, slot_cache, catalogue, lower, sequence);
    if (restored.ok()) {
      restored->skipped = skipped;
      restored->why = why;
      return restored;
    }
    // An error of the file system proves nothing about the copy.
    if (!is_damage(restored.status()))
      return annotate(restored.status(), "%s/%s", lower.path().c_str(),
                      lower_name(sequence, "").c_str());
    if (skipped == 0) why = lower_name(sequence, "") + ": " + last_detail();
    ++skipped;
  }
  if (skipped == 0) return fail(ENOENT, "%s: has no version", lower.path().c_str());
  return fail(EUCLEAN, "%s: no version %sis whole: %s", lower.path().c_str(),
              skips_others(lower, skipped), why.c_str());
}

}  // namespace

Result<Restored> restore_newest(const SetFile& set, SlotCache* slot_cache,
                                const Catalogue& catalogue, const LowerSet& lower) {
  CAIRN_TRY_ASSIGN(wanted, wanted_of(lower, catalogue, has_part_here));
  return restore_first(set, slot_cache, catalogue, lower, wanted);
}

Result<Restored> restore_earlier(const SetFile& set, SlotCache* slot_cache,
                                 const Catalogue& catalogue, const LowerSet& lower) {
  CAIRN_TRY_ASSIGN(earlier, earlier_in(lower));
  if (earlier.empty())
    return fail(ENOENT, "%s: has no line before the newest one's", lower.path().c_str());
  return restore_first(set, slot_cache, catalogue, lower, earlier);
}

}  // namespace cairn::checkpoint
