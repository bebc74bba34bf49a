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
    // The layouts of a copy that cannot be read are unknown, so all layouts stay.
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

// Chooses the copies that stay. The caller asks for each one, the newest first.
class Choice {
 public:
  Choice(const LowerSet& lower, const LowerLine& line, const LowerRetention& retention,
         uint64_t drained, const IsWhole& is_whole)
      : lower_(lower), line_(line), retention_(retention), drained_(drained), is_whole_(is_whole) {}

  bool stays(uint64_t sequence) {
    if (is_dispensable(sequence)) return sequence == drained_;
    if (!line_.is_abandoned(sequence)) count(sequence);
    return true;
  }

 private:
  [[nodiscard]] bool is_dispensable(uint64_t sequence) {
    if (whole_ == 0) return false;
    if (line_.is_left_behind(sequence) && retention_.drops_earlier) return true;
    if (retention_.keep == 0) return false;
    if (line_.is_left_behind(sequence)) return line_.is_older(sequence) && has_earlier();
    return line_.is_abandoned(sequence) ? is_replaced(sequence) : whole_ >= retention_.keep;
  }
  // A copy that the line has abandoned is replaced by a whole one of the same number, or by as many
  // whole ones as are kept that have this number or greater ones. If its number cannot be read, the
  // copy is damaged.
  [[nodiscard]] bool is_replaced(uint64_t sequence) const {
    const auto manifest = open_manifest(lower_, sequence);
    if (!manifest.ok()) return is_damage(manifest.status());
    const int64_t number = manifest->version().number;
    if (numbers_.contains(number)) return true;
    return whole_ >= retention_.keep && !numbers_.empty() && *numbers_.begin() > number;
  }
  // Does the line before have a whole version?
  [[nodiscard]] bool has_earlier() {
    if (!has_earlier_)
      has_earlier_ = std::any_of(
          line_.sequences.begin(), line_.sequences.end(),
          [&](uint64_t sequence) { return line_.is_earlier(sequence) && is_whole_(sequence); });
    return *has_earlier_;
  }
  void count(uint64_t sequence) {
    // The drained version has been read back. If the whole line stays, no other one has to be read.
    if (sequence != drained_ && (retention_.keep == 0 || !is_whole_(sequence))) return;
    ++whole_;
    const auto manifest = open_manifest(lower_, sequence);
    if (manifest.ok()) numbers_.insert(manifest->version().number);
  }

  const LowerSet& lower_;
  const LowerLine& line_;
  const LowerRetention& retention_;
  const uint64_t drained_;
  const IsWhole& is_whole_;
  uint32_t whole_ = 0;               // versions of the line that stay and are whole
  std::set<int64_t> numbers_;        // of these
  std::optional<bool> has_earlier_;  // once it was looked for
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
  const bool has_older = std::any_of(line.sequences.begin(), line.sequences.end(),
                                     [&](uint64_t sequence) { return line.is_older(sequence); });
  if (!has_older || retention.drops_earlier) return witnesses;
  const auto earlier = take([&](uint64_t sequence) { return line.is_earlier(sequence); });
  witnesses.insert(witnesses.end(), earlier.begin(), earlier.end());
  return witnesses;
}

Status retire_in_lower(LowerSet* lower, const LowerRetention& retention, uint64_t drained,
                       const IsWhole& is_whole) {
  CAIRN_TRY_ASSIGN(line, line_in(*lower));
  Choice choice(*lower, line, retention, drained, is_whole);
  Stay stay;
  for (const uint64_t sequence : line.sequences)
    if (choice.stays(sequence)) stay.add(*lower, sequence);
  CAIRN_TRY_ASSIGN(names, lower->names());
  const std::set<uint64_t> complete(line.sequences.begin(), line.sequences.end());
  const auto is_of_others = [&](const std::string& name) {
    if (name.starts_with(lower_aside)) return lower->is_being_written(name);
    const uint64_t sequence = sequence_of_name(name);
    return sequence > drained && !complete.contains(sequence);
  };
  // Records are removed first: a version without one does not count.
  for (const bool is_record : {true, false})
    for (const std::string& name : names)
      if (name.ends_with(lower_record) == is_record && !stay.has(name) &&
          (is_record || !is_of_others(name)))
        CAIRN_TRY(lower->remove(name));
  return Status();
}

}  // namespace cairn::checkpoint
