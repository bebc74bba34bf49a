#include "checkpoint/store/slots.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "checkpoint/record/medium_errors.h"
#include "checkpoint/store/layout_files.h"
#include "file/recovery/damaged_names.h"
#include "tier/record/record.h"
#include "tier/system/listing.h"

namespace cairn::checkpoint {
namespace {

constexpr std::string_view slot_prefix = "slot-";

// Returns the number in the name of a slot's file; 0: it is not one.
uint32_t number_of(const std::string& name) {
  uint32_t number = 0;
  const std::string_view digits = std::string_view(name).substr(slot_prefix.size(), 4);
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_one = number >= 1 && number <= max_slots &&
                      (name == manifest_name(number) || name == data_name(number));
  return is_one ? number : 0;
}

// Returns true for 32 hexadecimal digits with this suffix, and for the copy of such a file.
bool is_hash(std::string_view name, std::string_view suffix) {
  if (name.ends_with(copy_suffix)) name.remove_suffix(copy_suffix.size());
  constexpr size_t digits = 32;
  return name.size() == digits + suffix.size() && name.substr(digits) == suffix &&
         name.substr(0, digits).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void note_slot(SetListing* listing, uint32_t number, bool is_manifest) {
  const auto place = std::lower_bound(
      listing->slots.begin(), listing->slots.end(), number,
      [](const ListedSlot& slot, uint32_t wanted) { return slot.number < wanted; });
  ListedSlot& slot = place != listing->slots.end() && place->number == number
                         ? *place
                         : *listing->slots.insert(place, {number, false, false});
  (is_manifest ? slot.has_manifest : slot.has_data) = true;
}

void note(SetListing* listing, const std::string& name) {
  if (name.starts_with(slot_prefix)) {
    if (const uint32_t number = number_of(name); number != 0)
      return note_slot(listing, number, name == manifest_name(number));
  }
  if (is_hash(name, layout_suffix)) {
    listing->layouts.push_back(name);
  } else if (is_hash(name, decomposition_suffix)) {
    listing->decompositions.push_back(name);
  } else if (name != "set" && name != "agree") {
    listing->foreign.push_back(name);
  }
}

// Recovers a name whose hash differs: either a file of this format has that hash, or the hash
// itself is damaged.
std::string name_before(const file::FileSystem& fs, const file::Map& directory,
                        const file::Listed& listed) {
  const auto is_it = [&](const std::string& text) {
    const auto name = file::make_name(text.data(), text.size());
    return name.ok() && file::has_hash(fs, directory, listed, name->hash);
  };
  for (const char* const text : {"set", "agree"})
    if (is_it(text)) return text;
  for (uint32_t number = 1; number <= max_slots; ++number)
    for (const std::string& text : {manifest_name(number), data_name(number)})
      if (is_it(text)) return text;
  return {listed.name, listed.length};
}

// Adds slots whose names the listing did not show, and to which the index leads.
void add_unlisted(file::FileSystem& fs, uint64_t directory, SetListing* listing) {
  for (uint32_t number = 1; number <= max_slots; ++number) {
    for (const std::string& name : {manifest_name(number), data_name(number)}) {
      const auto found = tier::find_child(fs, directory, name);
      if (found.ok() && *found != 0) note_slot(listing, number, name == manifest_name(number));
    }
  }
}

}  // namespace

Result<SetListing> list_set(file::FileSystem& fs, uint64_t directory) {
  SetListing listing;
  CAIRN_TRY_ASSIGN(inode, file::live_inode(fs, directory));
  const file::Map map{inode, directory};
  CAIRN_TRY_ASSIGN(finding, file::first_finding(fs, map));
  if (finding.empty()) {
    CAIRN_TRY(tier::for_each_name(fs, map, false, [&](const file::Listed& listed) {
      note(&listing, tier::name_of(listed));
      return Status();
    }));
    return listing;
  }
  uint64_t count = 0;
  file::check_names(
      fs, map, [](const char* /*finding*/) {},
      [&](const file::Listed& listed) {
        ++count;
        note(&listing, file::has_other_hash(fs, map, listed) ? name_before(fs, map, listed)
                                                             : tier::name_of(listed));
      });
  if (count != inode->directory.entries.load()) listing.hidden = finding;
  add_unlisted(fs, directory, &listing);
  return listing;
}

namespace {

// Reads the content of a slot with this decision, which is not free.
Result<SlotContent> look_at_manifest(Slot& slot, uint64_t decision) {
  SlotContent content;
  content.state = SlotState::damaged;
  auto manifest = slot.read_manifest();
  content.status = manifest.status();
  if (manifest.code() == EPROTONOSUPPORT) {
    content.state = SlotState::newer;
  } else if (!manifest.ok()) {
    if (!is_of_medium(manifest.status())) return manifest.status();
  } else if (manifest->is_committed_by(decision)) {
    content.state = SlotState::committed;
    content.manifest = std::move(*manifest);
  } else {
    content.status = fail(EUCLEAN, "%s: its decision has a wrong seal",
                          manifest_name(slot.ids().number).c_str());
  }
  return content;
}

}  // namespace

Result<SlotContent> look_at(Slot& slot) {
  constexpr int most_looks = 100;
  for (int looks = 0; looks < most_looks; ++looks) {
    SlotContent content;
    const auto decision = slot.decision();
    if (!decision.ok() && is_of_medium(decision.status())) {
      content.state = SlotState::damaged;
      content.status = decision.status();
      return content;
    }
    if (!decision.ok()) return decision.status();
    if (is_free_word(*decision)) return content;
    CAIRN_TRY_ASSIGN(found, look_at_manifest(slot, *decision));
    // If the slot was retired meanwhile, the manifest may have been another one's in part.
    CAIRN_TRY_ASSIGN(after, slot.decision());
    if (after == *decision) return found;
  }
  return fail(EBUSY, "%s: changes too fast to be read", manifest_name(slot.ids().number).c_str());
}

Result<std::unique_ptr<Slot>> find_free_slot(file::FileSystem& fs, uint64_t directory,
                                             const SetListing& listing) {
  for (const ListedSlot& listed : listing.slots) {
    if (!listed.has_manifest || !listed.has_data) continue;
    auto slot = Slot::open(fs, directory, listed.number);
    if (!slot.ok()) {
      if (is_of_medium(slot.status())) continue;
      return slot.status();
    }
    const auto decision = (*slot)->decision();
    if (!decision.ok() || !is_free_word(*decision)) continue;
    CAIRN_TRY_ASSIGN(is_leased, (*slot)->is_leased());
    if (!is_leased) return std::move(*slot);
  }
  return std::unique_ptr<Slot>();
}

std::optional<uint32_t> unused_number(const SetListing& listing) {
  uint32_t number = 1;
  for (const ListedSlot& slot : listing.slots) {
    if (slot.number != number) break;
    ++number;
  }
  return number <= max_slots ? std::optional<uint32_t>(number) : std::nullopt;
}

}  // namespace cairn::checkpoint
