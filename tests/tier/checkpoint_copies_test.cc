// What a file system answers about copies of checkpoints: an error is not damage, and a copy that
// is there counts only by its bytes.
#include <sys/syscall.h>

#include <filesystem>
#include <fstream>

#include "checkpoint/layout/packing.h"
#include "checkpoint/ranks.h"
#include "tier/lower_calls.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

class CheckpointCopies : public testing::Test {
 protected:
  ~CheckpointCopies() override { set_lower_hook(nullptr); }

  cairn_checkpoint_options options_of(uint32_t flags = 0) {
    cairn_checkpoint_options options{};
    options.struct_size = sizeof options;
    options.lower = lower_.c_str();
    options.keep = 9;
    options.flags = flags;
    return options;
  }
  // Writes versions `from` to `to`; each is copied to lower.
  void write(cairn_checkpoint* checkpoint, int64_t from, int64_t to) {
    Rows rows(6, 0, 1);
    ASSERT_EQ(rows.define(checkpoint), 0);
    for (int64_t version = from; version <= to; ++version) {
      rows.set(version);
      cairn_checkpoint_handle handle = 0;
      ASSERT_EQ(cairn_checkpoint_iwrite(checkpoint, version, &handle), 0) << cairn_last_error();
      ASSERT_EQ(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_GLOBAL, 0), 0)
          << cairn_last_error();
    }
  }
  void make_copies() {
    const PoolInMemory pool(64ULL << 20);
    cairn_checkpoint* checkpoint = open_set(pool.get(), "rows", options_of());
    write(checkpoint, 1, 2);
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
    ASSERT_EQ(files(".json").size(), 2U);
  }
  std::vector<std::string> files(const std::string& suffix) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(lower_ + "/.cairn-checkpoints/rows"))
      if (entry.path().extension() == suffix) found.push_back(entry.path().string());
    std::sort(found.begin(), found.end());
    return found;
  }
  // Changes a byte that is proved: of VERSION in a manifest, of values in data.
  static void spoil(const std::string& path) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const int64_t at = path.ends_with(".data") ? checkpoint::region_unit : 100;
    file.seekg(at);
    const int byte = file.get();
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 1));
    ASSERT_TRUE(file.good());
  }
  static std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  int init(const PoolInMemory& pool, uint32_t flags, cairn_checkpoint** checkpoint) {
    cairn_checkpoint_options options = options_of(flags);
    options.pool = pool.get();
    return cairn_checkpoint_init("rows", CAIRN_NO_COMMUNICATOR, &options, checkpoint);
  }

  TemporaryFolder folder_;
  std::string lower_ = folder_.path();
};

TEST_F(CheckpointCopies, AnErrorOfTheFileSystemIsNotDamage) {
  make_copies();
  const std::vector<std::string> before = files(".json");
  const PoolInMemory pool(64ULL << 20);
  cairn_checkpoint* checkpoint = nullptr;
  for (const char* const what : {".manifest", ".data", "/set"}) {
    set_lower_hook([what](const LowerCall& call) {
      return call.number == SYS_pread64 && names(call.arguments[0], what) ? EIO : 0;
    });
    EXPECT_EQ(init(pool, 0, &checkpoint), -EIO) << what;
    EXPECT_NE(std::string(cairn_last_error()).find(what), std::string::npos) << cairn_last_error();
    set_lower_hook(nullptr);
    EXPECT_EQ(files(".json"), before);
  }
  // It passes, and the run goes on.
  ASSERT_EQ(init(pool, 0, &checkpoint), 0) << cairn_last_error();
  Rows rows(6, 0, 1);
  ASSERT_EQ(rows.define(checkpoint), 0);
  ASSERT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), 0)
      << cairn_last_error();
  EXPECT_EQ(rows.difference(2), "");
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
}

TEST_F(CheckpointCopies, ARunDoesNotBeginFromNothingBesideCopies) {
  make_copies();
  for (const std::string& path : files(".manifest")) spoil(path);
  const PoolInMemory pool(64ULL << 20);
  cairn_checkpoint* checkpoint = nullptr;
  EXPECT_EQ(init(pool, 0, &checkpoint), -EUCLEAN);
  EXPECT_NE(std::string(cairn_last_error()).find("no version is whole"), std::string::npos)
      << cairn_last_error();
  EXPECT_NE(std::string(cairn_last_error()).find("CAIRN_CHECKPOINT_FRESH"), std::string::npos);
  ASSERT_EQ(init(pool, CAIRN_CHECKPOINT_FRESH, &checkpoint), 0) << cairn_last_error();
  write(checkpoint, 3, 3);
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
}

TEST_F(CheckpointCopies, ANewerCopyThatWasDamagedForAWhileIsNotRemoved) {
  make_copies();
  const std::string newest = files(".data").back();
  spoil(newest);
  const PoolInMemory pool(64ULL << 20);
  cairn_checkpoint* checkpoint = open_set(pool.get(), "rows", options_of());
  Rows rows(6, 0, 1);
  ASSERT_EQ(rows.define(checkpoint), 0);
  ASSERT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), 0)
      << cairn_last_error();
  EXPECT_EQ(rows.difference(1), "");
  spoil(newest);  // it is whole again
  cairn_checkpoint_handle handle = 0;
  ASSERT_EQ(cairn_checkpoint_iwrite(checkpoint, 3, &handle), 0) << cairn_last_error();
  const auto copy = [&] {
    return cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_GLOBAL, 0);
  };
  EXPECT_EQ(copy(), -EEXIST);
  EXPECT_EQ(files(".json").size(), 2U);
  spoil(newest);
  EXPECT_EQ(copy(), 0) << cairn_last_error();
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
}

TEST_F(CheckpointCopies, WhatDoesNotFitLeavesNothingInThePool) {
  Rows rows(100'000, 0, 1);  // 29 MB
  {
    const PoolInMemory large(64ULL << 20);
    cairn_checkpoint* checkpoint = open_set(large.get(), "rows", options_of());
    ASSERT_EQ(rows.define(checkpoint), 0);
    rows.set(1);
    cairn_checkpoint_handle handle = 0;
    ASSERT_EQ(cairn_checkpoint_iwrite(checkpoint, 1, &handle), 0) << cairn_last_error();
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
  }
  const PoolInMemory small(24ULL << 20);
  cairn_checkpoint* checkpoint = nullptr;
  EXPECT_EQ(init(small, 0, &checkpoint), -ENOSPC);
  cairn_pool_info info{};
  ASSERT_EQ(cairn_pool_get_info(small.get(), &info), 0) << cairn_last_error();
  EXPECT_LT(info.used, 4ULL << 20);
}

TEST_F(CheckpointCopies, ACopyThatIsCutOffIsNotRead) {
  make_copies();
  for (const std::string& path : files(".data")) fs::resize_file(path, 4096);
  const PoolInMemory pool(64ULL << 20);
  cairn_checkpoint* checkpoint = nullptr;
  set_lower_hook([](const LowerCall& call) {
    return call.number == SYS_pread64 && names(call.arguments[0], ".data") ? EIO : 0;
  });
  EXPECT_EQ(init(pool, 0, &checkpoint), -EUCLEAN) << cairn_last_error();
  set_lower_hook(nullptr);
}

TEST_F(CheckpointCopies, GlobalIsWhatLowerHasNow) {
  const PoolInMemory pool(64ULL << 20);
  cairn_checkpoint* checkpoint = open_set(pool.get(), "rows", options_of());
  Rows rows(6, 0, 1);
  ASSERT_EQ(rows.define(checkpoint), 0);
  rows.set(1);
  cairn_checkpoint_handle handle = 0;
  ASSERT_EQ(cairn_checkpoint_iwrite(checkpoint, 1, &handle), 0) << cairn_last_error();
  const auto copy = [&] {
    return cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_GLOBAL, 0);
  };
  const auto test = [&] {
    return cairn_checkpoint_test(checkpoint, handle, CAIRN_LEVEL_GLOBAL, nullptr);
  };
  ASSERT_EQ(copy(), 0) << cairn_last_error();
  EXPECT_EQ(test(), 1);
  fs::remove_all(lower_ + "/.cairn-checkpoints");
  EXPECT_EQ(test(), 0);
  ASSERT_EQ(copy(), 0) << cairn_last_error();
  EXPECT_EQ(test(), 1);
  // A copy that is damaged is made anew.
  const std::string data = files(".data").at(0);
  const std::string whole = contents(data);
  spoil(data);
  ASSERT_NE(contents(data), whole);
  ASSERT_EQ(copy(), 0) << cairn_last_error();
  EXPECT_EQ(contents(data), whole);
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
}

}  // namespace
}  // namespace cairn::test
