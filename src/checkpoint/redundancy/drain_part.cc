#include "checkpoint/redundancy/drain_part.h"

namespace cairn::checkpoint {
namespace {

Status begin(const SetFile& set, const PoolSight& sight, const DrainedPart& part, LowerSet* lower) {
  return begin_drain(set, *sight.catalogue, sight.used, part, lower);
}

Result<uint32_t> drain_parts(const SetFile& set, const PartSource& source, const PartOrder& order,
                             LowerSet* lower, std::vector<DrainedPart>* parts) {
  auto lock = lower->lock(order.lock_timeout_ns, order.stop);
  if (!lock.ok()) return lock.status();
  CAIRN_TRY_ASSIGN(sight, source.look(false));
  CAIRN_TRY_ASSIGN(opened, source.open());
  *parts = std::move(opened);
  if (parts->empty()) return fail(ENOENT, "this host has no part of the version");
  const DrainedPart& first = parts->front();
  CAIRN_TRY(begin(set, sight, first, lower));
  // Other hosts copy their parts meanwhile.
  const bool is_alone = first.version().parts == 1;
  if (!is_alone) lock = LowerLock();
  for (DrainedPart& part : *parts) CAIRN_TRY(copy_aside(&part, lower, order.stop));
  if (!is_alone) {
    lock = lower->lock(order.lock_timeout_ns, order.stop);
    if (!lock.ok()) return lock.status();
    CAIRN_TRY_ASSIGN(sight_again, source.look(true));
    CAIRN_TRY(begin(set, sight_again, first, lower));
  }
  bool is_changed = false;
  for (DrainedPart& part : *parts) {
    is_changed = is_changed || part.aside.has_value();
    CAIRN_TRY(name_part(&part, lower));
  }
  if (order.is_named != nullptr) order.is_named->store(true);
  CAIRN_TRY_ASSIGN(missing, complete_drain(set, first, is_changed, lower));
  if (missing != 0) return missing;
  for (const DrainedPart& part : *parts) CAIRN_TRY(note_global(set, part.slot));
  if (order.retention.removes())
    CAIRN_TRY(retire_in_lower(lower, order.retention, order.sequence, [&](uint64_t other) {
      return is_whole_in(*lower, other, order.stop);
    }));
  return 0U;
}

}  // namespace

Result<uint32_t> drain_part(const SetFile& set, const PartSource& source, const PartOrder& order,
                            LowerSet* lower) {
  std::vector<DrainedPart> parts;
  const auto missing = drain_parts(set, source, order, lower, &parts);
  drop_aside(&parts, lower);
  return missing;
}

}  // namespace cairn::checkpoint
