#include "checkpoint/redundancy/retire_lower.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "checkpoint/sources/lower_copy.h"
#include "checkpoint/sources/lower_line.h"
#include "checkpoint/store/layout_files.h"

namespace cairn::checkpoint {
namespace {

// The files in lower that stay.
class Stay {
 public:
  void add(const LowerSet& lower, uint64_t sequence) {
    sequences_.insert(sequence);
    // Of what cannot be understood nobody knows the layout.
    if (!add_layout(lower, sequence).ok()) has_all_layouts_ = true;
  }
  [[nodiscard]] bool has(const std::string& name) const {
    std::string_view record = name;
    if (record.ends_with(copy_suffix)) record.remove_suffix(copy_suffix.size());
    const bool is_layout =
        record.ends_with(layout_suffix) || record.ends_with(decomposition_suffix);
    return (is_layout && has_all_layouts_) || names_.contains(name) ||
           sequences_.contains(sequence_of_name(name));
  }

 private:
  Status add_layout(const LowerSet& lower, uint64_t sequence) {
    CAIRN_TRY_ASSIGN(copy, open_copy(lower, sequence));
    const Layout& layout = copy.contents.layout();
    for (const std::string& name : names_of_record(layout.hash(), layout_suffix))
      names_.insert(name);
    for (uint32_t i = 0; i < layout.decompositions(); ++i)
      for (const std::string& name :
           names_of_record(layout.decomposition_hash(i), decomposition_suffix))
        names_.insert(name);
    return Status();
  }

  std::set<std::string> names_ = {lower_set_name, lower_set_copy, lower_lock};
  std::set<uint64_t> sequences_;
  bool has_all_layouts_ = false;
};

// The number of a version; nothing: its manifest is damaged.
std::optional<int64_t> number_in(const LowerSet& lower, uint64_t sequence) {
  const auto manifest = open_manifest(lower, sequence);
  return manifest.ok() ? std::optional(manifest->version().number) : std::nullopt;
}

}  // namespace

bool is_whole_in(const LowerSet& lower, uint64_t sequence, Stop stop) {
  const auto copy = open_copy(lower, sequence);
  return copy.ok() && check_data(lower, *copy, stop).ok();
}

Result<std::vector<uint64_t>> witnesses_in(const LowerSet& lower, uint32_t keep, uint64_t drained) {
  CAIRN_TRY_ASSIGN(line, line_in(lower));
  std::vector<uint64_t> witnesses;
  for (const uint64_t sequence : line.sequences)
    if (sequence != drained && !line.is_abandoned(sequence) && witnesses.size() < keep)
      witnesses.push_back(sequence);
  return witnesses;
}

Status retire_in_lower(LowerSet* lower, uint32_t keep, uint64_t drained, const IsWhole& is_whole) {
  CAIRN_TRY_ASSIGN(line, line_in(*lower));
  Stay stay;
  uint32_t whole = 0;         // of the line, so far
  std::set<int64_t> numbers;  // of these
  for (const uint64_t sequence : line.sequences) {
    const bool is_abandoned = line.is_abandoned(sequence);
    const auto number = number_in(*lower, sequence);
    const bool is_replaced = is_abandoned && whole != 0 && (!number || numbers.contains(*number));
    const bool is_dispensable = is_replaced || whole >= std::max(keep, 1U);
    if (is_dispensable && sequence != drained) continue;
    stay.add(*lower, sequence);
    if (is_dispensable || is_abandoned) continue;
    // What was drained has been read back.
    if (sequence != drained && !is_whole(sequence)) continue;
    ++whole;
    if (number) numbers.insert(*number);
  }
  CAIRN_TRY_ASSIGN(names, lower->names());
  const std::set<uint64_t> complete(line.sequences.begin(), line.sequences.end());
  const auto is_of_others = [&](const std::string& name) {
    if (name.starts_with(lower_aside)) return lower->is_being_written(name);
    const uint64_t sequence = sequence_of_name(name);
    return sequence > drained && !complete.contains(sequence);
  };
  // Records first: without one a version does not count.
  for (const bool is_record : {true, false})
    for (const std::string& name : names)
      if (name.ends_with(lower_record) == is_record && !stay.has(name) &&
          (is_record || !is_of_others(name)))
        CAIRN_TRY(lower->remove(name));
  return Status();
}

}  // namespace cairn::checkpoint
