// Files that processes on several nodes write: calls that cannot be served, who is told of them,
// and where the space goes.
#include <fcntl.h>

#include <regex>

#include "cluster/shared_texts.h"

namespace cairn::test {
namespace {

TEST(SharedSpace, AFullPoolIsToldByTheCallAndByAllAtTheCommit) {
  Nodes nodes(2, 8 << 20);
  nodes.start();
  run_ranks(nodes, 2, [&](Rank& rank) {
    cairn_shared* file = rank.open("f", O_RDWR | O_CREAT);
    if (rank.rank == 1) {
      const std::string much(16 << 20, 'x');
      EXPECT_EQ(cairn_shared_pwrite(file, much.data(), much.size(), 0), -ENOSPC);
      EXPECT_NE(std::string(cairn_last_error()).find("node1"), std::string::npos);
    } else {
      write_at(file, "fits", 32 << 20);
    }
    EXPECT_EQ(cairn_shared_commit(file), -ENOSPC);
    // To those whose own writes did fit, too: which pool it was, and what was wrong.
    // Made once: libstdc++'s making of two at a time is a race to ThreadSanitizer.
    static const std::regex full(
        "f: a write at offset \\d+ failed before, pool .*/pool1 of node node1: .*full");
    EXPECT_TRUE(std::regex_search(cairn_last_error(), full)) << cairn_last_error();
    EXPECT_EQ(read_at(file, 4, 32 << 20), "fits");  // what did fit is committed
    EXPECT_EQ(cairn_shared_commit(file), 0);
    ASSERT_EQ(cairn_shared_close(file), 0);
  });
}

TEST(SharedSpace, WhatACallerDidWrongIsToldHimAlone) {
  Nodes nodes(2);
  nodes.start();
  run_ranks(nodes, 2, [&](Rank& rank) {
    cairn_shared* file = rank.open("f", O_RDWR | O_CREAT);
    if (rank.rank == 1) {
      EXPECT_EQ(cairn_shared_pwrite(file, nullptr, 4, 0), -EFAULT);
      EXPECT_EQ(cairn_shared_pwrite(file, "x", 1, uint64_t{1} << 62), -EFBIG);
    }
    EXPECT_EQ(cairn_shared_commit(file), 0) << cairn_last_error();
    // The bytes of this node, and of the other one.
    write_at(file, "text", rank.rank * 4);
    ASSERT_EQ(cairn_shared_commit(file), 0) << cairn_last_error();
    for (const uint64_t offset : {0, 4}) {
      const cairn_piece nowhere = {nullptr, 4, offset};
      EXPECT_EQ(cairn_shared_read(file, &nowhere, 1), -EFAULT);
    }
    ASSERT_EQ(cairn_shared_close(file), 0) << cairn_last_error();
  });
}

TEST(SharedSpace, WhatDidNotFitIsForgottenWhenItIsCutOff) {
  Nodes nodes(2, 8 << 20);
  nodes.start();
  run_ranks(nodes, 2, [&](Rank& rank) {
    cairn_shared* file = rank.open("f", O_RDWR | O_CREAT);
    const std::string much(16 << 20, 'x');
    for (const int size : {0, 4096}) {
      EXPECT_EQ(cairn_shared_pwrite(file, much.data(), much.size(), 4096), -ENOSPC);
      EXPECT_EQ(cairn_shared_truncate(file, size), 0) << cairn_last_error();
    }
    // Not what is still wanted.
    EXPECT_EQ(cairn_shared_pwrite(file, much.data(), much.size(), 4096), -ENOSPC);
    EXPECT_EQ(cairn_shared_truncate(file, 32 << 20), -ENOSPC);
    EXPECT_EQ(cairn_shared_truncate(file, 0), 0) << cairn_last_error();
    write_at(file, "fits", rank.rank * 4);
    ASSERT_EQ(cairn_shared_close(file), 0) << cairn_last_error();
  });
}

// As two processes of one host: the second one has a job of its own, whose messages go to the first
// one's.
TEST(SharedSpace, WhatAnotherProcessOfTheHostRemovesGivesItsSpaceBack) {
  Nodes nodes(2, 16 << 20);
  nodes.start();
  const auto used = [&](uint32_t node) {
    cairn_pool_info info = {};
    EXPECT_EQ(cairn_pool_get_info(nodes.pool(node), &info), 0);
    return info.used;
  };
  cairn_job* const second = nodes.open_second(0);
  const std::string bytes(4 << 20, 'x');
  for (int round = 0; round < 8; ++round) {
    run_ranks(nodes, 2, [&](Rank& rank) {
      cairn_shared* file = rank.open("f", O_RDWR | O_CREAT);
      write_at(file, bytes, rank.rank * bytes.size());
      ASSERT_EQ(cairn_shared_commit(file), 0) << cairn_last_error();
      EXPECT_EQ(read_at(file, 10, 0), std::string(10, 'x'));  // which the server keeps open
      ASSERT_EQ(cairn_shared_close(file), 0);
    });
    EXPECT_EQ(cairn_shared_remove(round % 2 == 0 ? second : nodes.job(round / 2 % 2), "f"), 0);
  }
  for (const uint32_t node : {0, 1}) EXPECT_LT(used(node), bytes.size());
  cairn_job_close(second);
}

}  // namespace
}  // namespace cairn::test
