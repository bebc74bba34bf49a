#include "checkpoint/redundancy/restore_nodes.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/saved_failure.h"
#include "checkpoint/redundancy/restore_version.h"
#include "checkpoint/write/failure_text.h"

namespace cairn::checkpoint {
namespace {

constexpr unsigned kind_shift = 32;

// The result of an attempt on a node; the worst counts for all.
enum Kind : int64_t { done = 0, damaged = 1, failed = 2 };

class NodesRestore {
 public:
  NodesRestore(Run* run, SlotCache* slot_cache, const Catalogue& catalogue,
               const std::string& directory)
      : run_(*run), slot_cache_(*slot_cache), catalogue_(catalogue), directory_(directory) {}

  Result<RestoredOnNodes> restore() {
    const bool chooses = run_.is_leader() && run_.node() == 0;
    CAIRN_TRY(agree(run_.is_leader() ? open() : Status()));
    CAIRN_TRY(agree(chooses ? choose() : Status()));
    RestoredOnNodes restored;
    for (size_t i = 0;; ++i) {
      // All nodes try what the first one has chosen.
      const bool has_one = chooses && i < wanted_.size();
      CAIRN_TRY_ASSIGN(next, meet(has_one ? static_cast<int64_t>(wanted_[i]) : 0));
      if (next == 0) return restored;
      const auto sequence = static_cast<uint64_t>(next);
      slots_.clear();
      const Status own = run_.is_leader() ? restore_own(sequence) : Status();
      CAIRN_TRY_ASSIGN(is_whole, judge(own, sequence, &restored));
      if (!is_whole) continue;
      restored.sequence = sequence;
      const std::string why = catalogue_.why_lost(sequence);
      if (!why.empty()) restored.skipped.add(sequence, why);
      return restored;
    }
  }

 private:
  Status open() {
    const SetRecord& record = run_.set().record();
    auto lower = LowerSet::open(directory_, std::string(record.name, record.name_length), false);
    if (!lower.ok()) return lower.status();
    lower_ = std::move(*lower);
    return Status();
  }

  Status choose() {
    CAIRN_TRY_ASSIGN(wanted, wanted_of(lower_, catalogue_, has_part_anywhere));
    wanted_ = std::move(wanted);
    return Status();
  }

  // No version has been written yet, so the sequence is 0.
  Result<int64_t> meet(int64_t value) { return run_.barrier_max(Run::Purpose::restart, value, 0); }

  Status agree(const Status& own) {
    const SavedFailure saved(own);
    CAIRN_TRY_ASSIGN(worst, meet(own.code()));
    if (!own.ok()) return saved.restored();
    if (worst == 0) return Status();
    return fail(static_cast<int>(worst), "%s cannot read it: %s",
                run_.exchange() == nullptr ? "rank 0" : "another host",
                strerror(static_cast<int>(worst)));
  }

  // Restores this node's share of the parts that are in no pool.
  Status restore_own(uint64_t sequence) {
    CAIRN_TRY_ASSIGN(copy, open_for(run_.set(), catalogue_, lower_, sequence));
    const KnownVersion* const known = catalogue_.find(sequence);
    uint32_t turn = 0;
    for (uint32_t part = 0; part < copy.manifest.version().parts; ++part) {
      if (known != nullptr && has_part_anywhere(*known, part)) continue;
      if (turn++ % run_.nodes() != run_.node()) continue;
      CAIRN_TRY_ASSIGN(slot, restore_part(run_.set(), &slot_cache_, lower_, copy, part,
                                          [&](const auto& work) { return run_.locked(work); }));
      slots_.push_back(slot);
    }
    return Status();
  }

  // Returns true if the version is whole; otherwise retires the parts that this node has restored.
  Result<bool> judge(const Status& own, uint64_t sequence, RestoredOnNodes* restored) {
    const SavedFailure saved(own);
    const std::string& text = saved.text();
    const Kind kind = own.ok() ? done : is_damage(own) ? damaged : failed;
    const int64_t says = own.ok() ? 0 : kind << kind_shift | own.code();
    CAIRN_TRY_ASSIGN(worst, meet(says));
    if (worst == 0) return true;
    retire_restored(run_.set(), &slot_cache_, slots_);
    const std::string name = lower_name(sequence, "");
    // The text comes from the first node with the worst result.
    const std::string told =
        share_text(&run_, Run::Purpose::restart, kind == worst >> kind_shift, text, 0);
    if (worst >> kind_shift == failed) {
      const auto error = static_cast<int>(worst & 0xffff);
      return fail(error, "%s/%s: %s", directory_.c_str(), name.c_str(),
                  told.empty() ? strerror(error) : told.c_str());
    }
    restored->skipped.add(sequence, name + ": " + told);
    return false;
  }

  Run& run_;
  SlotCache& slot_cache_;
  const Catalogue& catalogue_;
  const std::string& directory_;
  LowerSet lower_;
  std::vector<uint64_t> wanted_;
  std::vector<uint32_t> slots_;  // restored by this node of one version
};

}  // namespace

Result<RestoredOnNodes> restore_on_nodes(Run* run, SlotCache* slot_cache,
                                         const Catalogue& catalogue, const std::string& directory) {
  return NodesRestore(run, slot_cache, catalogue, directory).restore();
}

}  // namespace cairn::checkpoint
