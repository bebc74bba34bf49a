// The table of disruptions, in the manner of FTI's: what is erased, changed or cut off, of which
// nodes, at which level, and what a restart finds then. Four nodes; node n + 1 holds the copy of
// node n's part. Versions 1 and 2 are there.
//
//   CAIRN_DISRUPTIONS   1: the whole table; 0: without rare kinds of harm to several nodes
#include <fcntl.h>

#include <tuple>

#include "base/crc32c_bulk.h"
#include "checkpoint/nodes.h"
#include "file/data/io.h"
#include "file/data/truncate.h"
#include "file/namespace/names.h"

namespace cairn::checkpoint {
namespace {

constexpr uint32_t nodes_of_all = 4;
const std::vector<uint32_t> all_pools = {0, 1, 2, 3};

enum class Harm { erase, flip, truncate };
// Of version 2: files of the node's part, of the copy that it holds, of its part and of the copy of
// that on the next node; or all that the node has.
enum class Target { data, manifest, copy, copy_manifest, data_and_copy, pool };

constexpr const char* harm_names[] = {"erase", "flip", "truncate"};
constexpr const char* target_names[] = {"data",          "manifest",      "copy",
                                        "copy manifest", "data and copy", "pool"};

class Disruption : public testing::Test {
 protected:
  // Versions 1 and 2, and no more.
  void write(bool copies) {
    pools_ = Pools(nodes_of_all);
    std::vector<Came> came;
    pools_.run(all_pools, {{}, 0, 2, copies}, &told_, &came);
    for (const Came& one : came) ASSERT_EQ(one.error, 0) << one.text;
  }

  void harm_file(uint32_t pool, const SetFile& set, Slot* slot, bool is_manifest, Harm harm) {
    file::FileSystem& fs = pools_.fs(pool);
    file::File& file = is_manifest ? slot->manifest_file() : slot->data_file();
    const uint32_t number = slot->ids().number;
    if (harm == Harm::erase) {
      const Status done = file::unlink_name(
          fs, set.directory(), is_manifest ? manifest_name(number) : data_name(number));
      ASSERT_TRUE(done.ok()) << last_detail();
    } else if (harm == Harm::truncate) {
      // In the roots; in the midst of the region.
      const uint64_t size = is_manifest ? roots_offset + 60 : region_unit + 100;
      ASSERT_TRUE(file::truncate(fs, file.map(), size).ok());
    } else {
      const uint64_t at = is_manifest ? roots_offset + 17 : region_unit + 77;
      uint8_t byte = 0;
      ASSERT_TRUE(file::read_at(file, &byte, 1, at).ok());
      byte ^= 4;
      ASSERT_TRUE(file::write_at(file, &byte, 1, at).ok());
    }
  }

  void harm_slots(uint32_t pool, bool of_copies, bool is_manifest, Harm harm) {
    auto set = SetFile::open(pools_.fs(pool), "field");
    ASSERT_TRUE(set.ok()) << last_detail();
    SlotCache slot_cache((*set)->fs(), (*set)->directory());
    const auto manifests = Catalogue::read_manifests(**set, &slot_cache);
    ASSERT_TRUE(manifests.ok()) << last_detail();
    const KnownVersion* const known = manifests->head();
    ASSERT_NE(known, nullptr);
    ASSERT_EQ(known->version.number, 2);
    std::vector<uint32_t> slots;
    if (!of_copies) slots.push_back(known->slot);
    for (const HeldCopy& copy : known->copies)
      if (of_copies) slots.push_back(copy.slot);
    for (const uint32_t number : slots) {
      const auto slot = slot_cache.get(number);
      ASSERT_TRUE(slot.ok()) << last_detail();
      harm_file(pool, **set, *slot, is_manifest, harm);
    }
  }

  void disrupt(uint32_t pool, Target target, Harm harm) {
    switch (target) {
      case Target::pool:
        return pools_.begin_anew(pool);
      case Target::data:
      case Target::manifest:
        return harm_slots(pool, false, target == Target::manifest, harm);
      case Target::copy:
      case Target::copy_manifest:
        return harm_slots(pool, true, target == Target::copy_manifest, harm);
      case Target::data_and_copy:
        harm_slots(pool, false, false, harm);
        return harm_slots((pool + 1) % nodes_of_all, true, false, harm);
    }
  }

  Came look(const std::vector<uint32_t>& members) {
    std::vector<Came> came;
    pools_.run(members, {{}, ++turn_, 0, false}, &told_, &came);
    for (const Came& one : came) {
      EXPECT_EQ(one.number, came[0].number);
      EXPECT_EQ(one.error, came[0].error);
      EXPECT_EQ(one.skipped, came[0].skipped);
      EXPECT_EQ(one.from_copies, came[0].from_copies);
      EXPECT_TRUE(one.number == 0 || one.is_right);
    }
    return came[0];
  }

  Pools pools_{1};
  Told told_;
  uint32_t turn_ = 0;
};

TEST_F(Disruption, Table) {
  const std::pair<const char*, std::vector<uint32_t>> hit[] = {
      {"one node", {1}}, {"two neighbouring", {1, 2}}, {"two distant", {1, 3}}};
  const bool is_whole = test::number_from_environment("CAIRN_DISRUPTIONS", 0) != 0;
  for (const bool copies : {false, true}) {
    for (const Target target : {Target::data, Target::manifest, Target::copy, Target::copy_manifest,
                                Target::data_and_copy, Target::pool}) {
      const bool is_of_copies = target == Target::copy || target == Target::copy_manifest;
      if (!copies && (is_of_copies || target == Target::data_and_copy)) continue;
      for (const Harm harm : {Harm::erase, Harm::flip, Harm::truncate}) {
        if (target == Target::pool && harm != Harm::erase) continue;
        for (const auto& [who, nodes] : hit) {
          const bool is_rare = harm != Harm::flip && target != Target::pool;
          if (!is_whole && is_rare && (!copies || nodes.size() != 1)) continue;
          SCOPED_TRACE(std::string(copies ? "PARTNER: " : "LOCAL: ") +
                       harm_names[static_cast<int>(harm)] + " " +
                       target_names[static_cast<int>(target)] + " of " + who);
          ASSERT_NO_FATAL_FAILURE(write(copies));
          for (const uint32_t node : nodes) ASSERT_NO_FATAL_FAILURE(disrupt(node, target, harm));
          const Came came = look(all_pools);
          SCOPED_TRACE("said: " + came.text + came.why);
          const bool are_neighbours = nodes.size() == 2 && nodes[1] == nodes[0] + 1;
          if (target == Target::pool && (!copies || are_neighbours)) {
            // A part of each version is gone for good.
            EXPECT_EQ(came.error, EHOSTDOWN);
            EXPECT_NE(came.text.find("is missing"), std::string::npos);
          } else if (is_of_copies) {
            EXPECT_EQ(std::tuple(came.number, came.from_copies), std::tuple(2, 0U));
            // Nobody knows of which version a manifest was that is not there.
            EXPECT_TRUE(came.skipped == 0 ||
                        (harm == Harm::erase && target == Target::copy_manifest));
          } else if (copies && target != Target::data_and_copy) {
            EXPECT_EQ(std::tuple(came.number, came.skipped), std::tuple(2, 0U));
            // Where bytes differ, each rank knows of those that it reads.
            EXPECT_GE(came.from_copies, 1U);
            const bool is_known = harm == Harm::erase || target != Target::data;
            EXPECT_TRUE(!is_known || came.from_copies == nodes.size()) << came.from_copies;
            EXPECT_NE(came.why.find("cop"), std::string::npos);
          } else {
            EXPECT_EQ(std::tuple(came.number, came.from_copies), std::tuple(1, 0U));
            EXPECT_GT(came.skipped, 0U);
            EXPECT_NE(came.why, "");
          }
        }
      }
    }
  }
}

// A manifest as its bytes say it, with all checksums and the seal made anew.
struct Forged {
  std::vector<uint8_t> bytes;
  VersionRecord version{};

  uint8_t* part(uint32_t i) { return bytes.data() + version.parts_offset + sizeof(PartRecord) * i; }
  uint8_t* root(uint32_t i) { return bytes.data() + roots_offset + sizeof(RootRecord) * i; }
  void seal() {
    for (uint32_t i = 0; i < version.parts; ++i) {
      auto one = record_at<PartRecord>(part(i));
      seal_part(&one);
      std::memcpy(part(i), &one, sizeof one);
    }
    for (uint32_t i = 0; i < version.part_ranks; ++i) {
      auto one = record_at<RootRecord>(root(i));
      seal_root(&one);
      std::memcpy(root(i), &one, sizeof one);
    }
    EXPECT_TRUE(seal_version(&version).ok()) << last_detail();
    std::memcpy(bytes.data(), &version, sizeof version);
    const uint64_t decision = decision_word(Decision::committed, version.sequence,
                                            seal_of(bytes.data(), version.manifest_length));
    std::memcpy(bytes.data() + decision_offset, &decision, sizeof decision);
  }
};

// The pool of node 2 holds a copy of node 1's part that is sound by itself, and another one. Node 1
// is lost.
TEST_F(Disruption, ForgedCopiesAreRefused) {
  const std::pair<const char*, std::function<void(Forged*)>> forgeries[] = {
      {"of another pool", [](Forged* copy) { copy->version.holder[0] ^= 1; }},
      {"of another set", [](Forged* copy) { copy->version.set[0] ^= 1; }},
      {"of another run", [](Forged* copy) { copy->version.run[0] ^= 1; }},
      {"of another version", [](Forged* copy) { ++copy->version.number; }},
      {"of other roots",
       [](Forged* copy) { copy->root(0)[offsetof(RootRecord, region_list_crc)] ^= 1; }},
      {"of the holder's own part",
       [](Forged* copy) { std::memcpy(copy->part(1), copy->version.holder, sizeof(Uuid)); }},
  };
  for (const auto& [what, forge] : forgeries) {
    SCOPED_TRACE(what);
    ASSERT_NO_FATAL_FAILURE(write(true));
    {
      auto set = SetFile::open(pools_.fs(2), "field");
      ASSERT_TRUE(set.ok()) << last_detail();
      SlotCache slot_cache((*set)->fs(), (*set)->directory());
      const auto manifests = Catalogue::read_manifests(**set, &slot_cache);
      ASSERT_TRUE(manifests.ok()) << last_detail();
      ASSERT_EQ(manifests->head()->copies.size(), 1U);
      const auto slot = slot_cache.get(manifests->head()->copies[0].slot);
      ASSERT_TRUE(slot.ok()) << last_detail();
      const auto manifest = (*slot)->read_manifest();
      ASSERT_TRUE(manifest.ok()) << last_detail();
      Forged copy{manifest->bytes(), manifest->version()};
      forge(&copy);
      copy.seal();
      ASSERT_TRUE(
          file::write_at((*slot)->manifest_file(), copy.bytes.data(), copy.bytes.size(), 0).ok());
    }
    pools_.begin_anew(1);
    const Came came = look(all_pools);
    EXPECT_EQ(std::tuple(came.error, came.number), std::tuple(0, 1)) << came.text;
    EXPECT_GT(came.skipped, 0U);
    EXPECT_EQ(came.from_copies, 1U) << "of version 1";
  }
}

// Node 1 is lost. The copy of its part is sound by itself, all nodes say the same of it, and its
// data file is shorter than its root says.
TEST_F(Disruption, ACopyIsNoLongerThanItsFile) {
  ASSERT_NO_FATAL_FAILURE(write(true));
  uint32_t roots_crc = 0;
  const auto forge = [&](Slot* slot) {
    const auto manifest = slot->read_manifest();
    ASSERT_TRUE(manifest.ok()) << last_detail();
    Forged forged{manifest->bytes(), manifest->version()};
    if (forged.version.part == 1) {
      auto root = record_at<RootRecord>(forged.root(0));
      root.extent_offset = uint64_t{1} << 40;
      root.extent_bytes = max_region;
      seal_root(&root);
      std::memcpy(forged.root(0), &root, sizeof root);
      roots_crc = crc32c_bulk(0, forged.root(0), sizeof(RootRecord));
    }
    auto part = record_at<PartRecord>(forged.part(1));
    part.roots_crc = roots_crc;
    std::memcpy(forged.part(1), &part, sizeof part);
    forged.seal();
    ASSERT_TRUE(
        file::write_at(slot->manifest_file(), forged.bytes.data(), forged.bytes.size(), 0).ok());
  };
  pools_.begin_anew(1);
  for (const uint32_t node : {2, 0, 3}) {
    auto set = SetFile::open(pools_.fs(node), "field");
    ASSERT_TRUE(set.ok()) << last_detail();
    SlotCache slot_cache((*set)->fs(), (*set)->directory());
    const auto manifests = Catalogue::read_manifests(**set, &slot_cache);
    ASSERT_TRUE(manifests.ok()) << last_detail();
    std::vector<uint32_t> slots = manifests->head()->slots();
    std::reverse(slots.begin(), slots.end());  // the copy first
    for (const uint32_t number : slots) {
      const auto slot = slot_cache.get(number);
      ASSERT_TRUE(slot.ok()) << last_detail();
      ASSERT_NO_FATAL_FAILURE(forge(*slot));
    }
  }
  const Came came = look(all_pools);
  EXPECT_EQ(std::tuple(came.error, came.number), std::tuple(0, 1)) << came.text;
  EXPECT_EQ(came.skipped, 1U) << came.why;
}

// No node says that there are copies before all hold theirs.
TEST_F(Disruption, APoolWithoutRoomHoldsNoCopyUntilThereIsSome) {
  pools_ = Pools(nodes_of_all);
  std::atomic<int> failures = 0;
  const auto fill = [&](uint32_t node, int64_t number) {
    if (node != 2 || number != 2) return;
    cairn_file* file = nullptr;
    ASSERT_EQ(cairn_open(pools_.get(2), CAIRN_ROOT, "fill", O_CREAT | O_RDWR, 0600, &file), 0);
    const std::vector<char> bytes(1 << 20);
    uint64_t end = 0;
    for (const size_t size : {bytes.size(), size_t{4096}}) {
      for (int64_t n = 1; n > 0; end += static_cast<uint64_t>(std::max<int64_t>(n, 0)))
        n = cairn_pwrite(file, bytes.data(), size, end);
    }
    EXPECT_EQ(cairn_close(file), 0);
  };
  const auto make_room = [&](uint32_t node, const Status& status, const std::string& text) {
    ++failures;
    EXPECT_EQ(status.code(), ENOSPC) << text;
    EXPECT_NE(text.find(node == 2 ? "copy of part 1 of node 1" : "node 2 holds no copy"),
              std::string::npos)
        << text;
    if (node != 2) return;
    EXPECT_EQ(cairn_unlink(pools_.get(2), CAIRN_ROOT, "fill"), 0);
  };
  std::vector<Came> came;
  Task task{{}, 0, 3, true, fill, make_room};
  pools_.run(all_pools, task, &told_, &came);
  for (const Came& one : came) EXPECT_EQ(one.error, 0) << one.text;
  EXPECT_EQ(failures, static_cast<int>(nodes_of_all));
  pools_.begin_anew(1);
  EXPECT_EQ(look(all_pools).number, 3);
}

// The bytes of a part change between its commit and the copy.
TEST_F(Disruption, DamagedBytesAreNotCopied) {
  pools_ = Pools(nodes_of_all);
  const auto flip = [&](uint32_t node, int64_t number) {
    if (node == 1 && number == 2) harm_slots(1, false, false, Harm::flip);
  };
  std::vector<Came> came;
  pools_.run(all_pools, {{}, 0, 2, true, flip, {}}, &told_, &came);
  for (const Came& one : came) EXPECT_EQ(one.error, EUCLEAN) << one.text;
  EXPECT_NE(came[2].text.find("bytes of rank 1 differ from their checksum"), std::string::npos)
      << came[2].text;
  const Came after = look(all_pools);
  EXPECT_EQ(std::tuple(after.number, after.from_copies), std::tuple(1, 0U));
}

TEST_F(Disruption, FewerNodesRestartFromCopies) {
  for (uint32_t lost = 0; lost < nodes_of_all; ++lost) {
    ASSERT_NO_FATAL_FAILURE(write(true));
    std::vector<uint32_t> members = all_pools;
    members.erase(members.begin() + lost);
    std::swap(members[0], members[2]);
    const Came came = look(members);
    EXPECT_EQ(std::tuple(came.number, came.skipped, came.from_copies), std::tuple(2, 0U, 1U));
    EXPECT_NE(came.why.find("a copy on node"), std::string::npos) << came.why;
  }
}

TEST_F(Disruption, OneNodeOfTwoHasAll) {
  pools_ = Pools(2);
  std::vector<Came> came;
  pools_.run({0, 1}, {{}, 0, 2, true}, &told_, &came);
  for (const uint32_t left : {0U, 1U}) {
    const Came alone = look({left});
    EXPECT_EQ(alone.error, 0) << alone.text;
    EXPECT_EQ(std::tuple(alone.number, alone.skipped, alone.from_copies), std::tuple(2, 0U, 1U));
  }
}

}  // namespace
}  // namespace cairn::checkpoint
