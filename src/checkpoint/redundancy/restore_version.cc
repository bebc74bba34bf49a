#include "checkpoint/redundancy/restore_version.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/crc32c_bulk.h"
#include "checkpoint/layout/head.h"
#include "checkpoint/store/checksum_list.h"
#include "checkpoint/store/layout_files.h"
#include "checkpoint/version/catalogue.h"
#include "file/bulk_write.h"

namespace cairn::checkpoint {
namespace {

template <typename Record>
Result<Record> load(const LowerSet& lower, const Sha256Hash& hash, std::string_view suffix,
                    uint64_t most) {
  const std::string name = short_hash(hash) + std::string(suffix);
  CAIRN_TRY_ASSIGN(bytes, lower.read_file(name, most));
  CAIRN_TRY_ASSIGN(record, Record::read(std::move(bytes)));
  if (record.hash() != hash) return fail(EUCLEAN, "%s: does not have this hash", name.c_str());
  return record;
}

Result<Contents> load_contents_of(const LowerSet& lower, const Sha256Hash& hash) {
  CAIRN_TRY_ASSIGN(layout, load<Layout>(lower, hash, layout_suffix, max_layout));
  std::vector<Decomposition> decompositions;
  for (uint32_t i = 0; i < layout.decompositions(); ++i) {
    CAIRN_TRY_ASSIGN(one, load<Decomposition>(lower, layout.decomposition_hash(i),
                                              decomposition_suffix, max_decomposition));
    decompositions.push_back(std::move(one));
  }
  return Contents::make(std::move(layout), std::move(decompositions));
}

// Of a version in lower, as it is there.
struct Source {
  Manifest manifest;
  Contents contents;
  LowerFile data;
};

Result<Source> open_source(const SetFile& set, const LowerSet& lower, uint64_t sequence) {
  CAIRN_TRY_ASSIGN(bytes, lower.read_file(lower_name(sequence, lower_manifest), max_manifest));
  CAIRN_TRY_ASSIGN(manifest, Manifest::read(std::move(bytes)));
  const VersionRecord& version = manifest.version();
  if (version.sequence != sequence || !manifest.is_committed_by(manifest.decision()))
    return fail(EUCLEAN, "%s: its decision has a wrong seal",
                lower_name(sequence, lower_manifest).c_str());
  if (std::memcmp(version.set, set.record().set, sizeof version.set) != 0)
    return fail(EUCLEAN, "belongs to another set");
  if (version.parts != 1)
    return fail(ENOSYS, "was written on several nodes; this release restores those of one");
  Source source;
  CAIRN_TRY_ASSIGN(contents, load_contents_of(lower, layout_of(version)));
  CAIRN_TRY(manifest.check_places(contents, max_data_file));
  CAIRN_TRY_ASSIGN(data, lower.open_file(lower_name(sequence, lower_data)));
  source.manifest = std::move(manifest);
  source.contents = std::move(contents);
  source.data = std::move(data);
  return source;
}

Status copy_span(const Source& source, file::File& to, uint64_t offset, uint64_t bytes,
                 uint32_t list_crc, std::vector<uint8_t>* buffer) {
  if (bytes == 0) return Status();
  const uint64_t block = source.contents.layout().block_bytes();
  std::vector<uint32_t> list(static_cast<size_t>(blocks_of(bytes, block)));
  const uint64_t list_at = offset + list_offset(bytes);
  const size_t list_bytes = list.size() * sizeof(uint32_t);
  CAIRN_TRY(source.data.read(list.data(), list_bytes, list_at));
  if (crc_of_list(list) != list_crc)
    return fail(EUCLEAN, "the checksums at %llu differ from their own checksum",
                static_cast<unsigned long long>(list_at));
  buffer->resize(static_cast<size_t>(block));
  for (size_t i = 0; i < list.size(); ++i) {
    const uint64_t at = i * block;
    const auto n = static_cast<size_t>(std::min(block, bytes - at));
    CAIRN_TRY(source.data.read(buffer->data(), n, offset + at));
    if (crc32c_bulk(0, buffer->data(), n) != list[i])
      return fail(EUCLEAN, "bytes at %llu differ from their checksum",
                  static_cast<unsigned long long>(offset + at));
    CAIRN_TRY(file::write_bulk(to, buffer->data(), n, offset + at));
  }
  return file::write_bulk(to, list.data(), list_bytes, list_at);
}

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
  std::vector<uint8_t> buffer;
  for (uint32_t i = 0; i < source.manifest.version().part_ranks; ++i) {
    const RootRecord root = source.manifest.root(i);
    CAIRN_TRY(copy_span(source, slot->data_file(), root.region_offset, root.region_bytes,
                        root.region_list_crc, &buffer));
    CAIRN_TRY(copy_span(source, slot->data_file(), root.extent_offset, root.extent_bytes,
                        root.extent_list_crc, &buffer));
  }
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

uint64_t end_of(const Manifest& manifest, uint64_t block) {
  uint64_t end = 0;
  for (uint32_t i = 0; i < manifest.version().part_ranks; ++i) {
    const RootRecord root = manifest.root(i);
    end = std::max(end, root.region_offset + bytes_with_list(root.region_bytes, block));
    end = std::max(end, root.extent_offset + bytes_with_list(root.extent_bytes, block));
  }
  return align(end, region_unit);
}

Result<Restored> restore(const SetFile& set, Shelf* shelf, const LowerSet& lower,
                         uint64_t sequence) {
  CAIRN_TRY_ASSIGN(source, open_source(set, lower, sequence));
  CAIRN_TRY(store_contents(set.fs(), set.directory(), source.contents));
  bool is_new = false;
  const VersionRecord& version = source.manifest.version();
  CAIRN_TRY_ASSIGN(
      slot,
      shelf->take_free(version.manifest_length,
                       end_of(source.manifest, source.contents.layout().block_bytes()), &is_new));
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
  CAIRN_TRY_ASSIGN(sequences, lower.versions());
  uint32_t skipped = 0;
  std::string why;
  for (auto sequence = sequences.rbegin(); sequence != sequences.rend(); ++sequence) {
    auto restored = restore(set, shelf, lower, *sequence);
    if (restored.ok()) {
      restored->skipped = skipped;
      restored->why = why;
      return restored;
    }
    // An error of the file system proves nothing of the copy.
    const bool is_damage = restored.code() == EUCLEAN || restored.code() == ENOENT;
    if (!is_damage)
      return annotate(restored.status(), "%s/%s", lower.path().c_str(),
                      lower_name(*sequence, "").c_str());
    why = lower_name(*sequence, "") + ": " + last_detail();
    ++skipped;
  }
  if (skipped == 0) return fail(ENOENT, "%s: has no version", lower.path().c_str());
  return fail(EUCLEAN, "%s: no version is whole: %s", lower.path().c_str(), why.c_str());
}

}  // namespace cairn::checkpoint
