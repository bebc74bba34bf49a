#include "checkpoint/versions/slot_cache.h"

#include <algorithm>
#include <string>

#include "checkpoint/record/medium_errors.h"
#include "checkpoint/record/way_back.h"

namespace cairn::checkpoint {
namespace {

bool is_same(const SlotIds& a, const SlotIds& b) {
  return a.manifest == b.manifest && a.manifest_generation == b.manifest_generation &&
         a.data == b.data && a.data_generation == b.data_generation;
}

Result<bool> is_free(Slot& slot) {
  const auto decision = slot.decision();
  if (!decision.ok() && is_of_medium(decision.status())) return false;  // damaged
  if (!decision.ok()) return decision.status();
  if (!is_free_word(*decision)) return false;
  CAIRN_TRY_ASSIGN(is_leased, slot.is_leased());
  return !is_leased;
}

}  // namespace

Result<Slot*> SlotCache::get(uint32_t number) {
  const auto found = slots_.find(number);
  if (found != slots_.end()) return found->second.get();
  CAIRN_TRY_ASSIGN(slot, Slot::open(fs_, directory_, number));
  return slots_.emplace(number, std::move(slot)).first->second.get();
}

Result<Slot*> SlotCache::get(const SlotIds& ids) {
  const auto found = slots_.find(ids.number);
  if (found != slots_.end() && is_same(found->second->ids(), ids)) return found->second.get();
  drop(ids.number);
  CAIRN_TRY_ASSIGN(slot, Slot::open(fs_, ids));
  return slots_.emplace(ids.number, std::move(slot)).first->second.get();
}

bool SlotCache::shares_a_file(const Slot& slot) const {
  return std::any_of(slots_.begin(), slots_.end(), [&](const auto& other) {
    const SlotIds& ids = other.second->ids();
    return ids.number != slot.ids().number &&
           (ids.data == slot.ids().data || ids.manifest == slot.ids().manifest);
  });
}

Result<Slot*> SlotCache::find_free() {
  for (const auto& [number, slot] : slots_) {
    CAIRN_TRY_ASSIGN(is_one, is_free(*slot));
    if (is_one && !shares_a_file(*slot)) return slot.get();
  }
  CAIRN_TRY_ASSIGN(listing, list_set(fs_, directory_));
  for (const ListedSlot& listed : listing.slots) {
    if (!listed.has_manifest || !listed.has_data || slots_.contains(listed.number)) continue;
    const auto slot = get(listed.number);
    if (!slot.ok() && is_of_medium(slot.status())) continue;
    if (!slot.ok()) return slot.status();
    CAIRN_TRY_ASSIGN(is_one, is_free(**slot));
    if (is_one && !shares_a_file(**slot)) return *slot;
  }
  return static_cast<Slot*>(nullptr);
}

Result<Slot*> SlotCache::take_free(uint64_t manifest_bytes, uint64_t data_bytes, bool* is_new) {
  CAIRN_TRY_ASSIGN(found, find_free());
  if (found != nullptr) {
    CAIRN_TRY(found->grow(manifest_bytes, data_bytes));
    return found;
  }
  CAIRN_TRY_ASSIGN(listing, list_set(fs_, directory_));
  const auto number = unused_number(listing);
  if (!number) return fail(EMFILE, "the set has %u slots already", max_slots);
  auto made = Slot::make(fs_, directory_, *number, manifest_bytes, data_bytes);
  if (!made.ok()) {
    const Status why = made.status();
    const std::string text = last_detail();
    remove_slot(fs_, directory_, *number).ignore();  // half a slot, which init removes too
    return fail(why.code(), "%s%s", text.c_str(),
                is_of_medium(why)
                    ? ("; run `cairn pool check` for details; " + use_another_pool("SET")).c_str()
                    : "");
  }
  *is_new = true;
  return slots_.emplace(*number, std::move(*made)).first->second.get();
}

}  // namespace cairn::checkpoint
