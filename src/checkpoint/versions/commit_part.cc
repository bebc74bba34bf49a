#include "checkpoint/versions/commit_part.h"

#include <string>

#include "base/crc32c_bulk.h"
#include "checkpoint/store/new_file.h"
#include "file/data/bulk_write.h"

namespace cairn::checkpoint {

Result<PreparedPart> prepare_part(Slot* slot, uint64_t sequence) {
  CAIRN_TRY(slot->write_back());
  CAIRN_TRY_ASSIGN(version, slot->read_version());
  CAIRN_TRY_ASSIGN(bytes, read_begin(slot->manifest_file(), version.attributes_offset));
  const std::string name = manifest_name(slot->ids().number);
  if (version.sequence != sequence || bytes.size() != version.attributes_offset)
    return fail(EUCLEAN, "%s: holds another version", name.c_str());
  PreparedPart part;
  part.begun = version.begun;
  part.common_crc = common_crc_of(version);
  const uint8_t* const roots = bytes.data() + roots_offset;
  for (uint32_t i = 0; i < version.part_ranks; ++i) {
    const auto root = record_at<RootRecord>(roots + sizeof(RootRecord) * size_t{i});
    if (!is_sound(root) || root.sequence != sequence)
      return fail(EUCLEAN, "%s: damaged: root %u", name.c_str(), i);
    part.bytes += root.region_bytes + root.extent_bytes;
  }
  part.roots_crc = crc32c_bulk(0, roots, sizeof(RootRecord) * size_t{version.part_ranks});
  return part;
}

Status commit_slot(file::FileSystem& fs, Slot* slot, uint64_t sequence) {
  CAIRN_TRY(slot->write_back());
  const std::string name = manifest_name(slot->ids().number);
  CAIRN_TRY_ASSIGN(manifest, slot->read_manifest());
  if (manifest.version().sequence != sequence)
    return fail(EUCLEAN, "%s: holds another version", name.c_str());
  CAIRN_TRY_ASSIGN(decision, slot->word(decision_offset));
  const uint64_t wanted = decision_word(Decision::committed, sequence, manifest.seal());
  uint64_t held = decision->load();
  // A rank that was killed here may have stored the decision without making it durable.
  while (held != wanted) {
    if (!is_free_word(held)) return fail(EUCLEAN, "%s: its decision changed", name.c_str());
    if (fs.pool.compare_exchange(*decision, held, wanted)) break;
  }
  fs.pool.flush(decision, sizeof *decision);
  return fs.pool.fence();
}

Status commit_part(file::FileSystem& fs, Slot* slot, uint64_t sequence,
                   const std::vector<PartRecord>& parts) {
  const std::string name = manifest_name(slot->ids().number);
  CAIRN_TRY_ASSIGN(version, slot->read_version());
  if (version.sequence != sequence || version.parts != parts.size())
    return fail(EUCLEAN, "%s: holds another version", name.c_str());
  CAIRN_TRY(file::write_bulk(slot->manifest_file(), parts.data(), parts.size() * sizeof(PartRecord),
                             version.parts_offset));
  CAIRN_TRY(fs.pool.fence_bytes());
  return commit_slot(fs, slot, sequence);
}

void abort_slot(file::FileSystem& fs, Slot* slot, uint64_t sequence) {
  const auto decision = slot->word(decision_offset);
  if (!decision.ok()) return;
  uint64_t held = (*decision)->load();
  // A commit that could not be made durable does not count.
  fs.pool.compare_exchange(**decision, held, decision_word(Decision::aborted, sequence, 0));
  fs.pool.flush(*decision, sizeof **decision);
  fs.pool.fence().ignore();  // losing a decision that no process was told of is harmless
}

}  // namespace cairn::checkpoint
