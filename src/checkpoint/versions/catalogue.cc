#include "checkpoint/versions/catalogue.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "checkpoint/record/medium_errors.h"
#include "checkpoint/store/attempts.h"
#include "checkpoint/store/layout_files.h"
#include "checkpoint/store/new_file.h"
#include "checkpoint/store/set_names.h"
#include "checkpoint/versions/verify_version.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t low_sequence_mask = 0xffffff;
constexpr uint64_t oldest_sequence = 1;  // older than all others

// Returns the least sequence from `last` on whose low bits the decision has.
uint64_t sequence_named_by(uint64_t decision, uint64_t last) {
  const uint64_t low = decision >> 8 & low_sequence_mask;
  const uint64_t same = (last & ~low_sequence_mask) | low;
  return same >= last ? same : same + low_sequence_mask + 1;
}

// Returns true if the manifest holds the part of another pool.
bool is_copy(const Manifest& manifest, const Uuid& pool) {
  const VersionRecord& version = manifest.version();
  if (version.parts == 1) return false;
  return std::memcmp(manifest.part(version.part).pool, pool.data(), pool.size()) != 0;
}

// Checks that the copy was made in this pool, with the roots that all nodes know.
Status check_copy(const Manifest& manifest, const Uuid& pool) {
  const VersionRecord& version = manifest.version();
  const PartRecord part = manifest.part(version.part);
  if (std::memcmp(version.holder, pool.data(), pool.size()) != 0)
    return fail(EUCLEAN, "is a copy of part %u that another pool holds", version.part);
  return part.roots_crc == manifest.roots_crc()
             ? Status()
             : fail(EUCLEAN, "is a copy of other roots than those of part %u", version.part);
}

// Returns the decision in the manifest of a slot without data; 0: it was never decided.
Result<uint64_t> decision_of_half(const SetFile& set, uint32_t number) {
  const auto bytes = read_whole(set.fs(), set.directory(), manifest_name(number), roots_offset);
  if (!bytes.ok()) return bytes.status();
  if (bytes->size() < decision_offset + sizeof(uint64_t)) return uint64_t{0};
  return record_at<uint64_t>(bytes->data() + decision_offset);
}

}  // namespace

uint32_t KnownVersion::slot_of(uint32_t part) const {
  if (slot != 0 && version.part == part) return slot;
  for (const HeldCopy& copy : copies)
    if (copy.part == part) return copy.slot;
  return 0;
}

std::vector<uint32_t> KnownVersion::slots() const {
  std::vector<uint32_t> all;
  if (slot != 0) all.push_back(slot);
  for (const HeldCopy& copy : copies) all.push_back(copy.slot);
  return all;
}

uint32_t KnownVersion::any_slot() const {
  if (slot != 0 || copies.empty()) return slot;
  return copies.front().slot;
}

bool KnownVersion::has(uint32_t part) const {
  return part < holders.size() && holders[part] != no_node;
}

bool KnownVersion::has_copy(uint32_t part) const {
  return part < partners.size() && partners[part] != no_node;
}

bool KnownVersion::has_partners() const {
  if (version.parts == 1) return false;
  for (uint32_t part = 0; part < version.parts; ++part)
    if (!has(part) || !has_copy(part)) return false;
  return true;
}

const KnownVersion* Catalogue::find(uint64_t sequence) const {
  for (const KnownVersion& known : versions_)
    if (known.version.sequence == sequence) return &known;
  return nullptr;
}

KnownVersion* Catalogue::find_known(uint64_t sequence) {
  for (KnownVersion& known : versions_)
    if (known.version.sequence == sequence) return &known;
  return nullptr;
}

void Catalogue::add_copy(uint64_t sequence, const HeldCopy& copy) {
  KnownVersion* const known = find_known(sequence);
  if (known != nullptr && known->slot_of(copy.part) == 0) known->copies.push_back(copy);
}

void Catalogue::note_partners(uint64_t sequence, const std::vector<uint32_t>& partners) {
  if (KnownVersion* const known = find_known(sequence); known != nullptr)
    known->partners = partners;
}

std::vector<KnownVersion> Catalogue::line() const {
  std::vector<KnownVersion> line;
  for (auto known = versions_.rbegin(); known != versions_.rend(); ++known)
    if (is_in_line(versions_.back().version, known->version.sequence)) line.push_back(*known);
  return line;
}

void Catalogue::add(const KnownVersion& known) {
  const auto place = std::lower_bound(
      versions_.begin(), versions_.end(), known.version.sequence,
      [](const KnownVersion& one, uint64_t sequence) { return one.version.sequence < sequence; });
  versions_.insert(place, known);
  last_ = std::max(last_, known.version.sequence);
}

std::vector<KnownVersion> Catalogue::take_beyond(const Retention& retention) {
  std::vector<KnownVersion> beyond;
  if (versions_.empty()) return beyond;
  std::vector<VersionRecord> committed;
  for (const KnownVersion& known : versions_) committed.push_back(known.version);
  const uint64_t stays = newest_with_copies();
  for (const uint64_t sequence : beyond_retention(committed, committed.back(), retention))
    if (sequence != stays) beyond.push_back(*take(sequence));
  return beyond;
}

uint64_t Catalogue::newest_with_copies() const {
  uint64_t newest = 0;
  for (const KnownVersion& known : versions_) {
    const bool is_of_line = is_in_line(versions_.back().version, known.version.sequence);
    if (is_of_line && (known.has_partners() || known.rests_on_copies()))
      newest = known.version.sequence;
  }
  return newest;
}

bool Catalogue::must_stay(uint64_t sequence) const {
  return !versions_.empty() &&
         (sequence == versions_.back().version.sequence || sequence == newest_with_copies());
}

std::optional<KnownVersion> Catalogue::take(uint64_t sequence) {
  const auto place =
      std::find_if(versions_.begin(), versions_.end(),
                   [&](const KnownVersion& known) { return known.version.sequence == sequence; });
  if (place == versions_.end()) return std::nullopt;
  KnownVersion taken = std::move(*place);
  versions_.erase(place);
  return taken;
}

void Catalogue::note_damage(uint32_t slot, const std::string& text, uint64_t sequence) {
  damaged_.push_back({text, sequence});
  if (slot != 0) damaged_slots_.push_back(slot);
}

// Notes a slot that has lost one of its files. The manifest's version counts, if it can be read.
void Catalogue::note_damaged_half(const SetFile& set, uint32_t slot, const std::string& text) {
  const auto bytes = read_whole(set.fs(), set.directory(), manifest_name(slot), roots_offset);
  if (!bytes.ok() || bytes->size() < decision_offset + sizeof(uint64_t))
    return note_damage(slot, text);
  const auto decision = record_at<uint64_t>(bytes->data() + decision_offset);
  if (is_free_word(decision)) return;
  const auto version = read_version(bytes->data(), bytes->size());
  const uint64_t named = version.ok() ? version->sequence : sequence_named_by(decision, last_);
  note_damage(slot, text, named);
  last_ = std::max(last_, named);
}

// Gives damaged slots of unknown versions a date: each is the newest version that was committed
// here, or an older one.
void Catalogue::date_unknown(uint64_t newest) {
  if (newest == 0) return;
  const bool is_there = std::any_of(versions_.begin(), versions_.end(), [&](const auto& known) {
    return known.version.sequence >= newest;
  });
  const bool is_named = std::any_of(damaged_.begin(), damaged_.end(), [&](const DamagedSlot& slot) {
    return slot.sequence >= newest;
  });
  for (DamagedSlot& slot : damaged_)
    if (slot.sequence == 0) slot.sequence = is_there || is_named ? oldest_sequence : newest;
  if (is_there) return;
  last_ = std::max(last_, newest);
  const bool is_told = std::any_of(damaged_.begin(), damaged_.end(), [&](const DamagedSlot& slot) {
    return slot.sequence >= newest;
  });
  if (!is_told)
    note_damage(0, "the newest version that was committed here has lost its manifest", newest);
}

std::string Catalogue::why_lost(uint64_t sequence) const {
  for (const DamagedSlot& slot : damaged_)
    if (slot.sequence == sequence) return slot.text;
  return "";
}

std::vector<uint32_t> Catalogue::take_damaged() {
  damaged_.clear();
  return std::exchange(damaged_slots_, {});
}

Result<Catalogue> Catalogue::read_manifests(const SetFile& set, SlotCache* slot_cache) {
  Catalogue catalogue;
  CAIRN_TRY_ASSIGN(listing, list_set(set.fs(), set.directory()));
  for (const ListedSlot& listed : listing.slots)
    CAIRN_TRY(catalogue.look_at_slot(set, slot_cache, listed));
  if (!listing.hidden.empty()) catalogue.note_damage(0, listing.hidden);
  catalogue.date_unknown(set.newest_committed());
  catalogue.inventory_.damaged = catalogue.damaged_;
  catalogue.inventory_.last_sequence = catalogue.last_;
  catalogue.inventory_.newer = catalogue.newer_;
  return catalogue;
}

Status Catalogue::look_at_slot(const SetFile& set, SlotCache* slot_cache,
                               const ListedSlot& listed) {
  if (!listed.has_manifest) {
    note_damage(listed.number, manifest_name(listed.number) + ": is missing");
    return Status();
  }
  if (!listed.has_data) {
    note_damaged_half(set, listed.number, data_name(listed.number) + ": is missing");
    return Status();
  }
  const auto slot = slot_cache->get(listed.number);
  if (!slot.ok() && !is_of_medium(slot.status())) return slot.status();
  if (!slot.ok()) {
    note_damaged_half(set, listed.number,
                      manifest_name(listed.number) + " or its data: " + last_detail());
    return Status();
  }
  CAIRN_TRY_ASSIGN(content, look_at(**slot));
  switch (content.state) {
    case SlotState::committed:
      if (has_false_name(set, slot_cache, **slot, content.manifest.version().sequence))
        return Status();
      return note(set, *slot, content.manifest);
    case SlotState::newer:
      newer_ = last_detail();
      break;
    case SlotState::damaged: {
      const std::string text = last_detail();
      const auto version = (*slot)->read_version();
      const auto decision = (*slot)->decision();
      const uint64_t named = version.ok()    ? version->sequence
                             : decision.ok() ? sequence_named_by(*decision, last_)
                                             : 0;
      note_damage(listed.number, text, named);
      last_ = std::max(last_, named);
      break;
    }
    case SlotState::free: {
      CAIRN_TRY_ASSIGN(begin, read_begin((*slot)->manifest_file(), sizeof(VersionRecord)));
      const auto version = read_version(begin.data(), begin.size());
      if (version.ok()) last_ = std::max(last_, version->sequence);
      InventoryPart part;
      CAIRN_TRY_ASSIGN(is_prepared, find_prepared(*slot, &part));
      if (is_prepared) inventory_.parts.push_back(part);
      break;
    }
  }
  return Status();
}

void Catalogue::put_all(std::vector<KnownVersion> versions, std::vector<DamagedSlot> damaged,
                        const std::string& newer, uint64_t last) {
  versions_ = std::move(versions);
  damaged_ = std::move(damaged);
  newer_ = newer;
  last_ = last;
}

// One of two names that lead to one manifest is damaged: the slot counts whose data are those of
// the manifest. The other slot is not removed, because the manifest would go with it.
bool Catalogue::has_false_name(const SetFile& set, SlotCache* slot_cache, const Slot& slot,
                               uint64_t sequence) {
  KnownVersion* const known = find_known(sequence);
  if (known == nullptr || known->slot == 0) return false;
  const uint32_t before = known->slot;
  const auto rival = slot_cache->get(before);
  if (!rival.ok() || (*rival)->ids().manifest != slot.ids().manifest) return false;
  const auto leads_to = [&](uint32_t from, uint32_t to) {
    note_damage(0, manifest_name(from) + ": leads to " + manifest_name(to));
  };
  const auto verified = verify_version(set, *rival, sequence);
  if (verified.ok() && verified->bad_blocks == 0) {
    leads_to(slot.ids().number, before);
    return true;
  }
  take(sequence);
  std::erase_if(inventory_.parts, [&](const InventoryPart& part) { return part.slot == before; });
  leads_to(before, slot.ids().number);
  return false;
}

Status Catalogue::note(const SetFile& set, Slot* from, const Manifest& manifest) {
  const uint32_t slot = from->ids().number;
  const VersionRecord& version = manifest.version();
  const std::string name = manifest_name(slot);
  const Uuid pool = pool_uuid(set.fs());
  InventoryPart part{version, slot, true, false, 0, manifest.roots_crc(), manifest.parts_crc()};
  part.is_copy = is_copy(manifest, pool);
  KnownVersion* const known = find_known(version.sequence);
  const InventoryPart* const other = inventory_.find_committed(version.sequence);
  Status status;
  if (std::memcmp(version.set, set.record().set, sizeof version.set) != 0) {
    status = fail(EUCLEAN, "belongs to another set");
  } else if (known != nullptr &&
             (other == nullptr || part.parts_crc != other->parts_crc ||
              !is_same_version(version, other->version) || known->slot_of(version.part) != 0 ||
              (!part.is_copy && known->slot != 0))) {
    status = fail(EUCLEAN, "has the sequence of another version");
  } else if (part.is_copy) {
    status = check_copy(manifest, pool);
  }
  last_ = std::max(last_, version.sequence);
  if (!status.ok()) {
    note_damage(slot, name + ": " + last_detail(), version.sequence);
    return Status();
  }
  const auto attempts = from->word(attempts_offset);
  if (attempts.ok()) part.attempts = attempts_in((*attempts)->load());
  inventory_.parts.push_back(part);
  if (known == nullptr) {
    KnownVersion one;
    one.version = version;
    add(one);
  }
  KnownVersion& one = *find_known(version.sequence);
  if (part.is_copy) {
    one.copies.push_back({version.part, slot});
  } else {
    one.slot = slot;
    one.version = version;
  }
  return Status();
}

namespace {

Status remove_halves(const SetFile& set, const SetListing& listing) {
  for (const ListedSlot& listed : listing.slots) {
    if (listed.has_data || !listed.has_manifest) continue;
    const auto decision = decision_of_half(set, listed.number);
    if (!decision.ok()) continue;  // damaged
    if (is_free_word(*decision)) CAIRN_TRY(remove_slot(set.fs(), set.directory(), listed.number));
  }
  return Status();
}

}  // namespace

Result<uint64_t> prepare_set(const SetFile& set, SlotCache* slot_cache) {
  CAIRN_TRY_ASSIGN(listing, list_set(set.fs(), set.directory()));
  CAIRN_TRY(remove_halves(set, listing));
  CAIRN_TRY_ASSIGN(catalogue, Catalogue::read_manifests(set, slot_cache));
  pool::Pool& pool = set.fs().pool;
  for (const ListedSlot& listed : listing.slots) {
    if (!listed.has_data || !listed.has_manifest) continue;
    const auto slot = slot_cache->get(listed.number);
    if (!slot.ok()) continue;  // damaged
    const auto decision = (*slot)->decision();
    if (!decision.ok() || !is_free_word(*decision)) continue;
    const auto found = (*slot)->word(decision_offset);
    if (!found.ok()) continue;  // damaged
    persist::Word* const word = *found;
    pool.flush(word, sizeof *word);
  }
  CAIRN_TRY(pool.fence());
  return catalogue.last_sequence();
}

namespace {

Status remove_free_slots(const SetFile& set, const SetListing& listing) {
  for (const ListedSlot& listed : listing.slots) {
    if (!listed.has_manifest || !listed.has_data) continue;
    const auto slot = Slot::open(set.fs(), set.directory(), listed.number);
    if (!slot.ok()) continue;  // damaged
    const auto decision = (*slot)->decision();
    if (!decision.ok() || !is_free_word(*decision)) continue;
    // Other nodes may say that the version exists.
    InventoryPart part;
    CAIRN_TRY_ASSIGN(is_prepared, find_prepared(&**slot, &part));
    if (is_prepared) continue;
    CAIRN_TRY_ASSIGN(is_leased, (*slot)->is_leased());
    if (!is_leased) CAIRN_TRY(remove_slot(set.fs(), set.directory(), listed.number));
  }
  return Status();
}

// Removes those of `there` that are not needed.
Status sweep(const SetFile& set, const std::vector<std::string>& there,
             const std::set<std::string>& needed) {
  for (const std::string& name : there) {
    if (needed.contains(name)) continue;
    if (const Status removed = remove_name(set.fs(), set.directory(), name); !removed.ok())
      return annotate(removed, "%s", name.c_str());
  }
  return Status();
}

}  // namespace

Status remove_unused(const SetFile& set, SlotCache* slot_cache) {
  slot_cache->clear();
  CAIRN_TRY_ASSIGN(listing, list_set(set.fs(), set.directory()));
  CAIRN_TRY(remove_free_slots(set, listing));
  CAIRN_TRY(sweep(set, {agree_name}, {}));
  CAIRN_TRY_ASSIGN(catalogue, Catalogue::read_manifests(set, slot_cache));
  // Damaged slots may need layouts that cannot be determined.
  if (!catalogue.damaged().empty() || !catalogue.newer().empty()) return Status();
  std::set<std::string> needed;
  for (const InventoryPart& part : catalogue.inventory().parts) {
    const auto contents = load_contents(set.fs(), set.directory(), layout_of(part.version));
    if (!contents.ok()) return Status();  // a restart reports it
    const Layout& layout = contents->layout();
    for (const std::string& name : names_of_record(layout.hash(), layout_suffix))
      needed.insert(name);
    for (uint32_t i = 0; i < layout.decompositions(); ++i)
      for (const std::string& name :
           names_of_record(layout.decomposition_hash(i), decomposition_suffix))
        needed.insert(name);
  }
  CAIRN_TRY(sweep(set, listing.layouts, needed));
  return sweep(set, listing.decompositions, needed);
}

}  // namespace cairn::checkpoint
