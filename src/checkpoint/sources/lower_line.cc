#include "checkpoint/sources/lower_line.h"

#include "checkpoint/sources/lower_copy.h"
#include "checkpoint/versions/lineage.h"

namespace cairn::checkpoint {
namespace {

// Returns true for a version that the pool has, had or has abandoned.
bool is_known(const LowerSet& lower, const Catalogue& catalogue, const UsedSequences& used,
              uint64_t sequence) {
  const KnownVersion* const known = catalogue.find(sequence);
  return known != nullptr ? is_listed(lower, known->version) : used.has(sequence);
}

// Returns true if a restore would choose `other` although `sequence` is there.
Result<bool> counts_beside(const LowerSet& lower, uint64_t other, uint64_t sequence) {
  const auto copy = open_copy(lower, other);
  if (copy.ok() && other > sequence && !is_in_line(copy->manifest.version(), sequence)) return true;
  const Status status = copy.ok() ? check_data(lower, *copy) : copy.status();
  if (is_damage(status)) return false;
  if (!status.ok())
    return annotate(status, "%s/%s", lower.path().c_str(), lower_name(other, "").c_str());
  return true;
}

}  // namespace

bool LowerLine::is_abandoned(uint64_t sequence) const {
  return head && sequence < head->sequence && !is_in_line(*head, sequence);
}

bool LowerLine::is_left_behind(uint64_t sequence) const {
  return head && sequence <= head->horizon;
}

bool LowerLine::is_earlier(uint64_t sequence) const {
  if (!is_left_behind(sequence)) return false;
  return !earlier_head || sequence >= earlier_head->sequence || is_in_line(*earlier_head, sequence);
}

bool LowerLine::is_older(uint64_t sequence) const {
  return earlier_head && sequence <= earlier_head->horizon;
}

Result<LowerLine> line_in(const LowerSet& lower) {
  LowerLine line;
  CAIRN_TRY_ASSIGN(ascending, lower.versions());
  line.sequences.assign(ascending.rbegin(), ascending.rend());
  for (const uint64_t sequence : line.sequences) {
    if (line.head && !line.is_left_behind(sequence)) continue;
    const auto manifest = open_manifest(lower, sequence);
    if (manifest.ok()) {
      if (line.head) {
        line.earlier_head = manifest->version();
        break;
      }
      line.head = manifest->version();
      continue;
    }
    if (!is_damage(manifest.status()))
      return annotate(manifest.status(), "%s/%s", lower.path().c_str(),
                      lower_name(sequence, "").c_str());
  }
  return line;
}

Result<std::vector<uint64_t>> earlier_in(const LowerSet& lower) {
  CAIRN_TRY_ASSIGN(line, line_in(lower));
  std::vector<uint64_t> earlier;
  for (const uint64_t sequence : line.sequences)
    if (line.is_earlier(sequence)) earlier.push_back(sequence);
  return earlier;
}

Status check_line(const LowerSet& lower, const Catalogue& catalogue, const UsedSequences& used,
                  uint64_t sequence) {
  CAIRN_TRY_ASSIGN(line, line_in(lower));
  for (auto at = line.sequences.rbegin(); at != line.sequences.rend(); ++at) {
    const uint64_t other = *at;
    if (other == sequence || is_known(lower, catalogue, used, other)) continue;
    // A restore does not bring back versions that the newest copy has abandoned.
    if (other < sequence && line.is_abandoned(other)) continue;
    CAIRN_TRY_ASSIGN(counts, counts_beside(lower, other, sequence));
    if (counts)
      return fail(EEXIST,
                  "%s/%s: holds a version that this pool does not know; copy to another directory",
                  lower.path().c_str(), lower_name(other, "").c_str());
  }
  return Status();
}

}  // namespace cairn::checkpoint
