#include "checkpoint/redundancy/drain_version.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/coarse_clock.h"
#include "checkpoint/sources/lower_copy.h"
#include "checkpoint/sources/lower_line.h"
#include "checkpoint/store/layout_files.h"
#include "checkpoint/store/slots.h"
#include "file/data/io.h"

namespace cairn::checkpoint {
namespace {

std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + "\"";
}

// Returns the record that a login node shows of a version that it cannot reach.
std::string record_of(const SetFile& set, const Manifest& manifest, uint64_t now) {
  const VersionRecord& version = manifest.version();
  const auto number = [](const char* key, uint64_t value) {
    return ", \"" + std::string(key) + "\": " + std::to_string(value);
  };
  return "{\"set\": " + json_text({set.record().name, set.record().name_length}) +
         ", \"version\": " + std::to_string(version.number) +
         ", \"step\": " + std::to_string(version.step) + number("sequence", version.sequence) +
         number("parent", version.parent) + number("ranks", version.ranks) +
         number("parts", version.parts) + number("bytes", manifest.data_bytes()) +
         number("begun_ns", version.begun) + number("global_ns", now) +
         ", \"host\": " + json_text(manifest.part(0).host) +
         ", \"code_version\": " + json_text(version.code_version) + "}\n";
}

Status copy_data(Slot* slot, const Manifest& manifest, uint64_t block_bytes, LowerSet* lower,
                 LowerFile* file, Stop stop) {
  const std::string name = data_name(slot->ids().number);
  const SpanReader from_pool = [&](void* to, uint64_t size, uint64_t offset) -> Status {
    CAIRN_TRY_ASSIGN(n, file::read_at(slot->data_file(), to, static_cast<size_t>(size), offset));
    return n == size ? Status() : fail(EUCLEAN, "is cut off");
  };
  const SpanWriter to_lower = [&](const void* from, uint64_t size, uint64_t offset) {
    return file->write(from, size, offset);
  };
  const SpanReader from_lower = [&](void* to, uint64_t size, uint64_t offset) {
    return file->read(to, size, offset);
  };
  std::vector<uint8_t> buffer;
  for (const Span& span : spans_of(manifest))
    if (const Status status = pass(span, block_bytes, from_pool, to_lower, &buffer, stop);
        !status.ok())
      return annotate(status, "%s", name.c_str());
  CAIRN_TRY(file->sync());
  for (const Span& span : spans_of(manifest))
    if (const Status status = pass(span, block_bytes, from_lower, nullptr, &buffer, stop);
        !status.ok())
      return annotate(status, "%s: read back", lower->path().c_str());
  return Status();
}

Status write_if_missing(LowerSet* lower, const std::set<std::string>& there,
                        const std::string& name, const std::vector<uint8_t>& record) {
  if (there.contains(name)) {
    const auto held = lower->read_file(name, record.size());
    if (held.ok() && *held == record) return Status();
  }
  return lower->write_file(name, record.data(), record.size());
}

// Refuses versions of two sets side by side.
Status check_set(const LowerSet& lower, const SetFile& set) {
  CAIRN_TRY_ASSIGN(complete, lower.versions());
  if (complete.empty()) return Status();
  const auto uuid = set_in_lower(lower);
  if (!uuid.ok() && !is_damage(uuid.status())) return uuid.status();
  if (uuid.ok() && *uuid == uuid_in(set.record())) return Status();
  return fail(EEXIST, "%s: holds versions of another set of this name", lower.path().c_str());
}

Status write_contents(LowerSet* lower, const SetFile& set, const Contents& contents) {
  CAIRN_TRY_ASSIGN(names, lower->names());
  const std::set<std::string> there(names.begin(), names.end());
  const auto* const begin = reinterpret_cast<const uint8_t*>(&set.record());
  for (const char* const name : {lower_set_name, lower_set_copy})
    CAIRN_TRY(write_if_missing(lower, there, name, {begin, begin + sizeof(SetRecord)}));
  const auto write = [&](const auto& record, std::string_view suffix) -> Status {
    for (const std::string& name : names_of_record(record.hash(), suffix))
      CAIRN_TRY(write_if_missing(lower, there, name, record.record()));
    return Status();
  };
  const Layout& layout = contents.layout();
  for (uint32_t i = 0; i < layout.decompositions(); ++i)
    CAIRN_TRY(write(contents.decomposition(i), decomposition_suffix));
  return write(layout, layout_suffix);
}

// Removes a record of this sequence that belongs to another version. EEXIST: the other version is
// whole, and this pool does not know it.
Status make_way(LowerSet* lower, const VersionRecord& version) {
  CAIRN_TRY_ASSIGN(complete, lower->versions());
  const uint64_t sequence = version.sequence;
  if (std::find(complete.begin(), complete.end(), sequence) == complete.end()) return Status();
  const auto manifest = open_manifest(*lower, sequence);
  if (manifest.ok() && is_same_version(manifest->version(), version)) return Status();
  Status status = manifest.status();
  if (manifest.ok()) {
    const auto copy = open_copy(*lower, sequence);
    status = copy.ok() ? check_data(*lower, *copy) : copy.status();
    if (status.ok())
      return fail(EEXIST, "%s/%s: holds another version, which is whole; copy to another directory",
                  lower->path().c_str(), lower_name(sequence, "").c_str());
  }
  if (!is_damage(status))
    return annotate(status, "%s/%s", lower->path().c_str(), lower_name(sequence, "").c_str());
  return lower->remove(lower_name(sequence, lower_record));
}

// Returns true if the part is in lower already, verified by all its bytes.
Result<bool> is_there(const LowerSet& lower, const DrainedPart& part, Stop stop) {
  const VersionRecord& version = part.version();
  const auto copy = open_part(lower, part.manifest, part.contents, version.part);
  const Status status = copy.ok() ? check_part(*copy, part.contents, stop) : copy.status();
  if (status.ok()) return true;
  if (is_damage(status)) return false;
  return annotate(status, "%s/%s", lower.path().c_str(),
                  lower_part_name(version.sequence, version.part, version.parts, "").c_str());
}

// Returns true if the part's files are in lower and belong to this version.
Result<bool> has_part(const LowerSet& lower, const DrainedPart& of, uint32_t part) {
  const auto copy = open_part(lower, of.manifest, of.contents, part);
  if (copy.ok()) return true;
  if (is_damage(copy.status())) return false;
  return annotate(copy.status(), "%s", lower.path().c_str());
}

std::set<std::string> names_of(const VersionRecord& version) {
  std::set<std::string> names = {lower_name(version.sequence, lower_record)};
  for (uint32_t part = 0; part < version.parts; ++part)
    for (const char* const suffix : {lower_manifest, lower_data})
      names.insert(lower_part_name(version.sequence, part, version.parts, suffix));
  return names;
}

}  // namespace

Result<DrainedPart> open_drained(const SetFile& set, Slot* slot, uint64_t sequence) {
  DrainedPart part;
  part.slot = slot;
  CAIRN_TRY_ASSIGN(lease, slot->take_lease());
  part.lease = std::move(lease);
  CAIRN_TRY_ASSIGN(content, look_at(*slot));
  if (content.state == SlotState::damaged || content.state == SlotState::newer)
    return content.status;
  part.manifest = std::move(content.manifest);
  if (content.state == SlotState::free || part.version().sequence != sequence)
    return fail(ESTALE, "%s: holds another version", manifest_name(slot->ids().number).c_str());
  CAIRN_TRY_ASSIGN(contents, load_contents(set.fs(), set.directory(), layout_of(part.version())));
  part.contents = std::move(contents);
  CAIRN_TRY(part.manifest.check_places(part.contents, slot->data_file().inode->size.load()));
  return part;
}

Status begin_drain(const SetFile& set, const Catalogue& catalogue, const UsedSequences& used,
                   const DrainedPart& part, LowerSet* lower) {
  CAIRN_TRY(check_set(*lower, set));
  CAIRN_TRY(check_line(*lower, catalogue, used, part.version().sequence));
  CAIRN_TRY(make_way(lower, part.version()));
  return write_contents(lower, set, part.contents);
}

Status copy_aside(DrainedPart* part, LowerSet* lower, Stop stop) {
  CAIRN_TRY_ASSIGN(is_whole, is_there(*lower, *part, stop));
  if (is_whole) return Status();
  CAIRN_TRY_ASSIGN(file, lower->create());
  Status status = file.set_size(part->slot->data_file().inode->size.load());
  if (status.ok())
    status = copy_data(part->slot, part->manifest, part->contents.layout().block_bytes(), lower,
                       &file, stop);
  if (!status.ok()) {
    lower->drop(&file);
    return status;
  }
  part->aside = std::move(file);
  return Status();
}

Status name_part(DrainedPart* part, LowerSet* lower) {
  if (!part->aside) return Status();
  const VersionRecord& version = part->version();
  const auto name = [&](const char* suffix) {
    return lower_part_name(version.sequence, version.part, version.parts, suffix);
  };
  LowerFile file = std::move(*part->aside);
  part->aside.reset();
  CAIRN_TRY(lower->publish(&file, name(lower_data)));
  const std::vector<uint8_t>& bytes = part->manifest.bytes();
  return lower->write_file(name(lower_manifest), bytes.data(), bytes.size());
}

void drop_aside(std::vector<DrainedPart>* parts, LowerSet* lower) {
  for (DrainedPart& part : *parts) {
    if (part.aside) lower->drop(&*part.aside);
    part.aside.reset();
  }
}

Result<uint32_t> complete_drain(const SetFile& set, const DrainedPart& part, bool is_changed,
                                LowerSet* lower) {
  const VersionRecord& version = part.version();
  const std::set<std::string> wanted = names_of(version);
  CAIRN_TRY_ASSIGN(names, lower->names());
  const std::set<std::string> there(names.begin(), names.end());
  uint32_t missing = 0;
  // The names are checked first: the last of many nodes reads the manifests of all.
  for (const bool reads : {false, true}) {
    for (uint32_t i = 0; i < version.parts && (!reads || missing == 0); ++i) {
      bool is_one =
          there.contains(lower_part_name(version.sequence, i, version.parts, lower_manifest));
      if (is_one && reads) {
        CAIRN_TRY_ASSIGN(is_right, has_part(*lower, part, i));
        is_one = is_right;
      }
      if (!is_one) ++missing;
    }
  }
  if (missing != 0) return missing;
  // These files belong to an earlier copy with other parts.
  for (const std::string& name : names)
    if (sequence_of_name(name) == version.sequence && !wanted.contains(name))
      CAIRN_TRY(lower->remove(name));
  const std::string name = lower_name(version.sequence, lower_record);
  if (there.contains(name) && !is_changed) return 0U;
  const std::string record = record_of(set, part.manifest, fine_now_ns());
  CAIRN_TRY(lower->write_file(name, record.data(), record.size()));
  return 0U;
}

Status note_global(const SetFile& set, Slot* slot) {
  const auto word = slot->word(global_offset);
  if (!word.ok()) return Status();
  set.fs().pool.store_flush(**word, fine_now_ns());
  return set.fs().pool.fence();
}

}  // namespace cairn::checkpoint
