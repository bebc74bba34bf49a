// What a node has in its pool when the job begins, the others have then, too.
#include <sys/stat.h>

#include <set>

#include "cluster/files_of_before.h"

namespace cairn::test {
namespace {

// As MPI_Init does. How many different numbers there were, and what went wrong on which node.
struct Told {
  std::set<int64_t> numbers;
  std::vector<int> results;
};
Told tell_names(CoveredNodes& covered, uint32_t nodes) {
  Told told;
  for (uint32_t node = 0; node < nodes; ++node)
    told.numbers.insert(cairn_job_gather_names(covered.job(node)));
  for (uint32_t node = 0; node < nodes; ++node)
    told.results.push_back(cairn_job_tell_names(covered.job(node)));
  return told;
}

void make_directory(const CoveredNodes& covered, uint32_t node, const char* path, uint32_t mode) {
  EXPECT_EQ(cairn_mkdir(covered.pool(node), covered.top(node), path, mode), 0)
      << cairn_last_error();
}

void make_link(const CoveredNodes& covered, uint32_t node, const char* target, const char* path) {
  EXPECT_EQ(cairn_symlink(covered.pool(node), target, covered.top(node), path), 0)
      << cairn_last_error();
}

// An earlier job on two of the nodes has left its checkpoints in their pools.
TEST(PreexistingNames, OtherNodesHaveThem) {
  CoveredNodes covered(
      3, 64 << 20, [](const std::string& directory) { write_lower(directory, "old/f", "old"); });
  EXPECT_NE(covered.mode("old/f"), 0U);
  for (const uint32_t node : {0U, 1U}) {
    make_directory(covered, node, "ck", 0750);
    make_directory(covered, node, "ck/step", 0700);
    make_directory(covered, node, "old/new", 0755);
    make_link(covered, node, "step", "ck/latest");
    EXPECT_EQ(cairn_mknod(covered.pool(node), covered.top(node), "fifo", S_IFIFO | 0640), 0);
  }
  covered.make_file(0, "ck/step/rank.0");
  make_directory(covered, 2, "of2", 0755);
  const uint64_t questions = covered.nodes().questions;
  const Told told = tell_names(covered, 3);
  EXPECT_EQ(told.numbers.size(), 2U);
  EXPECT_EQ(told.results, std::vector<int>(3, 0)) << cairn_last_error();
  // Nodes that have the same do not all tell it.
  EXPECT_EQ(covered.nodes().questions - questions, 3 * 2 + 1 + 2U);
  EXPECT_EQ(covered.mode("ck"), S_IFDIR | 0750U);
  EXPECT_EQ(covered.mode("ck/step"), S_IFDIR | 0700U);
  EXPECT_EQ(covered.mode("old/new"), S_IFDIR | 0755U);
  EXPECT_EQ(covered.mode("ck/latest"), S_IFLNK | 0777U);
  EXPECT_EQ(covered.mode("fifo"), S_IFIFO | 0640U);
  EXPECT_EQ(covered.mode("of2"), S_IFDIR | 0755U);
  EXPECT_EQ(size_elsewhere(covered, 2, "ck/step/rank.0"), 0U);
  EXPECT_EQ(tell_names(covered, 3).numbers.size(), 1U);
  for (uint32_t node = 0; node < 3; ++node) covered.drain(node);
}

TEST(PreexistingNames, ThoseOfOneKindAreKept) {
  CoveredNodes covered(2);
  make_directory(covered, 0, "same", 0700);
  make_directory(covered, 1, "same", 0755);
  make_link(covered, 0, "a", "link");
  make_link(covered, 1, "b", "link");
  make_directory(covered, 0, "thing", 0755);
  covered.make_file(1, "thing");
  make_directory(covered, 0, "zone", 0755);
  const Told told = tell_names(covered, 2);
  EXPECT_EQ(told.numbers.size(), 2U);
  EXPECT_EQ(told.results[0], -EEXIST);
  EXPECT_NE(std::string(cairn_last_error()).find(": two nodes had"), std::string::npos)
      << cairn_last_error();
  EXPECT_EQ(covered.mode(0, "same"), S_IFDIR | 0700U);
  EXPECT_EQ(covered.mode(1, "same"), S_IFDIR | 0755U);
  EXPECT_EQ(covered.mode(1, "thing"), S_IFREG | 0600U);
  EXPECT_EQ(covered.mode("zone"), S_IFDIR | 0755U);
}

TEST(PreexistingNames, MoreThanFitIntoAMessage) {
  CoveredNodes covered(2, 256 << 20);
  const std::string target(4000, 'x');
  constexpr int count = 1000;
  for (int i = 0; i < count; ++i)
    make_link(covered, 1, target.c_str(), ("link" + std::to_string(i)).c_str());
  EXPECT_EQ(tell_names(covered, 2).results, std::vector<int>(2, 0)) << cairn_last_error();
  for (int i = 0; i < count; ++i)
    EXPECT_NE(covered.mode(0, ("link" + std::to_string(i)).c_str()), 0U);
}

// Who has nothing says nothing, and looks at nothing that lies in the covered directory.
TEST(PreexistingNames, NothingIsToldOfNothing) {
  CoveredNodes covered(2, 64 << 20,
                       [](const std::string& directory) { write_lower(directory, "a/b", "old"); });
  const uint64_t questions = covered.nodes().questions;
  const Told told = tell_names(covered, 2);
  EXPECT_EQ(told.numbers, std::set<int64_t>{0});
  EXPECT_EQ(covered.nodes().questions, questions);
}

}  // namespace
}  // namespace cairn::test
