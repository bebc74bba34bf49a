#include "checkpoint/redundancy/drain_here.h"

namespace cairn::checkpoint {
namespace {

std::vector<uint32_t> slots_to_drain(const HereOrder& order, const KnownVersion& known) {
  if (known.slot == 0 || order.takes_copies) return known.slots();
  return {known.slot};
}

}  // namespace

Result<uint32_t> drain_here(const SetFile& set, SlotCache* slot_cache, const Catalogue& catalogue,
                            const HereOrder& order) {
  CAIRN_TRY_ASSIGN(lower, LowerSet::open(order.directory, set.name(), true));
  PartSource source;
  source.look = order.look;
  source.open = [&]() -> Result<std::vector<DrainedPart>> {
    const KnownVersion* const known = catalogue.find(order.sequence);
    if (known == nullptr) return fail(ENOENT, "the version is gone");
    std::vector<DrainedPart> parts;
    for (const uint32_t number : slots_to_drain(order, *known)) {
      CAIRN_TRY_ASSIGN(slot, slot_cache->get(number));
      CAIRN_TRY_ASSIGN(opened, open_drained(set, slot, order.sequence));
      parts.push_back(std::move(opened));
    }
    return parts;
  };
  return drain_part(set, source, {order.sequence, order.retention, longest_drain_wait_ns}, &lower);
}

}  // namespace cairn::checkpoint
