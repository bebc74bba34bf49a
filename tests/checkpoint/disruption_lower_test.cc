// The column of lower in the table of disruptions (disruption_test.cc): what is erased, changed or
// cut off there, of the parts of which nodes, and what is restored then where all pools are lost.
// Four nodes have copied versions 1 and 2.
#include <filesystem>
#include <fstream>

#include "checkpoint/nodes.h"
#include "checkpoint/sources/lower_set.h"

namespace cairn::checkpoint {
namespace {

constexpr uint32_t lower_nodes = 4;
const std::vector<uint32_t> lower_pools = {0, 1, 2, 3};
namespace fs = std::filesystem;

enum class LowerHarm { erase, flip, truncate };
constexpr const char* lower_harm_names[] = {"erase", "flip", "truncate"};
// Of version 2: files of a node's part; or those that it has once.
enum class LowerTarget { data, manifest, record, layout, decompositions, both_layouts, set };
constexpr const char* lower_target_names[] = {"data",           "manifest",     "record", "layout",
                                              "decompositions", "both layouts", "set"};

class DisruptionOfLower : public testing::Test {
 protected:
  DisruptionOfLower() {
    std::vector<Came> came;
    for (const int64_t version : {1, 2}) {
      pools_.run(lower_pools, {{}, ++turn_, 1, true}, &told_, &came);
      for (const Came& one : came) EXPECT_EQ(one.error, 0) << one.text;
      for (uint32_t pool = 0; pool < lower_nodes; ++pool) drain(pool, version);
    }
  }

  void drain(uint32_t pool, int64_t version) {
    cairn_checkpoint_options options{};
    options.flags = CAIRN_CHECKPOINT_LOOK;
    cairn_checkpoint* const look = test::open_set(pools_.get(pool), "field", options);
    fs::create_directory(folder_.path() + "/whole");
    EXPECT_EQ(cairn_checkpoint_drain(look, version, (folder_.path() + "/whole").c_str(), 2),
              static_cast<int>(lower_nodes - 1 - pool))
        << cairn_last_error();
    EXPECT_EQ(cairn_checkpoint_finalize(look), 0);
  }

  // A lower of its own, as it was before any harm.
  void begin() {
    fs::remove_all(lower());
    fs::copy(folder_.path() + "/whole", lower(), fs::copy_options::recursive);
  }
  [[nodiscard]] std::string lower() const { return folder_.path() + "/lower"; }
  [[nodiscard]] fs::path path(const std::string& name) const {
    return lower() + "/.cairn-checkpoints/field/" + name;
  }

  static void harm(const fs::path& file, LowerHarm how) {
    ASSERT_TRUE(fs::exists(file)) << file;
    if (how == LowerHarm::erase) {
      fs::remove(file);
      return;
    }
    // In the midst of the region, of the roots, or of another record.
    const bool is_data = file.extension() == ".data";
    const uint64_t at =
        is_data ? region_unit + 77 : std::min<uint64_t>(fs::file_size(file) - 1, roots_offset + 17);
    if (how == LowerHarm::truncate) {
      fs::resize_file(file, at);
      return;
    }
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(at));
    const char byte = static_cast<char>(stream.get() ^ 4);
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(byte);
  }

  void disrupt(LowerTarget target, const std::vector<uint32_t>& parts, LowerHarm how) {
    if (target == LowerTarget::record) return harm(path(lower_name(2, lower_record)), how);
    if (target == LowerTarget::set) return harm(path(lower_set_name), how);
    if (target == LowerTarget::data || target == LowerTarget::manifest) {
      for (const uint32_t part : parts)
        harm(path(lower_part_name(2, part, lower_nodes,
                                  target == LowerTarget::data ? lower_data : lower_manifest)),
             how);
      return;
    }
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(path(""))) {
      const std::string extension = entry.path().extension();
      const bool is_copy_of_layout =
          extension == ".copy" && entry.path().stem().extension() == ".layout";
      const bool is_one = target == LowerTarget::decompositions ? extension == ".decomposition"
                                                                : extension == ".layout";
      if (is_one || (target == LowerTarget::both_layouts && is_copy_of_layout))
        files.push_back(entry.path());
    }
    ASSERT_FALSE(files.empty());
    for (const fs::path& file : files) harm(file, how);
  }

  // Into a pool of its own. All bytes that it gets are right.
  int restore(cairn_checkpoint_info* info) {
    const test::PoolInMemory pool(64ULL << 20);
    *info = test::empty_info();
    const int result = cairn_checkpoint_restore(pool.get(), "field", lower().c_str(), info);
    if (result != 0) return result;
    cairn_checkpoint_options options{};
    options.flags = CAIRN_CHECKPOINT_LOOK;
    cairn_checkpoint* const look = test::open_set(pool.get(), "field", options);
    EXPECT_EQ(cairn_checkpoint_verify(look, info->number, nullptr), 0) << cairn_last_error();
    EXPECT_EQ(cairn_checkpoint_finalize(look), 0);
    return 0;
  }

  // What is there in the pools is not harmed by it.
  Came look() {
    std::vector<Came> came;
    pools_.run(lower_pools, {{}, ++turn_, 0, false}, &told_, &came);
    return came[0];
  }

  test::TemporaryFolder folder_;
  Pools pools_{lower_nodes};
  Told told_;
  uint32_t turn_ = 0;
};

TEST_F(DisruptionOfLower, Table) {
  const std::pair<const char*, std::vector<uint32_t>> hit[] = {
      {"one node", {1}}, {"two neighbouring", {1, 2}}, {"two distant", {1, 3}}};
  for (const LowerTarget target :
       {LowerTarget::data, LowerTarget::manifest, LowerTarget::record, LowerTarget::layout,
        LowerTarget::decompositions, LowerTarget::both_layouts, LowerTarget::set}) {
    const bool is_of_parts = target == LowerTarget::data || target == LowerTarget::manifest;
    for (const LowerHarm how : {LowerHarm::erase, LowerHarm::flip, LowerHarm::truncate}) {
      for (const auto& [who, parts] : hit) {
        if (parts.size() != 1 && !is_of_parts) continue;
        SCOPED_TRACE(std::string(lower_harm_names[static_cast<int>(how)]) + " " +
                     lower_target_names[static_cast<int>(target)] + " of " + who);
        begin();
        ASSERT_NO_FATAL_FAILURE(disrupt(target, parts, how));
        auto info = test::empty_info();
        const int result = restore(&info);
        SCOPED_TRACE(std::string("said: ") + info.why + (result == 0 ? "" : cairn_last_error()));
        if (is_of_parts) {
          EXPECT_EQ(std::tuple(result, info.number, info.skipped), std::tuple(0, 1, 1U));
          EXPECT_NE(std::string(info.why), "");
        } else if (target == LowerTarget::record) {
          // Without a record a version does not count; what stands in it is for people.
          EXPECT_EQ(std::tuple(result, info.number, info.skipped),
                    std::tuple(0, how == LowerHarm::erase ? 1 : 2, 0U));
        } else if (target != LowerTarget::both_layouts) {
          // Both versions need it, so it is there twice.
          EXPECT_EQ(std::tuple(result, info.number, info.skipped), std::tuple(0, 2, 0U));
        } else {
          EXPECT_TRUE(result == -EUCLEAN || result == -ENOENT) << result;
        }
      }
    }
  }
  const Came came = look();
  EXPECT_EQ(std::tuple(came.error, came.number, came.skipped), std::tuple(0, 2, 0U)) << came.text;
}

// A drain makes anew what is damaged.
TEST_F(DisruptionOfLower, ANewCopyMendsIt) {
  for (const LowerTarget target : {LowerTarget::data, LowerTarget::manifest, LowerTarget::record}) {
    SCOPED_TRACE(lower_target_names[static_cast<int>(target)]);
    begin();
    ASSERT_NO_FATAL_FAILURE(disrupt(target, {1, 2}, LowerHarm::truncate));
    for (uint32_t pool = 0; pool < lower_nodes; ++pool) {
      cairn_checkpoint_options options{};
      options.flags = CAIRN_CHECKPOINT_LOOK;
      cairn_checkpoint* const look = test::open_set(pools_.get(pool), "field", options);
      EXPECT_GE(cairn_checkpoint_drain(look, 2, lower().c_str(), 2), 0) << cairn_last_error();
      EXPECT_EQ(cairn_checkpoint_finalize(look), 0);
    }
    auto info = test::empty_info();
    EXPECT_EQ(restore(&info), 0) << cairn_last_error();
    EXPECT_EQ(std::tuple(info.number, info.skipped), std::tuple(2, 0U)) << info.why;
  }
}

}  // namespace
}  // namespace cairn::checkpoint
