#include "loop/checkpoint_ways.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "harness/fresh_place.h"
#include "harness/worker_program.h"

namespace cairn::bench {
namespace {

class CheckpointWays : public testing::Test {
 protected:
  CheckpointWays() {
    char name[] = "/tmp/checkpoint-ways.XXXXXX";
    EXPECT_NE(mkdtemp(name), nullptr);
    directory_ = name;
  }
  ~CheckpointWays() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string path() const { return directory_ + "/checkpoint"; }
  [[nodiscard]] std::string contents() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] size_t files() const {
    const std::filesystem::directory_iterator all(directory_);
    return static_cast<size_t>(std::distance(begin(all), end(all)));
  }

  std::string directory_;
};

TEST_F(CheckpointWays, EachWayLeavesTheNextCheckpointInPlaceOfTheLast) {
  constexpr size_t piece = 4096;
  const std::vector<uint8_t> first(piece, 'a');
  const std::vector<uint8_t> second(piece, 'b');
  for (const Way way : all_ways) {
    SCOPED_TRACE(name_of(way));
    std::filesystem::remove(path());
    EXPECT_GT(write_checkpoint(way, path(), first.data(), 3 * piece, piece), 0);
    EXPECT_EQ(contents(), std::string(3 * piece, 'a'));
    EXPECT_GT(write_checkpoint(way, path(), second.data(), 2 * piece + 1, piece), 0);
    EXPECT_EQ(contents(), std::string(2 * piece + 1, 'b'));
    EXPECT_EQ(files(), 1U);
  }
}

TEST_F(CheckpointWays, AWayIsKnownByItsWord) {
  for (const Way way : all_ways) {
    Way parsed = {};
    EXPECT_TRUE(parse_way(word_of(way), parsed));
    EXPECT_EQ(parsed, way);
  }
  Way parsed = {};
  EXPECT_FALSE(parse_way("copy", parsed));
}

TEST_F(CheckpointWays, SmallFilesAreAllUnlinked) {
  const std::vector<uint8_t> bytes(small_file_size, 'a');
  for (const Small small : {Small::one_by_one, Small::all_at_end}) {
    EXPECT_GT(write_small_files(small, directory_, bytes.data(), 20), 0);
    EXPECT_EQ(files(), 0U);
  }
}

TEST_F(CheckpointWays, MemoryIsWhatIsAllocatedAndNotHowLongFilesAre) {
  std::filesystem::create_directory(directory_ + "/pool");
  std::ofstream(directory_ + "/pool/segment") << std::string(size_t{64} << 10, 'a');
  std::filesystem::resize_file(directory_ + "/pool/segment", uintmax_t{1} << 30);
  EXPECT_GE(allocated_below(directory_), size_t{64} << 10);
  EXPECT_LT(allocated_below(directory_), size_t{1} << 20);
}

TEST_F(CheckpointWays, ProcessorTimeIsThatOfChildrenAsWell) {
  // The child works, the program waits for its answer; so does a child that has ended.
  WorkerProgram program(
      {"/bin/sh", "-c",
       "while read line; do $line sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; "
       "echo 7; done"});
  EXPECT_EQ(program.run(":").wall_ns, 7);  // does nothing
  const WorkerProgram::Took idle = program.run(":");
  const WorkerProgram::Took worked = program.run("command");
  EXPECT_LT(idle.processor_ns, 40e6);
  EXPECT_GT(worked.processor_ns, 40e6);
}

}  // namespace
}  // namespace cairn::bench
