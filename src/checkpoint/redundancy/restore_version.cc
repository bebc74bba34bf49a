#include "checkpoint/redundancy/restore_version.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "checkpoint/layout/head.h"
#include "checkpoint/redundancy/checked_span.h"
#include "checkpoint/redundancy/lower_copy.h"
#include "checkpoint/redundancy/lower_line.h"
#include "checkpoint/store/checksum_list.h"
#include "checkpoint/store/layout_files.h"
#include "checkpoint/version/catalogue.h"
#include "file/bulk_write.h"

namespace cairn::checkpoint {
namespace {

struct Source {
  Manifest manifest;
  Contents contents;
  LowerFile data;
};

// The manifest as this pool holds it: its words are clear, and nothing is decided.
Result<std::vector<uint8_t>> manifest_here(const SetFile& set, const Manifest& manifest) {
  std::vector<uint8_t> bytes = manifest.bytes();
  const Uuid holder = pool_uuid(set.fs());
  VersionRecord version = manifest.version();
  std::memcpy(version.holder, holder.data(), holder.size());
  CAIRN_TRY(seal_version(&version));
  PartRecord part = manifest.part(0);
  std::memcpy(part.pool, holder.data(), holder.size());
  seal_part(&part);
  std::memcpy(bytes.data(), &version, sizeof version);
  std::memset(bytes.data() + decision_offset, 0, roots_offset - decision_offset);
  std::memcpy(bytes.data() + version.parts_offset, &part, sizeof part);
  return bytes;
}

Status commit_copy(const SetFile& set, Slot* slot, const Source& source) {
  CAIRN_TRY_ASSIGN(bytes, manifest_here(set, source.manifest));
  file::File& manifest = slot->manifest_file();
  // The decision stays free until all else is durable.
  CAIRN_TRY(file::write_bulk(manifest, bytes.data(), decision_offset, 0));
  CAIRN_TRY(file::write_bulk(manifest, bytes.data() + attempts_offset,
                             bytes.size() - attempts_offset, attempts_offset));
  const SpanReader from_lower = [&](void* to, uint64_t size, uint64_t offset) {
    return source.data.read(to, size, offset);
  };
  const SpanWriter to_pool = [&](const void* from, uint64_t size, uint64_t offset) {
    return file::write_bulk(slot->data_file(), from, static_cast<size_t>(size), offset);
  };
  std::vector<uint8_t> buffer;
  for (const Span& span : spans_of(source.manifest))
    CAIRN_TRY(pass(span, source.contents.layout().block_bytes(), from_lower, to_pool, &buffer));
  pool::Pool& pool = set.fs().pool;
  CAIRN_TRY(pool.fence_bytes());
  CAIRN_TRY(slot->write_back());
  CAIRN_TRY_ASSIGN(decision, slot->word(decision_offset));
  const uint64_t wanted =
      decision_word(Decision::committed, source.manifest.version().sequence,
                    seal_of(bytes.data(), source.manifest.version().manifest_length));
  uint64_t held = decision->load();
  if (!is_free_word(held) || !pool.compare_exchange(*decision, held, wanted))
    return fail(EUCLEAN, "%s: its decision changed", manifest_name(slot->ids().number).c_str());
  pool.flush(decision, sizeof *decision);
  return pool.fence();
}

Result<Restored> restore(const SetFile& set, Shelf* shelf, const LowerSet& lower,
                         uint64_t sequence) {
  CAIRN_TRY_ASSIGN(copy, open_copy(lower, sequence));
  if (copy.manifest.version().parts != 1)
    return fail(ENOSYS, "was written on several hosts; this release restores those of one");
  CAIRN_TRY_ASSIGN(part, open_part(lower, copy.manifest, copy.contents, 0));
  const Source source{std::move(part.manifest), std::move(copy.contents), std::move(part.data)};
  const VersionRecord& version = source.manifest.version();
  if (std::memcmp(version.set, set.record().set, sizeof version.set) != 0)
    return fail(EUCLEAN, "belongs to another set");
  CAIRN_TRY(store_contents(set.fs(), set.directory(), source.contents));
  bool is_new = false;
  CAIRN_TRY_ASSIGN(
      slot,
      shelf->take_free(version.manifest_length,
                       source.manifest.data_end(source.contents.layout().block_bytes()), &is_new));
  CAIRN_TRY(commit_copy(set, slot, source));
  Restored restored;
  restored.number = version.number;
  restored.sequence = sequence;
  restored.bytes = source.manifest.data_bytes();
  return restored;
}

}  // namespace

Result<Uuid> set_in_lower(const LowerSet& lower) {
  CAIRN_TRY_ASSIGN(bytes, lower.read_file("set", sizeof(SetRecord)));
  CAIRN_TRY_ASSIGN(length, check_record(bytes.data(), bytes.size(), magic_set, sizeof(SetRecord)));
  if (length != sizeof(SetRecord) || bytes.size() < sizeof(SetRecord))
    return fail(EUCLEAN, "%s: the record of the set is too short", lower.path().c_str());
  const auto record = record_at<SetRecord>(bytes.data());
  Uuid uuid;
  std::copy(std::begin(record.set), std::end(record.set), uuid.begin());
  return uuid;
}

Result<Restored> restore_newest(const SetFile& set, Shelf* shelf, const LowerSet& lower) {
  CAIRN_TRY_ASSIGN(line, line_in(lower));
  uint32_t skipped = 0;
  std::string why;
  for (const uint64_t sequence : line.sequences) {
    if (line.is_abandoned(sequence)) continue;
    auto restored = restore(set, shelf, lower, sequence);
    if (restored.ok()) {
      restored->skipped = skipped;
      restored->why = why;
      return restored;
    }
    // An error of the file system proves nothing of the copy.
    if (!is_damage(restored.status()))
      return annotate(restored.status(), "%s/%s", lower.path().c_str(),
                      lower_name(sequence, "").c_str());
    why = lower_name(sequence, "") + ": " + last_detail();
    ++skipped;
  }
  if (skipped == 0) return fail(ENOENT, "%s: has no version", lower.path().c_str());
  const char* const others = line.sequences.size() > skipped ? "that counts " : "";
  return fail(EUCLEAN, "%s: no version %sis whole: %s", lower.path().c_str(), others, why.c_str());
}

}  // namespace cairn::checkpoint
