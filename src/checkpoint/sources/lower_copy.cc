#include "checkpoint/sources/lower_copy.h"

#include <vector>

#include "base/saved_failure.h"
#include "checkpoint/record/head.h"
#include "checkpoint/store/layout_files.h"
#include "checkpoint/versions/catalogue.h"

namespace cairn::checkpoint {
namespace {

Result<Manifest> read_manifest(const LowerSet& lower, const std::string& name, uint64_t sequence) {
  CAIRN_TRY_ASSIGN(bytes, lower.read_file(name, max_manifest));
  CAIRN_TRY_ASSIGN(manifest, Manifest::read(std::move(bytes)));
  if (manifest.version().sequence != sequence || !manifest.is_committed_by(manifest.decision()))
    return fail(EUCLEAN, "%s: its decision has a wrong seal", name.c_str());
  return manifest;
}

}  // namespace

Result<Manifest> open_manifest(const LowerSet& lower, uint64_t sequence) {
  auto manifest = read_manifest(lower, lower_name(sequence, lower_manifest), sequence);
  if (manifest.ok() && manifest->version().parts == 1) return manifest;
  if (!manifest.ok() && manifest.code() != ENOENT) return manifest.status();
  if (manifest.ok()) manifest = fail(EUCLEAN, "its manifest has the name of another part");
  CAIRN_TRY_ASSIGN(names, lower.names());
  const std::string begin = lower_name(sequence, "-");
  for (const std::string& name : names) {
    if (!name.starts_with(begin) || !name.ends_with(lower_manifest)) continue;
    manifest = read_manifest(lower, name, sequence);
    if (!manifest.ok() && !is_damage(manifest.status())) return manifest.status();
    if (!manifest.ok()) continue;
    const VersionRecord& version = manifest->version();
    if (name == lower_part_name(sequence, version.part, version.parts, lower_manifest))
      return manifest;
    manifest = fail(EUCLEAN, "%s: has the name of another part", name.c_str());
  }
  return manifest.status();
}

Result<LowerCopy> open_copy(const LowerSet& lower, uint64_t sequence) {
  CAIRN_TRY_ASSIGN(manifest, open_manifest(lower, sequence));
  LowerCopy copy;
  CAIRN_TRY_ASSIGN(contents,
                   load_contents(layout_of(manifest.version()), [&](const RecordFile& file) {
                     return lower.read_file(file.name(), file.longest);
                   }));
  copy.manifest = std::move(manifest);
  copy.contents = std::move(contents);
  return copy;
}

Result<LowerPart> open_part(const LowerSet& lower, const Manifest& manifest,
                            const Contents& contents, uint32_t part) {
  const VersionRecord& version = manifest.version();
  const auto name_of = [&](const char* suffix) {
    return lower_part_name(version.sequence, part, version.parts, suffix);
  };
  LowerPart opened;
  CAIRN_TRY_ASSIGN(own, read_manifest(lower, name_of(lower_manifest), version.sequence));
  bool is_right = is_same_version(own.version(), version) && own.version().part == part;
  // A version of one part has no checksums of its roots but the seal.
  if (version.parts != 1)
    is_right = is_right && own.parts_crc() == manifest.parts_crc() &&
               own.roots_crc() == manifest.part(part).roots_crc;
  if (!is_right) return fail(EUCLEAN, "%s: is of another version", name_of(lower_manifest).c_str());
  CAIRN_TRY_ASSIGN(data, lower.open_file(name_of(lower_data)));
  // So no list is read, or memory taken for it, that the file cannot hold.
  CAIRN_TRY_ASSIGN(data_bytes, data.size());
  CAIRN_TRY(own.check_places(contents, data_bytes));
  opened.manifest = std::move(own);
  opened.data = std::move(data);
  return opened;
}

Result<Uuid> set_in_lower(const LowerSet& lower) {
  SavedFailure first;
  for (const char* const name : {lower_set_name, lower_set_copy}) {
    const auto bytes = lower.read_file(name, sizeof(SetRecord));
    const auto record = bytes.ok() ? read_set_record(bytes->data(), bytes->size())
                                   : Result<SetRecord>(bytes.status());
    if (record.ok()) return uuid_in(*record);
    if (!is_damage(record.status())) return annotate(record.status(), "%s", lower.path().c_str());
    first.keep(record.status());
  }
  CAIRN_TRY_ASSIGN(sequences, lower.versions());
  for (auto sequence = sequences.rbegin(); sequence != sequences.rend(); ++sequence) {
    const auto manifest = open_manifest(lower, *sequence);
    if (manifest.ok()) return uuid_in(manifest->version());
  }
  return first.restored();
}

bool is_listed(const LowerSet& lower, const VersionRecord& version) {
  if (!lower.open_file(lower_name(version.sequence, lower_record)).ok()) return false;
  const auto manifest = lower.open_file(
      lower_part_name(version.sequence, version.part, version.parts, lower_manifest));
  uint8_t begin[sizeof(VersionRecord)];
  if (!manifest.ok() || !manifest->read(begin, sizeof begin, 0).ok()) return false;
  const auto there = read_version(begin, sizeof begin);
  return there.ok() && is_same_version(*there, version);
}

Status check_part(const LowerPart& part, const Contents& contents, Stop stop) {
  const SpanReader read = [&](void* to, uint64_t size, uint64_t offset) {
    return part.data.read(to, size, offset);
  };
  std::vector<uint8_t> buffer;
  for (const Span& span : spans_of(part.manifest))
    CAIRN_TRY(pass(span, contents.layout().block_bytes(), read, nullptr, &buffer, stop));
  return Status();
}

Status check_data(const LowerSet& lower, const LowerCopy& copy, Stop stop) {
  for (uint32_t i = 0; i < copy.manifest.version().parts; ++i) {
    CAIRN_TRY_ASSIGN(part, open_part(lower, copy.manifest, copy.contents, i));
    const Status status = check_part(part, copy.contents, stop);
    if (status.ok()) continue;
    return copy.manifest.version().parts == 1 ? status : annotate(status, "part %u", i);
  }
  return Status();
}

bool is_damage(Status status) { return status.code() == EUCLEAN || status.code() == ENOENT; }

}  // namespace cairn::checkpoint
