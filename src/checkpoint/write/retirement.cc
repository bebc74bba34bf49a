#include "checkpoint/write/retirement.h"

#include <utility>

#include "base/coarse_clock.h"

namespace cairn::checkpoint {

void Retirement::add(const KnownVersion& known, bool frees) {
  catalogue_.add(known);
  const std::vector<KnownVersion> beyond = catalogue_.take_beyond(retention_);
  if (frees) run_.set().note_newest(known.version.sequence);
  if (frees) retire(beyond);
  restarted_ = 0;
  if (!std::exchange(drops_damaged_, false)) return;
  const std::vector<uint32_t> damaged = catalogue_.take_damaged();
  // The next user of a slot fences before it decides.
  if (frees && drop_damaged(damaged)) pool().fence().ignore();
}

void Retirement::retire(const std::vector<KnownVersion>& beyond) {
  bool is_changed = false;
  for (const KnownVersion& known : beyond) {
    for (const uint32_t number : known.slots()) {
      const auto slot = slot_cache_.get(number);
      if (slot.ok() && (*slot)->retire().ok()) is_changed = true;
    }
  }
  if (restarted_ != 0 && confirm_restart().ok()) is_changed = true;
  if (is_changed) pool().fence().ignore();  // the slot's next user fences before it decides
}

// If a slot has lost one of its two files, the other file is useless and is removed.
bool Retirement::drop_damaged(const std::vector<uint32_t>& slots) {
  bool is_changed = false;
  for (const uint32_t number : slots) {
    const auto slot = slot_cache_.get(number);
    if (slot.ok() && (*slot)->retire().ok()) {
      is_changed = true;
    } else {
      slot_cache_.drop(number);
      remove_slot(run_.set().fs(), run_.set().directory(), number).ignore();  // the next run may
    }
  }
  return is_changed;
}

void Retirement::note_partners(uint64_t sequence, const std::vector<uint32_t>& holders) {
  catalogue_.note_partners(sequence, holders);
  const KnownVersion* const known = catalogue_.find(sequence);
  if (run_.is_leader() && known != nullptr) note_partner_level(*known);
  const std::vector<KnownVersion> beyond = catalogue_.take_beyond(retention_);
  if (run_.is_leader()) retire(beyond);
}

// Stores when the version had its copies. Reports read this time; a restart looks at the copies
// themselves.
void Retirement::note_partner_level(const KnownVersion& known) {
  const auto slot = slot_cache_.get(known.slot);
  if (!slot.ok()) return;
  const auto word = (*slot)->word(partner_offset);
  if (!word.ok()) return;
  pool().store_flush(**word, fine_now_ns());
  pool().fence().ignore();  // if it fails, a report lacks the time
}

Status Retirement::drop(uint64_t sequence) {
  const auto known = catalogue_.take(sequence);
  if (!known || !run_.is_leader()) return Status();
  CAIRN_TRY(run_.set().forget_newest(sequence));
  for (const uint32_t number : known->slots()) {
    CAIRN_TRY_ASSIGN(slot, slot_cache_.get(number));
    CAIRN_TRY(slot->retire());
  }
  return pool().fence();
}

Status Retirement::confirm_restart() {
  if (restarted_ == 0) return Status();
  CAIRN_TRY_ASSIGN(slot, slot_cache_.get(restarted_));
  CAIRN_TRY_ASSIGN(attempts, slot->word(attempts_offset));
  pool().store_flush(*attempts, 0);
  return pool().fence();
}

}  // namespace cairn::checkpoint
