#include "checkpoint/session/version_levels.h"

#include "checkpoint/sources/lower_copy.h"

namespace cairn::checkpoint {
namespace {

uint64_t& time_at(LevelProgress* progress, VersionLevel level) {
  return progress->level_ns[static_cast<size_t>(level)];
}

}  // namespace

uint32_t VersionLevels::survives() const {
  return survives_processes | (view_.fs().pool.is_volatile ? 0U : survives_power);
}

bool VersionLevels::has_partners(uint64_t sequence) {
  const KnownVersion* const known = view_.catalogue()->find(sequence);
  if (known == nullptr) return false;
  if (knows_partners_) return known->has_partners();
  const auto slot = view_.slot_cache()->get(known->slot);
  if (!slot.ok()) return false;
  const auto manifest = (*slot)->read_manifest();
  return manifest.ok() && manifest->word(partner_offset) != 0;
}

uint64_t VersionLevels::global_ns(const KnownVersion& known) {
  const auto word = view_.word_of(known, global_offset);
  return word.ok() ? *word : 0;
}

bool VersionLevels::is_global(uint64_t sequence) {
  const KnownVersion* const known = view_.catalogue()->find(sequence);
  if (known == nullptr || lower_.empty()) return false;
  // The manifest says that the version was copied to a directory, but not to which one.
  if (known->any_slot() != 0 && global_ns(*known) == 0) return false;
  const auto there = LowerSet::open(lower_, view_.set().name(), false);
  return there.ok() && is_listed(*there, known->version);
}

LevelProgress VersionLevels::progress_of(uint64_t sequence, const Outcome* outcome, bool is_decided,
                                         const CopyErrors& errors) {
  LevelProgress progress;
  if (outcome == nullptr) return progress;
  progress.bytes = outcome->bytes;
  time_at(&progress, VersionLevel::staged) = outcome->staged_ns - outcome->begun_ns;
  if (!is_decided) return progress;
  if (outcome->is_committed)
    put_committed(sequence, *outcome, errors, &progress);
  else
    progress.error = outcome->error;
  return progress;
}

void VersionLevels::put_committed(uint64_t sequence, const Outcome& outcome,
                                  const CopyErrors& errors, LevelProgress* progress) {
  progress->level = VersionLevel::local;
  progress->survives = survives();
  time_at(progress, VersionLevel::local) = outcome.local_ns - outcome.begun_ns;
  if (has_partners(sequence)) {
    progress->level = VersionLevel::partner;
    progress->survives |= survives_node;
    if (outcome.partner_ns != 0)
      time_at(progress, VersionLevel::partner) = outcome.partner_ns - outcome.begun_ns;
  } else {
    progress->error = errors.partner;
  }
  if (is_global(sequence)) {
    progress->level = VersionLevel::global;
    progress->survives |= survives_power | survives_pools;
    const KnownVersion* const known = view_.catalogue()->find(sequence);
    const uint64_t reached = known == nullptr ? 0 : global_ns(*known);
    if (known != nullptr && reached > known->version.begun)
      time_at(progress, VersionLevel::global) = reached - known->version.begun;
  } else if (progress->error == 0) {
    progress->error = errors.global;
  }
}

}  // namespace cairn::checkpoint
