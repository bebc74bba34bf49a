#include "checkpoint/redundancy/retire_lower.h"

#include <algorithm>
#include <set>
#include <string>

#include "checkpoint/redundancy/lower_copy.h"
#include "checkpoint/redundancy/lower_line.h"
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
    const bool is_layout = name.ends_with(layout_suffix) || name.ends_with(decomposition_suffix);
    return (is_layout && has_all_layouts_) || names_.contains(name) ||
           sequences_.contains(sequence_of_name(name));
  }

 private:
  Status add_layout(const LowerSet& lower, uint64_t sequence) {
    CAIRN_TRY_ASSIGN(manifest, open_manifest(lower, sequence));
    const auto name = short_hash(layout_of(manifest.version())) + std::string(layout_suffix);
    CAIRN_TRY_ASSIGN(record, lower.read_file(name, max_layout));
    CAIRN_TRY_ASSIGN(layout, Layout::read(std::move(record)));
    names_.insert(name);
    for (uint32_t i = 0; i < layout.decompositions(); ++i)
      names_.insert(short_hash(layout.decomposition_hash(i)) + std::string(decomposition_suffix));
    return Status();
  }

  std::set<std::string> names_ = {lower_set_name, lower_lock};
  std::set<uint64_t> sequences_;
  bool has_all_layouts_ = false;
};

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
  uint32_t whole = 0;  // of the line, so far
  const auto is_dispensable = [&](uint64_t sequence) {
    if (line.is_left_behind(sequence)) {
      if (retention.drops_earlier) return whole >= 1;
      return !line.is_earlier(sequence) && retention.keep != 0 && whole >= 1 && has_earlier();
    }
    if (retention.keep == 0) return false;
    return whole >= (line.is_abandoned(sequence) ? 1 : retention.keep);
  };
  Stay stay;
  for (const uint64_t sequence : sequences) {
    const bool is_needed = !is_dispensable(sequence);
    if (!is_needed && sequence != drained) continue;
    stay.add(*lower, sequence);
    if (!is_needed || line.is_abandoned(sequence)) continue;
    // What was drained has been read back. Where all of the line stay, none has to be read.
    if (sequence == drained || (retention.keep != 0 && is_whole(sequence))) ++whole;
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
