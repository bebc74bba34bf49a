#include "checkpoint/redundancy/drain_version.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/coarse_clock.h"
#include "checkpoint/redundancy/checked_span.h"
#include "checkpoint/redundancy/lower_copy.h"
#include "checkpoint/redundancy/lower_line.h"
#include "checkpoint/store/layout_files.h"
#include "checkpoint/store/slots.h"
#include "file/io.h"

namespace cairn::checkpoint {
namespace {

constexpr const char* set_name = "set";

std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + "\"";
}

// What a login node shows of a version that it cannot reach.
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
                 LowerFile* file) {
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
    if (const Status status = pass(span, block_bytes, from_pool, to_lower, &buffer); !status.ok())
      return annotate(status, "%s", name.c_str());
  CAIRN_TRY(file->sync());
  for (const Span& span : spans_of(manifest))
    if (const Status status = pass(span, block_bytes, from_lower, nullptr, &buffer); !status.ok())
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

// Versions of two sets do not stand side by side.
Status check_set(const LowerSet& lower, const SetFile& set) {
  CAIRN_TRY_ASSIGN(complete, lower.versions());
  if (complete.empty()) return Status();
  CAIRN_TRY_ASSIGN(bytes, lower.read_file(set_name, sizeof(SetRecord)));
  if (bytes.size() == sizeof(SetRecord) &&
      std::memcmp(record_at<SetRecord>(bytes.data()).set, set.record().set,
                  sizeof(SetRecord::set)) == 0)
    return Status();
  return fail(EEXIST, "%s: holds versions of another set of this name", lower.path().c_str());
}

Status write_contents(LowerSet* lower, const SetFile& set, const Contents& contents) {
  CAIRN_TRY_ASSIGN(names, lower->names());
  const std::set<std::string> there(names.begin(), names.end());
  const auto* const begin = reinterpret_cast<const uint8_t*>(&set.record());
  CAIRN_TRY(write_if_missing(lower, there, set_name, {begin, begin + sizeof(SetRecord)}));
  const Layout& layout = contents.layout();
  for (uint32_t i = 0; i < layout.decompositions(); ++i) {
    const Decomposition& one = contents.decomposition(i);
    CAIRN_TRY(write_if_missing(
        lower, there, short_hash(one.hash()) + std::string(decomposition_suffix), one.record()));
  }
  return write_if_missing(lower, there, short_hash(layout.hash()) + std::string(layout_suffix),
                          layout.record());
}

// Is this version whole in lower, as all its bytes say? EEXIST: another one of its sequence is,
// which this pool does not know.
Result<bool> has_copy(const LowerSet& lower, const VersionRecord& version) {
  CAIRN_TRY_ASSIGN(complete, lower.versions());
  if (std::find(complete.begin(), complete.end(), version.sequence) == complete.end()) return false;
  const auto copy = open_copy(lower, version.sequence);
  const Status status = copy.ok() ? check_data(*copy) : copy.status();
  if (is_damage(status)) return false;
  if (!status.ok())
    return annotate(status, "%s/%s", lower.path().c_str(),
                    lower_name(version.sequence, "").c_str());
  if (is_same_version(copy->manifest.version(), version)) return true;
  return fail(EEXIST, "%s/%s: holds another version, which is whole; copy to another directory",
              lower.path().c_str(), lower_name(version.sequence, "").c_str());
}

// When the version reached GLOBAL. For reports, so a pool that is only looked at may miss it.
Status note_global(const SetFile& set, Slot* slot, uint64_t now) {
  const auto word = slot->word(global_offset);
  if (!word.ok()) return Status();
  set.fs().pool.store_flush(**word, now);
  return set.fs().pool.fence();
}

// The files in lower that stay.
class Stay {
 public:
  void add(const LowerSet& lower, uint64_t sequence) {
    for (const char* const suffix : {lower_record, lower_manifest, lower_data})
      names_.insert(lower_name(sequence, suffix));
    // Of what cannot be understood nobody knows the layout.
    if (!add_layout(lower, sequence).ok()) has_all_layouts_ = true;
  }
  [[nodiscard]] bool has(const std::string& name) const {
    const bool is_layout = name.ends_with(layout_suffix) || name.ends_with(decomposition_suffix);
    return (is_layout && has_all_layouts_) || names_.contains(name);
  }

 private:
  Status add_layout(const LowerSet& lower, uint64_t sequence) {
    CAIRN_TRY_ASSIGN(bytes, lower.read_file(lower_name(sequence, lower_manifest), max_manifest));
    CAIRN_TRY_ASSIGN(version, read_version(bytes.data(), bytes.size()));
    const auto name = short_hash(layout_of(version)) + std::string(layout_suffix);
    CAIRN_TRY_ASSIGN(record, lower.read_file(name, max_layout));
    CAIRN_TRY_ASSIGN(layout, Layout::read(std::move(record)));
    names_.insert(name);
    for (uint32_t i = 0; i < layout.decompositions(); ++i)
      names_.insert(short_hash(layout.decomposition_hash(i)) + std::string(decomposition_suffix));
    return Status();
  }

  std::set<std::string> names_ = {set_name, lower_lock};
  bool has_all_layouts_ = false;
};

}  // namespace

Status drain_version(const SetFile& set, Slot* slot, const Catalogue& catalogue, uint64_t last,
                     uint64_t sequence, LowerSet* lower) {
  CAIRN_TRY_ASSIGN(lease, slot->take_lease());
  CAIRN_TRY_ASSIGN(content, look_at(*slot));
  if (content.state == SlotState::damaged || content.state == SlotState::newer)
    return content.status;
  const Manifest& manifest = content.manifest;
  if (content.state == SlotState::free || manifest.version().sequence != sequence)
    return fail(ESTALE, "%s: holds another version", manifest_name(slot->ids().number).c_str());
  if (manifest.version().parts != 1)
    return fail(ENOSYS,
                "the version was written on several nodes; this release drains those of one");
  const uint64_t now = fine_now_ns();
  CAIRN_TRY(check_set(*lower, set));
  CAIRN_TRY(check_line(*lower, catalogue, last, sequence));
  CAIRN_TRY_ASSIGN(is_there, has_copy(*lower, manifest.version()));
  if (is_there) return note_global(set, slot, now);
  CAIRN_TRY_ASSIGN(contents,
                   load_contents(set.fs(), set.directory(), layout_of(manifest.version())));
  const uint64_t data_bytes = slot->data_file().inode->size.load();
  CAIRN_TRY(manifest.check_places(contents, data_bytes));
  CAIRN_TRY(write_contents(lower, set, contents));
  CAIRN_TRY_ASSIGN(file, lower->create());
  Status status = file.set_size(data_bytes);
  if (status.ok())
    status = copy_data(slot, manifest, contents.layout().block_bytes(), lower, &file);
  if (!status.ok()) {
    lower->drop(&file);
    return status;
  }
  // Until all files of a damaged copy are replaced, it does not count.
  if (const Status removed = lower->remove(lower_name(sequence, lower_record)); !removed.ok()) {
    lower->drop(&file);
    return removed;
  }
  CAIRN_TRY(lower->publish(&file, lower_name(sequence, lower_data)));
  const std::vector<uint8_t>& bytes = manifest.bytes();
  CAIRN_TRY(lower->write_file(lower_name(sequence, lower_manifest), bytes.data(), bytes.size()));
  const std::string record = record_of(set, manifest, now);
  CAIRN_TRY(lower->write_file(lower_name(sequence, lower_record), record.data(), record.size()));
  return note_global(set, slot, now);
}

Status retire_in_lower(LowerSet* lower, uint32_t keep, uint64_t drained) {
  CAIRN_TRY_ASSIGN(line, line_in(*lower));
  Stay stay;
  uint32_t whole = 0;  // of the line, so far
  for (const uint64_t sequence : line.sequences) {
    const bool is_abandoned = line.is_abandoned(sequence);
    const bool is_dispensable = whole >= (is_abandoned ? 1 : std::max(keep, 1U));
    if (is_dispensable && sequence != drained) continue;
    stay.add(*lower, sequence);
    if (is_dispensable || is_abandoned) continue;
    const auto copy = open_copy(*lower, sequence);
    // What was drained has been read back.
    if (copy.ok() && (sequence == drained || check_data(*copy).ok())) ++whole;
  }
  CAIRN_TRY_ASSIGN(names, lower->names());
  // Records first: without one a version does not count.
  for (const bool is_record : {true, false})
    for (const std::string& name : names)
      if (name.ends_with(lower_record) == is_record && !stay.has(name))
        CAIRN_TRY(lower->remove(name));
  return Status();
}

}  // namespace cairn::checkpoint
