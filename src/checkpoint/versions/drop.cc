#include "checkpoint/versions/drop.h"

#include <algorithm>
#include <vector>

#include "checkpoint/run/set_user.h"
#include "checkpoint/store/set_names.h"
#include "checkpoint/versions/verify_version.h"

namespace cairn::checkpoint {
namespace {

constexpr const char* set_name = "set";

Status check_unread(Slot& slot, int64_t number) {
  CAIRN_TRY_ASSIGN(is_leased, slot.is_leased());
  if (!is_leased) return Status();
  return fail(EBUSY, "version %lld: another process reads it", static_cast<long long>(number));
}

// Returns true if a version is whole. This pool may have one part of a version of several hosts,
// which does not prove that the others exist.
bool is_whole(const SetFile& set, SlotCache* slot_cache, const KnownVersion& known) {
  for (uint32_t part = 0; part < known.version.parts; ++part)
    if (known.slot_of(part) == 0) return false;
  for (const uint32_t number : known.slots()) {
    const auto slot = slot_cache->get(number);
    if (!slot.ok()) return false;
    const auto verified = verify_version(set, *slot, known.version.sequence);
    if (!verified.ok() || verified->bad_blocks != 0) return false;
  }
  return true;
}

// Returns the newest whole version of the line beside this one; 0: there is none.
uint64_t find_survivor(const SetFile& set, SlotCache* slot_cache, const Catalogue& catalogue,
                       uint64_t sequence) {
  for (const KnownVersion& known : catalogue.line())
    if (known.version.sequence != sequence && is_whole(set, slot_cache, known))
      return known.version.sequence;
  return 0;
}

Status last_stays(const Catalogue& catalogue, uint64_t sequence) {
  const std::vector<KnownVersion> line = catalogue.line();
  const bool has_parts = std::any_of(line.begin(), line.end(), [&](const KnownVersion& known) {
    return known.version.sequence != sequence && known.version.parts != 1;
  });
  return fail(
      EPERM, "no other version of the set is %s; it stays unless that is forced",
      has_parts ? "known to be whole: this pool has one host's part of those of several" : "whole");
}

// Returns the versions that are dropped together. Only the newest one names the abandoned versions,
// which would count again without it.
std::vector<KnownVersion> those_to_drop(const Catalogue& catalogue, const KnownVersion& wanted) {
  std::vector<KnownVersion> all;
  const VersionRecord& head = catalogue.head()->version;
  if (wanted.version.sequence == head.sequence) {
    for (const KnownVersion& known : catalogue.versions())
      if (!is_in_line(head, known.version.sequence)) all.push_back(known);
  }
  all.push_back(wanted);
  return all;
}

// Retires the versions durably, in this order.
Status retire(const SetFile& set, SlotCache* slot_cache,
              const std::vector<KnownVersion>& versions) {
  for (const KnownVersion& known : versions) {
    for (const uint32_t number : known.slots()) {
      CAIRN_TRY_ASSIGN(slot, slot_cache->get(number));
      CAIRN_TRY(check_unread(*slot, known.version.number));
    }
  }
  for (const KnownVersion& known : versions) {
    CAIRN_TRY(set.forget_newest(known.version.sequence));
    for (const uint32_t number : known.slots()) {
      CAIRN_TRY_ASSIGN(slot, slot_cache->get(number));
      CAIRN_TRY(slot->retire());
    }
    CAIRN_TRY(set.fs().pool.fence());
  }
  return Status();
}

Status remove_slots(const SetFile& set, SlotCache* slot_cache, const std::vector<uint32_t>& slots) {
  for (const uint32_t number : slots) {
    slot_cache->drop(number);
    CAIRN_TRY(remove_slot(set.fs(), set.directory(), number));
  }
  return Status();
}

Status remove_files(const SetFile& set, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (const Status removed = remove_name(set.fs(), set.directory(), name); !removed.ok())
      return annotate(removed, "%s", name.c_str());
  }
  return Status();
}

Status remove_directory_of(const SetFile& set) {
  const std::string name = name_in(set.record());
  CAIRN_TRY_ASSIGN(place, find_set(set.fs(), name));
  const Status removed = remove_set_directory(set.fs(), place, name);
  // Another process may be making the set anew.
  return removed.code() == ENOTEMPTY ? Status() : removed;
}

}  // namespace

Status drop_version(const SetFile& set, SlotCache* slot_cache, uint64_t sequence,
                    bool may_be_last) {
  CAIRN_TRY_ASSIGN(before, Catalogue::read_manifests(set, slot_cache));
  if (before.find(sequence) == nullptr) return fail(ENOENT, "the version is gone");
  const bool is_of_line = is_in_line(before.head()->version, sequence);
  uint64_t survivor = 0;
  if (is_of_line && !may_be_last) {
    CAIRN_TRY(check_unused(set));  // before all bytes are read
    survivor = find_survivor(set, slot_cache, before, sequence);
    if (survivor == 0) return last_stays(before, sequence);
  }
  return with_set_lock(set, [&] {
    CAIRN_TRY(check_unused(set));
    CAIRN_TRY_ASSIGN(now, Catalogue::read_manifests(set, slot_cache));
    const KnownVersion* const wanted = now.find(sequence);
    if (wanted == nullptr || (survivor != 0 && now.find(survivor) == nullptr))
      return fail(ENOENT, "the set changed meanwhile");
    CAIRN_TRY(retire(set, slot_cache, those_to_drop(now, *wanted)));
    return remove_unused(set, slot_cache);
  });
}

Status drop_damaged(const SetFile& set, SlotCache* slot_cache) {
  return with_set_lock(set, [&] {
    CAIRN_TRY(check_unused(set));
    CAIRN_TRY_ASSIGN(now, Catalogue::read_manifests(set, slot_cache));
    CAIRN_TRY(set.forget_newest(UINT64_MAX));  // the newest version may be the damaged one
    CAIRN_TRY(remove_slots(set, slot_cache, now.take_damaged()));
    return remove_unused(set, slot_cache);
  });
}

Status drop_set(const SetFile& set, SlotCache* slot_cache, bool with_versions) {
  return with_set_lock(set, [&] {
    CAIRN_TRY(check_unused(set));
    CAIRN_TRY_ASSIGN(now, Catalogue::read_manifests(set, slot_cache));
    const bool has_versions =
        !now.versions().empty() || !now.damaged().empty() || !now.newer().empty();
    if (has_versions && !with_versions)
      return fail(EPERM, "has %zu versions; it stays unless that is forced", now.versions().size());
    CAIRN_TRY_ASSIGN(listing, list_set(set.fs(), set.directory()));
    if (!listing.foreign.empty())
      return fail(ENOTEMPTY, "%s: is not Cairn's; remove it first", listing.foreign[0].c_str());
    CAIRN_TRY(retire(set, slot_cache, now.versions()));
    std::vector<uint32_t> slots;
    for (const ListedSlot& listed : listing.slots) slots.push_back(listed.number);
    CAIRN_TRY(remove_slots(set, slot_cache, slots));
    CAIRN_TRY(remove_files(set, listing.layouts));
    CAIRN_TRY(remove_files(set, listing.decompositions));
    CAIRN_TRY(remove_files(set, {agree_name, set_name}));
    return remove_directory_of(set);
  });
}

}  // namespace cairn::checkpoint
