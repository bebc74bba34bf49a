#include "checkpoint/redundancy/lower_copy.h"

#include <vector>

#include "checkpoint/layout/head.h"
#include "checkpoint/redundancy/checked_span.h"
#include "checkpoint/store/layout_files.h"
#include "checkpoint/version/catalogue.h"

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

}  // namespace

Result<Manifest> open_manifest(const LowerSet& lower, uint64_t sequence) {
  CAIRN_TRY_ASSIGN(bytes, lower.read_file(lower_name(sequence, lower_manifest), max_manifest));
  CAIRN_TRY_ASSIGN(manifest, Manifest::read(std::move(bytes)));
  if (manifest.version().sequence != sequence || !manifest.is_committed_by(manifest.decision()))
    return fail(EUCLEAN, "%s: its decision has a wrong seal",
                lower_name(sequence, lower_manifest).c_str());
  return manifest;
}

Result<LowerCopy> open_copy(const LowerSet& lower, uint64_t sequence) {
  CAIRN_TRY_ASSIGN(manifest, open_manifest(lower, sequence));
  const VersionRecord& version = manifest.version();
  if (version.parts != 1)
    return fail(ENOSYS, "was written on several nodes; this release restores those of one");
  LowerCopy copy;
  CAIRN_TRY_ASSIGN(contents, load_contents_of(lower, layout_of(version)));
  CAIRN_TRY(manifest.check_places(contents, max_data_file));
  CAIRN_TRY_ASSIGN(data, lower.open_file(lower_name(sequence, lower_data)));
  copy.manifest = std::move(manifest);
  copy.contents = std::move(contents);
  copy.data = std::move(data);
  return copy;
}

bool is_listed(const LowerSet& lower, const VersionRecord& version) {
  if (!lower.open_file(lower_name(version.sequence, lower_record)).ok()) return false;
  const auto manifest = lower.open_file(lower_name(version.sequence, lower_manifest));
  uint8_t begin[sizeof(VersionRecord)];
  if (!manifest.ok() || !manifest->read(begin, sizeof begin, 0).ok()) return false;
  const auto there = read_version(begin, sizeof begin);
  return there.ok() && is_same_version(*there, version);
}

Status check_data(const LowerCopy& copy) {
  const SpanReader read = [&](void* to, uint64_t size, uint64_t offset) {
    return copy.data.read(to, size, offset);
  };
  std::vector<uint8_t> buffer;
  for (const Span& span : spans_of(copy.manifest))
    CAIRN_TRY(pass(span, copy.contents.layout().block_bytes(), read, nullptr, &buffer));
  return Status();
}

bool is_damage(Status status) { return status.code() == EUCLEAN || status.code() == ENOENT; }

}  // namespace cairn::checkpoint
