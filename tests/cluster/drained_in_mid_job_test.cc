// A file that its node has drained while the job runs stays that node's: once the node changes it,
// other nodes find it there, whether or not they know lower's version of it.
#include <filesystem>

#include "cluster/files_of_before.h"
#include "cluster/files_of_nodes.h"

namespace cairn::test {
namespace {

constexpr uint32_t owner = 1;
constexpr uint32_t knows = 0;   // has listed the directories since the drain, so lower's version
constexpr uint32_t before = 2;  // has listed them before the file was made

class DrainedInMidJob : public testing::TestWithParam<bool> {
 protected:
  // The file, drained; evicted too, if the test's parameter says so.
  void make_drained(const std::string& bytes) {
    EXPECT_EQ(covered.mode(before, "out/file"), 0U);
    write_own(covered, owner, "out/file", bytes);
    ASSERT_EQ(covered.drain_in_mid_job(owner), 0U);
    EXPECT_TRUE(text_in_lower(covered, "out/file") == bytes);
    const cairn_stat st = own_stat();
    if (GetParam()) {
      ASSERT_EQ(cairn_evict(covered.pool(owner), st.ino, st.generation, nullptr), 0)
          << cairn_last_error();
    }
    const uint32_t flags = CAIRN_FILE_LAZY | CAIRN_FILE_EVICTED;
    ASSERT_EQ(own_stat().flags & flags, GetParam() ? flags : 0U);
  }
  [[nodiscard]] cairn_stat own_stat() const {
    cairn_stat st = {};
    EXPECT_EQ(cairn_lookup(covered.pool(owner), covered.top(owner), "out/file", 0, &st), 0);
    return st;
  }
  // What open(2) does there for writing.
  [[nodiscard]] cairn_file* open_claimed() const {
    EXPECT_EQ(cairn_shared_claim(covered.job(owner), "out/file"), 0) << cairn_last_error();
    return open_to_write(covered, owner, "out/file");
  }
  // As another node's process reads it, which looks in its own pool before it asks others.
  [[nodiscard]] std::string read_on(uint32_t node, const char* path) const {
    if (covered.mode(node, path) != 0) return read_own(covered, node, path);
    cairn_file* file = nullptr;
    const int result = cairn_shared_open_reader(covered.job(node), path, O_RDONLY, &file);
    if (result != 0) return "(error " + std::to_string(result) + ")";
    std::string bytes = read_all(file);
    cairn_close(file);
    return bytes;
  }
  void end_with(const char* name, const std::string& bytes) {
    for (const uint32_t node : {0U, 1U, 2U}) covered.drain(node);
    EXPECT_TRUE(text_in_lower(covered, name) == bytes);
  }

  // A node reads a directory that was there before when it first looks into it.
  CoveredNodes covered{3, 64 << 20, [](const std::string& directory) {
                         std::filesystem::create_directory(directory + "/out");
                       }};
  const std::string old_ = bytes_of(1'000'000);
};

TEST_P(DrainedInMidJob, AChangeIsReadFromOtherNodes) {
  make_drained(old_);
  EXPECT_NE(covered.mode(knows, "out/file"), 0U);
  EXPECT_TRUE(read_on(knows, "out/file") == old_);
  EXPECT_TRUE(read_on(before, "out/file") == old_);
  cairn_file* file = open_claimed();
  std::string bytes = old_;
  bytes.replace(500'000, 3, "NEW");
  ASSERT_EQ(cairn_pwrite(file, "NEW", 3, 500'000), 3);
  // It lies in the owner's pool only, and lower has what was drained.
  EXPECT_EQ(own_stat().flags & CAIRN_FILE_LAZY, 0U);
  EXPECT_TRUE(text_in_lower(covered, "out/file") == old_);
  for (const uint32_t node : {knows, before}) {
    SCOPED_TRACE(node);
    EXPECT_TRUE(read_on(node, "out/file") == bytes);
    EXPECT_EQ(covered.mode(node, "out/file"), 0U);
  }
  // So it is after the second drain, and the change after that.
  cairn_close(file);
  ASSERT_EQ(covered.drain_in_mid_job(owner), 0U);
  EXPECT_TRUE(text_in_lower(covered, "out/file") == bytes);
  for (const uint32_t node : {knows, before}) EXPECT_TRUE(read_on(node, "out/file") == bytes);
  file = open_claimed();
  ASSERT_EQ(cairn_pwrite(file, "2ND", 3, 0), 3);
  bytes.replace(0, 3, "2ND");
  for (const uint32_t node : {knows, before}) EXPECT_TRUE(read_on(node, "out/file") == bytes);
  cairn_close(file);
  end_with("out/file", bytes);
}

TEST_P(DrainedInMidJob, ANewNameIsFoundFromOtherNodes) {
  make_drained(old_);
  EXPECT_NE(covered.mode(knows, "out/file"), 0U);
  EXPECT_TRUE(read_on(knows, "out/file") == old_);
  ASSERT_EQ(cairn_shared_rename_name(covered.job(owner), "out/file", "out/moved", 0), 0)
      << cairn_last_error();
  EXPECT_TRUE(std::filesystem::exists(covered.directory() + "/out/file"));
  for (const uint32_t node : {knows, before}) {
    SCOPED_TRACE(node);
    EXPECT_EQ(covered.mode(node, "out/file"), 0U);
    cairn_stat st = {};
    EXPECT_EQ(cairn_shared_stat_ordinary(covered.job(node), "out/file", &st), -ENOENT);
    EXPECT_TRUE(read_on(node, "out/moved") == old_);
  }
  end_with("out/moved", old_);
  EXPECT_FALSE(std::filesystem::exists(covered.directory() + "/out/file"));
}

TEST_P(DrainedInMidJob, ARemovedOneIsNotFoundOnOtherNodes) {
  make_drained(old_);
  EXPECT_NE(covered.mode(knows, "out/file"), 0U);
  EXPECT_TRUE(read_on(knows, "out/file") == old_);
  ASSERT_EQ(cairn_shared_unlink(covered.job(owner), "out/file"), 0) << cairn_last_error();
  EXPECT_TRUE(std::filesystem::exists(covered.directory() + "/out/file"));
  for (const uint32_t node : {knows, before}) {
    SCOPED_TRACE(node);
    EXPECT_EQ(covered.mode(node, "out/file"), 0U);
    cairn_stat st = {};
    EXPECT_EQ(cairn_shared_stat_ordinary(covered.job(node), "out/file", &st), -ENOENT);
  }
  for (const uint32_t node : {0U, 1U, 2U}) covered.drain(node);
  EXPECT_FALSE(std::filesystem::exists(covered.directory() + "/out/file"));
}

INSTANTIATE_TEST_SUITE_P(Evicted, DrainedInMidJob, testing::Bool());

// A process that has it open could write to it without telling the other nodes, which would go on
// reading lower's version.
TEST(OpenInMidJob, IsNotDrained) {
  CoveredNodes covered(2);
  write_own(covered, 1, "log", "first");
  cairn_file* file = open_own(covered, 1, "log", O_WRONLY | O_APPEND);
  EXPECT_EQ(covered.drain_in_mid_job(1), 1U);
  EXPECT_FALSE(std::filesystem::exists(covered.directory() + "/log"));
  EXPECT_EQ(covered.mode(0, "log"), 0U);
  ASSERT_EQ(cairn_write(file, " then", 5), 5);
  EXPECT_EQ(size_elsewhere(covered, 0, "log"), 10U);
  cairn_close(file);
  EXPECT_EQ(covered.drain_in_mid_job(1), 0U);
  EXPECT_EQ(text_in_lower(covered, "log"), "first then");
}

}  // namespace
}  // namespace cairn::test
