#include "checkpoint/store/slots.h"

#include <gtest/gtest.h>

#include <cstring>

#include "checkpoint/record/head.h"
#include "checkpoint/store/block_check.h"
#include "checkpoint/store/new_file.h"
#include "checkpoint/store/set_file.h"
#include "file/data/bulk_write.h"
#include "file/data/io.h"
#include "file/data/truncate.h"
#include "file/namespace/names.h"
#include "support/fresh_pool.h"
#include "support/sample_manifest.h"
#include "tier/record/record.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t manifest_bytes = 16384;
constexpr uint64_t data_bytes = region_unit * 8;

class Slots : public file::FreshPool {
 protected:
  std::unique_ptr<Slot> make(uint32_t number) {
    auto slot = Slot::make(*fs, root, number, manifest_bytes, data_bytes);
    EXPECT_TRUE(slot.ok()) << last_detail();
    return slot.ok() ? std::move(*slot) : nullptr;
  }
  std::vector<uint8_t> manifest(uint64_t sequence) {
    SampleManifest sample(3, 1, sequence);
    const Uuid pool = pool_uuid(*fs);
    std::memcpy(sample.version.holder, pool.data(), pool.size());
    return sample.bytes();
  }
  // Writes everything except the decision, then the decision.
  void commit(Slot& slot, std::vector<uint8_t> bytes) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + decision_offset, sizeof word);
    std::memset(bytes.data() + decision_offset, 0, sizeof word);
    ASSERT_TRUE(file::write_bulk(slot.manifest_file(), bytes.data(), bytes.size(), 0).ok());
    ASSERT_TRUE(fs->pool.fence_bytes().ok());
    const auto decision = slot.word(decision_offset);
    ASSERT_TRUE(decision.ok()) << last_detail();
    fs->pool.store_flush(**decision, word);
    ASSERT_TRUE(fs->pool.fence().ok());
  }
  SlotState state_of(Slot& slot) {
    const auto content = look_at(slot);
    EXPECT_TRUE(content.ok()) << last_detail();
    return content->state;
  }
  SetListing listing() {
    auto listed = list_set(*fs, root);
    EXPECT_TRUE(listed.ok()) << last_detail();
    return *listed;
  }
  uint32_t free_slot() {
    const auto found = find_free_slot(*fs, root, listing());
    EXPECT_TRUE(found.ok()) << last_detail();
    return *found == nullptr ? 0 : (*found)->ids().number;
  }

  const uint64_t root = format::root_inode;
};

TEST_F(Slots, NoListIsLongerThanItsFile) {
  const auto slot = make(1);
  ASSERT_NE(slot, nullptr);
  constexpr uint64_t block = uint64_t{1} << 18;
  for (const uint64_t bytes : {data_bytes, max_region, uint64_t{1} << 60, UINT64_MAX}) {
    for (const uint64_t offset : {uint64_t{0}, region_unit, data_bytes + 1, UINT64_MAX}) {
      const auto list = read_list(in_pool(slot->data_file(), "data"), offset, bytes, block, 0, 3);
      EXPECT_EQ(list.code(), EUCLEAN) << offset << ", " << bytes;
    }
  }
}

TEST_F(Slots, ASlotIsFreeUntilItIsCommittedAndAfterItIsRetired) {
  const auto slot = make(1);
  ASSERT_NE(slot, nullptr);
  EXPECT_EQ(state_of(*slot), SlotState::free);
  commit(*slot, manifest(7));
  const auto content = look_at(*slot);
  ASSERT_TRUE(content.ok()) << last_detail();
  ASSERT_EQ(content->state, SlotState::committed);
  EXPECT_EQ(content->manifest.version().sequence, 7U);
  ASSERT_TRUE(slot->retire().ok());
  ASSERT_TRUE(slot->retire().ok()) << "again";
  EXPECT_EQ(state_of(*slot), SlotState::free);
  EXPECT_EQ(*slot->decision(), decision_word(Decision::retired, 7, 0));
  commit(*slot, manifest(9));
  EXPECT_EQ(state_of(*slot), SlotState::committed);
}

TEST_F(Slots, AreFoundByNumberAndByInode) {
  const auto slot = make(3);
  ASSERT_NE(slot, nullptr);
  commit(*slot, manifest(7));
  const auto by_number = Slot::open(*fs, root, 3);
  ASSERT_TRUE(by_number.ok()) << last_detail();
  EXPECT_EQ(state_of(**by_number), SlotState::committed);
  SlotIds ids = slot->ids();
  const auto by_inode = Slot::open(*fs, ids);
  ASSERT_TRUE(by_inode.ok()) << last_detail();
  EXPECT_EQ(state_of(**by_inode), SlotState::committed);
  ++ids.manifest_generation;
  EXPECT_EQ(Slot::open(*fs, ids).code(), ESTALE);
  EXPECT_EQ(Slot::open(*fs, root, 4).code(), ENOENT);
  EXPECT_EQ(Slot::make(*fs, root, 3, manifest_bytes, data_bytes).code(), EEXIST);
}

TEST_F(Slots, TheFirstFreeOneThatNobodyReadsIsTaken) {
  std::array<std::unique_ptr<Slot>, 3> slots = {make(1), make(2), make(3)};
  EXPECT_EQ(free_slot(), 1U);
  commit(*slots[0], manifest(7));
  EXPECT_EQ(free_slot(), 2U);
  {
    const auto lease = slots[1]->take_lease();
    const auto another = slots[1]->take_lease();
    ASSERT_TRUE(lease.ok() && another.ok()) << last_detail();
    EXPECT_EQ(free_slot(), 3U);
    commit(*slots[2], manifest(8));
    EXPECT_EQ(free_slot(), 0U);
  }
  EXPECT_EQ(free_slot(), 2U);
  ASSERT_TRUE(slots[0]->retire().ok());
  EXPECT_EQ(free_slot(), 1U);
}

TEST_F(Slots, DamageIsNeitherCommittedNorFree) {
  const auto slot = make(1);
  ASSERT_NE(slot, nullptr);
  const auto bytes = manifest(7);
  commit(*slot, bytes);
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (at >= decision_offset && at < roots_offset) continue;
    const auto changed = static_cast<uint8_t>(bytes[at] ^ 0x08);
    ASSERT_TRUE(file::write_bulk(slot->manifest_file(), &changed, 1, at).ok());
    ASSERT_EQ(state_of(*slot), SlotState::damaged) << "byte " << at;
    ASSERT_TRUE(file::write_bulk(slot->manifest_file(), &bytes[at], 1, at).ok());
  }
  EXPECT_EQ(state_of(*slot), SlotState::committed);
  const auto word = slot->word(decision_offset);
  ASSERT_TRUE(word.ok());
  const uint64_t right = (*word)->load();
  for (unsigned bit = 0; bit < 64; ++bit) {
    fs->pool.store(**word, right ^ uint64_t{1} << bit);
    ASSERT_EQ(state_of(*slot), SlotState::damaged) << "bit " << bit;
    EXPECT_EQ(free_slot(), 0U);
  }
  ASSERT_TRUE(slot->retire().ok()) << "as a version that is dropped";
  EXPECT_EQ(state_of(*slot), SlotState::free);
}

TEST_F(Slots, AManifestThatWasCutIsDamaged) {
  const auto slot = make(1);
  ASSERT_NE(slot, nullptr);
  commit(*slot, manifest(7));
  for (const uint64_t size : {uint64_t{1500}, uint64_t{700}, uint64_t{516}, uint64_t{100}}) {
    ASSERT_TRUE(file::truncate(*fs, slot->manifest_file().map(), size).ok());
    EXPECT_EQ(state_of(*slot), SlotState::damaged) << size;
  }
}

TEST_F(Slots, ACopyFromAnotherPoolDoesNotCount) {
  const auto slot = make(1);
  ASSERT_NE(slot, nullptr);
  commit(*slot, SampleManifest(3, 1, 7).bytes());
  EXPECT_EQ(state_of(*slot), SlotState::damaged);
}

TEST_F(Slots, WhatANewerCairnWroteIsNotDamage) {
  const auto slot = make(1);
  ASSERT_NE(slot, nullptr);
  auto bytes = manifest(7);
  VersionRecord version{};
  std::memcpy(&version, bytes.data(), sizeof version);
  version.head.incompatible = 2;
  std::memcpy(bytes.data(), &version, sizeof version);
  seal_record(bytes.data(), sizeof version, magic_version);
  commit(*slot, bytes);
  EXPECT_EQ(state_of(*slot), SlotState::newer);
}

TEST_F(Slots, GrowForAnotherLayout) {
  const auto slot = make(1);
  ASSERT_NE(slot, nullptr);
  ASSERT_TRUE(slot->grow(2 * manifest_bytes, 2 * data_bytes).ok()) << last_detail();
  EXPECT_EQ(slot->manifest_file().inode->size.load(), 2 * manifest_bytes);
  EXPECT_EQ(slot->data_file().inode->size.load(), 2 * data_bytes);
  EXPECT_TRUE(slot->word(2 * manifest_bytes - 8).ok()) << "the manifest has all its blocks";
  ASSERT_TRUE(slot->grow(1, 1).ok());
  EXPECT_EQ(slot->manifest_file().inode->size.load(), 2 * manifest_bytes);
}

TEST_F(Slots, AreListedAmongOtherFiles) {
  static_cast<void>(make(2));
  static_cast<void>(make(1));
  for (const char* name :
       {"slot-0004.manifest", "slot-0003.data", "slot-4097.data", "slot-0000.data", "slot-1.data",
        "slot-0001.data.new", "slot-00011.data", "slot-", "notes", "set", "agree",
        "0123456789abcdef0123456789abcdef.layout", "0123456789abcdef0123456789abcdef.decomposition",
        "0123456789ABCDEF0123456789abcdef.layout"})
    ASSERT_TRUE(publish_file(*fs, root, name, {}).ok()) << last_detail();
  const SetListing listed = listing();
  ASSERT_EQ(listed.slots.size(), 4U);
  EXPECT_TRUE(listed.slots[0].has_manifest && listed.slots[0].has_data);
  EXPECT_TRUE(listed.slots[2].has_data && !listed.slots[2].has_manifest);
  EXPECT_TRUE(!listed.slots[3].has_data && listed.slots[3].has_manifest);
  EXPECT_EQ(listed.layouts.size(), 1U);
  EXPECT_EQ(listed.decompositions.size(), 1U);
  EXPECT_EQ(listed.foreign.size(), 8U);
  EXPECT_EQ(unused_number(listed), 5U);
  EXPECT_EQ(free_slot(), 1U);
  ASSERT_TRUE(remove_slot(*fs, root, 1).ok()) << last_detail();
  ASSERT_TRUE(remove_slot(*fs, root, 3).ok()) << last_detail();
  EXPECT_EQ(unused_number(listing()), 1U);
  EXPECT_EQ(free_slot(), 2U);
}

}  // namespace
}  // namespace cairn::checkpoint
