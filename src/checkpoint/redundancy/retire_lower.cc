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

Result<std::vector<uint64_t>> witnesses_in(const LowerSet& lower, const LowerRetention& retention,
                                           uint64_t drained) {
  CAIRN_TRY_ASSIGN(line, line_in(lower));
  const auto take = [&](const auto& is_wanted) {
    std::vector<uint64_t> taken;
    for (const uint64_t sequence : line.sequences)
      if (sequence != drained && is_wanted(sequence) && taken.size() < retention.keep)
        taken.push_back(sequence);
    return taken;
  };
  std::vector<uint64_t> witnesses =
      take([&](uint64_t sequence) { return !line.is_abandoned(sequence); });
  const bool has_older =
      std::any_of(line.sequences.begin(), line.sequences.end(), [&](uint64_t sequence) {
        return line.is_left_behind(sequence) && !line.is_earlier(sequence);
      });
  if (!has_older || retention.drops_earlier) return witnesses;
  const auto earlier = take([&](uint64_t sequence) { return line.is_earlier(sequence); });
  witnesses.insert(witnesses.end(), earlier.begin(), earlier.end());
  return witnesses;
}

Status retire_in_lower(LowerSet* lower, const LowerRetention& retention, uint64_t drained,
                       const IsWhole& is_whole) {
  CAIRN_TRY_ASSIGN(line, line_in(*lower));
  const auto& sequences = line.sequences;
  const auto has_earlier = [&] {
    return std::any_of(sequences.begin(), sequences.end(), [&](uint64_t sequence) {
      return line.is_earlier(sequence) && is_whole(sequence);
    });
  };
  uint32_t whole = 0;         // of the line, so far
  std::set<int64_t> numbers;  // of these
  // A copy that the line has abandoned stays while it is the best of its number.
  const auto is_replaced = [&](uint64_t sequence) {
    if (!line.is_abandoned(sequence) || whole == 0) return false;
    const auto number = number_in(*lower, sequence);
    return !number || numbers.contains(*number);
  };
  const auto is_dispensable = [&](uint64_t sequence) {
    if (line.is_left_behind(sequence)) {
      if (retention.drops_earlier) return whole >= 1;
      return !line.is_earlier(sequence) && retention.keep != 0 && whole >= 1 && has_earlier();
    }
    if (retention.keep == 0) return false;
    return whole >= retention.keep || is_replaced(sequence);
  };
  Stay stay;
  for (const uint64_t sequence : sequences) {
    const bool is_needed = !is_dispensable(sequence);
    if (!is_needed && sequence != drained) continue;
    stay.add(*lower, sequence);
    if (!is_needed || line.is_abandoned(sequence)) continue;
    // What was drained has been read back. Where all of the line stay, none has to be read.
    if (sequence != drained && (retention.keep == 0 || !is_whole(sequence))) continue;
    ++whole;
    if (const auto number = number_in(*lower, sequence)) numbers.insert(*number);
  }
  CAIRN_TRY_ASSIGN(names, lower->names());
  const std::set<uint64_t> complete(sequences.begin(), sequences.end());
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
