// Files that processes on several nodes write: what each sees, and when.
#include <fcntl.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "cluster/files_of_nodes.h"
#include "cluster/shared_texts.h"

namespace cairn::test {
namespace {

uint64_t size_of(cairn_shared* file) {
  uint64_t size = 0;
  EXPECT_EQ(cairn_shared_size(file, &size), 0) << cairn_last_error();
  return size;
}

TEST(SharedFile, OthersSeeItAfterACommit) {
  Nodes nodes(2);
  nodes.start();
  run_ranks(nodes, 2, [](Rank& rank) {
    cairn_shared* file = rank.open("f", O_RDWR | O_CREAT);
    ASSERT_NE(file, nullptr);
    write_at(file, rank.rank == 0 ? "zero" : "one!", rank.rank * 4);
    EXPECT_EQ(read_at(file, 4, rank.rank * 4), rank.rank == 0 ? "zero" : "one!");
    ASSERT_EQ(cairn_shared_commit(file), 0) << cairn_last_error();
    EXPECT_EQ(read_at(file, 100, 0), "zeroone!");
    EXPECT_EQ(read_at(file, 100, 8), "");
    EXPECT_EQ(size_of(file), 8U);
    // Over what the other one wrote, and the other way round.
    write_at(file, rank.rank == 0 ? "ZZ" : "OO", rank.rank == 0 ? 5 : 1);
    ASSERT_EQ(cairn_shared_commit(file), 0);
    EXPECT_EQ(read_at(file, 8, 0), "zOOooZZ!");
    ASSERT_EQ(cairn_shared_close(file), 0);
  });
  // The next job finds it, with other ranks.
  nodes.stop();
  nodes.start();
  run_ranks(nodes, 3, [](Rank& rank) {
    cairn_shared* file = rank.open("f", O_RDONLY);
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(read_at(file, 8, 0), "zOOooZZ!");
    EXPECT_EQ(cairn_shared_pwrite(file, "x", 1, 0), -EBADF);
    ASSERT_EQ(cairn_shared_close(file), 0);
  });
}

TEST(SharedFile, WhatOneNodeHasIsAnErrorWhereItIsMissing) {
  Nodes nodes(2);
  nodes.start();
  run_ranks(nodes, 2, [](Rank& rank) {
    cairn_shared* file = rank.open("f", O_RDWR | O_CREAT);
    write_at(file, std::string(100, static_cast<char>('a' + rank.rank)), rank.rank * 100);
    ASSERT_EQ(cairn_shared_close(file), 0);
  });
  nodes.stop();
  nodes.start(1);  // node 0 is not there
  run_ranks(
      nodes, 1,
      [](Rank& rank) {
        cairn_shared* file = rank.open("f", O_RDONLY);
        ASSERT_NE(file, nullptr);
        EXPECT_EQ(read_at(file, 100, 100), std::string(100, 'b'));
        char bytes[10];
        const cairn_piece piece = {bytes, 10, 95};
        EXPECT_EQ(cairn_shared_read(file, &piece, 1), -EIO);
        EXPECT_NE(std::string(cairn_last_error()).find("node0"), std::string::npos)
            << cairn_last_error();
        ASSERT_EQ(cairn_shared_close(file), 0);
      },
      1);
}

// A host that was started anew has a new pool where the old one was.
TEST(SharedFile, APoolThatIsGoneIsToldOfAsSuch) {
  Nodes nodes(2);
  nodes.start();
  run_ranks(nodes, 2, [](Rank& rank) {
    cairn_shared* file = rank.open("f", O_RDWR | O_CREAT);
    write_at(file, std::string(100, 'x'), rank.rank * 100);
    ASSERT_EQ(cairn_shared_close(file), 0);
  });
  nodes.stop();
  nodes.make_anew(1);
  nodes.start();
  run_ranks(nodes, 2, [](Rank& rank) {
    cairn_shared* file = rank.open("f", O_RDONLY);
    ASSERT_NE(file, nullptr);
    char bytes[10];
    const cairn_piece piece = {bytes, 10, 150};
    EXPECT_EQ(cairn_shared_read(file, &piece, 1), -EIO);
    const std::string told = cairn_last_error();
    EXPECT_NE(told.find("of node node1, which is not there any more"), std::string::npos) << told;
    EXPECT_EQ(told.find("not part of this job"), std::string::npos) << told;
    ASSERT_EQ(cairn_shared_close(file), 0);
  });
}

TEST(SharedFile, BytesThatNobodyWroteComeFromLower) {
  Nodes nodes(2);
  std::ofstream(nodes.directory() + "/f") << "0123456789";
  nodes.start();
  run_ranks(nodes, 2, [&](Rank& rank) {
    cairn_shared* file = rank.open("f", O_RDWR);
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(size_of(file), 10U);
    if (rank.rank == 1) write_at(file, "xx", 4);
    ASSERT_EQ(cairn_shared_commit(file), 0);
    EXPECT_EQ(read_at(file, 20, 0), "0123xx6789");
    ASSERT_EQ(cairn_shared_truncate(file, 8), 0) << cairn_last_error();
    ASSERT_EQ(cairn_shared_truncate(file, 12), 0);
    EXPECT_EQ(read_at(file, 20, 0), std::string("0123xx67\0\0\0\0", 12));
    rank.barrier();
    if (rank.rank == 0) std::ofstream(nodes.directory() + "/f") << "changed";
    rank.barrier();
    char byte = 0;
    const cairn_piece piece = {&byte, 1, 0};
    EXPECT_EQ(cairn_shared_read(file, &piece, 1), -ESTALE);
    ASSERT_EQ(cairn_shared_close(file), 0);
  });
}

TEST(SharedFile, NamesAreMadeOnceAndRemoved) {
  Nodes nodes(2);
  nodes.start();
  std::filesystem::create_directory(nodes.directory() + "/dir");
  run_ranks(nodes, 2, [&](Rank& rank) {
    rank.open("f", O_RDWR, -ENOENT);
    rank.open("dir", O_RDWR, -EISDIR);
    rank.open("../f", O_RDWR | O_CREAT, -EINVAL);
    cairn_shared* file = rank.open("a/f", O_RDWR | O_CREAT | O_EXCL);
    write_at(file, "old", rank.rank * 3);
    ASSERT_EQ(cairn_shared_close(file), 0);
    rank.open("a/f", O_RDWR | O_CREAT | O_EXCL, -EEXIST);
    EXPECT_EQ(cairn_shared_exists(rank.job, "a/f"), 1);
    rank.barrier();
    if (rank.rank == 1) {
      EXPECT_EQ(cairn_shared_remove(rank.job, "a/f"), 0) << cairn_last_error();
    }
    rank.barrier();
    EXPECT_EQ(cairn_shared_exists(rank.job, "a/f"), 0);
    EXPECT_EQ(cairn_shared_remove(rank.job, "a/f"), -ENOENT);
    rank.barrier();
    // Another life: no byte of the old one.
    file = rank.open("a/f", O_RDWR | O_CREAT);
    EXPECT_EQ(size_of(file), 0U);
    if (rank.rank == 0) write_at(file, "n", 9);
    ASSERT_EQ(cairn_shared_commit(file), 0);
    EXPECT_EQ(read_at(file, 20, 0), std::string("\0\0\0\0\0\0\0\0\0n", 10));
    ASSERT_EQ(cairn_shared_close(file), 0);
  });
}

// As a Fortran unit that stays open: nobody would hear of what is written there.
TEST(SharedFile, IsNotOpenedWhileOtherCallsWriteIt) {
  CoveredNodes covered(2, 64 << 20, [](const std::string& directory) {
    std::ofstream(directory + "/old") << "of before";
  });
  for (const std::string path : {"new", "old"}) {
    cairn_file* writer = open_own(covered, 0, path.c_str(), O_WRONLY | O_CREAT);
    const auto open_all = [&](int expected, const std::string& contents) {
      run_ranks(covered.nodes(), 2, [&](Rank& rank) {
        cairn_shared* file = rank.open(path, O_RDWR | O_CREAT, expected);
        if (file == nullptr) return;
        EXPECT_EQ(read_at(file, 100, 0), contents);
        ASSERT_EQ(cairn_shared_close(file), 0);
      });
    };
    open_all(-EBUSY, "");
    EXPECT_EQ(cairn_shared_exists(covered.job(1), path.c_str()), 0);
    cairn_close(writer);
    cairn_file* reader = open_own(covered, 0, path.c_str(), O_RDONLY);
    open_all(0, path == "old" ? "of before" : "");
    cairn_close(reader);
  }
}

TEST(SharedFile, DeletedWhileOpenItStaysOurs) {
  Nodes nodes(2);
  nodes.start();
  run_ranks(nodes, 2, [&](Rank& rank) {
    cairn_shared* file = rank.open("f", O_RDWR | O_CREAT);
    write_at(file, "ab", rank.rank * 2);
    ASSERT_EQ(cairn_shared_commit(file), 0);
    rank.barrier();
    if (rank.rank == 0) {
      EXPECT_EQ(cairn_shared_remove(rank.job, "f"), 0);
    }
    rank.barrier();
    write_at(file, "cd", rank.rank * 2);
    ASSERT_EQ(cairn_shared_commit(file), 0) << cairn_last_error();
    EXPECT_EQ(read_at(file, 2, rank.rank * 2), "cd");
    ASSERT_EQ(cairn_shared_close(file), 0);
    EXPECT_EQ(cairn_shared_exists(rank.job, "f"), 0);
  });
}

TEST(SharedFile, AStridedReadIsOneQuestionToEachNode) {
  constexpr uint32_t ranks = 4;
  constexpr size_t piece = 1024;
  constexpr size_t pieces = 2000;
  Nodes nodes(ranks);
  nodes.start();
  run_ranks(nodes, ranks, [&](Rank& rank) {
    cairn_shared* file = rank.open("f", O_RDWR | O_CREAT);
    for (size_t i = 0; i < pieces; ++i)
      write_at(file, std::string(piece, static_cast<char>('a' + (i + rank.rank) % 26)),
               (i * ranks + rank.rank) * piece);
    ASSERT_EQ(cairn_shared_commit(file), 0);
    if (rank.rank == 0) nodes.questions = 0;
    rank.barrier();
    // What the next rank wrote, in pieces of its own.
    const uint32_t other = (rank.rank + 1) % ranks;
    std::vector<std::string> texts(pieces, std::string(piece, '?'));
    std::vector<cairn_piece> wanted;
    for (size_t i = 0; i < pieces; ++i)
      wanted.push_back({texts[i].data(), piece, (i * ranks + other) * piece});
    EXPECT_EQ(cairn_shared_read(file, wanted.data(), wanted.size()),
              static_cast<int64_t>(pieces * piece));
    for (size_t i = 0; i < pieces; ++i)
      ASSERT_EQ(texts[i], std::string(piece, static_cast<char>('a' + (i + other) % 26)));
    rank.barrier();
    EXPECT_EQ(nodes.questions, ranks);
    ASSERT_EQ(cairn_shared_close(file), 0);
  });
  // The record says it briefly.
  EXPECT_LT(std::filesystem::file_size(nodes.directory() + "/.cairn/f.record"), 1000U);
}

TEST(SharedFile, ImmediateWritesAreSeenAtOnceInTheOrderOfALock) {
  constexpr uint32_t ranks = 3;
  Nodes nodes(ranks);
  nodes.start();
  run_ranks(nodes, ranks, [&](Rank& rank) {
    cairn_shared* file = rank.open("f", O_RDWR | O_CREAT);
    ASSERT_EQ(cairn_shared_set_immediate(file, 1), 0);
    constexpr int turns = 200;
    for (int i = 0; i < turns; ++i) {
      ASSERT_EQ(cairn_shared_lock(file), 0);
      const std::string before = read_at(file, 8, 0);
      const int count = before.empty() ? 0 : std::stoi(before);
      char text[9];
      std::snprintf(text, sizeof text, "%08d", count + 1);
      write_at(file, text, 0);
      ASSERT_EQ(cairn_shared_unlock(file), 0);
      if (i == turns / 2) {
        ASSERT_EQ(cairn_shared_commit(file), 0) << cairn_last_error();
      }
    }
    rank.barrier();
    EXPECT_EQ(std::stoi(read_at(file, 8, 0)), turns * static_cast<int>(ranks));
    ASSERT_EQ(cairn_shared_set_immediate(file, 0), 0);
    EXPECT_EQ(std::stoi(read_at(file, 8, 0)), turns * static_cast<int>(ranks));
    ASSERT_EQ(cairn_shared_close(file), 0);
  });
}

TEST(SharedFile, TwoGroupsAtOnce) {
  Nodes nodes(2);
  nodes.start();
  run_ranks(nodes, 2, [&](Rank& rank) {
    // Each has the same file open by itself, on its own node.
    cairn_group alone = rank.group;
    alone.rank = 0;
    alone.ranks = 1;
    alone.gather = [](void*, const void* bytes, size_t size, void** all, size_t* sizes) {
      *all = malloc(size + 1);
      memcpy(*all, bytes, size);
      sizes[0] = size;
      return 0;
    };
    alone.broadcast = [](void*, void*, size_t) { return 0; };
    cairn_shared* file = nullptr;
    ASSERT_EQ(cairn_shared_open(rank.job, &alone, "f", O_RDWR | O_CREAT, 0600, nullptr, &file), 0);
    for (int i = 0; i < 50; ++i) {
      write_at(file, std::string(10, static_cast<char>('a' + rank.rank)),
               static_cast<uint64_t>(i) * 20 + rank.rank * 10);
      ASSERT_EQ(cairn_shared_commit(file), 0) << cairn_last_error();
    }
    rank.barrier();
    ASSERT_EQ(cairn_shared_commit(file), 0);
    for (uint64_t i = 0; i < 50; ++i) ASSERT_EQ(read_at(file, 20, i * 20), "aaaaaaaaaabbbbbbbbbb");
    rank.barrier();
    ASSERT_EQ(cairn_shared_close(file), 0);
  });
}

TEST(SharedFile, OnOneNodeItBecomesAnOrdinaryFile) {
  Nodes nodes(2);
  std::ofstream(nodes.directory() + "/f") << "0123456789";
  cairn_cover* cover = nullptr;
  ASSERT_EQ(cairn_cover_open(nodes.pool(1), nodes.directory().c_str(), nullptr, &cover), 0);
  nodes.start();
  run_ranks(nodes, 2, [&](Rank& rank) {
    cairn_shared* file = rank.open("f", O_RDWR);
    cairn_shared* other = rank.open("new/f", O_RDWR | O_CREAT);
    if (rank.rank == 1) {
      write_at(file, "xx", 4);
      write_at(other, "new", 0);
    }
    if (rank.rank == 0) write_at(other, "old", 0);
    ASSERT_EQ(cairn_shared_commit(other), 0);
    if (rank.rank == 1) write_at(other, "all", 0);
    ASSERT_EQ(cairn_shared_close(file), 0);
    ASSERT_EQ(cairn_shared_close(other), 0);
    file = rank.open("both", O_RDWR | O_CREAT);
    write_at(file, "x", rank.rank);
    ASSERT_EQ(cairn_shared_close(file), 0);
  });
  nodes.stop();
  nodes.start(1);
  for (const char* path : {"f", "new/f"}) {
    EXPECT_EQ(cairn_shared_make_plain(nodes.job(1), path, 0), 0) << path << cairn_last_error();
    EXPECT_EQ(cairn_shared_exists(nodes.job(1), path), 0);
    EXPECT_EQ(cairn_shared_make_plain(nodes.job(1), path, 0), -ENOENT);
    cairn_file* file = nullptr;
    ASSERT_EQ(cairn_open(nodes.pool(1), cairn_cover_top(cover), path, O_RDONLY, 0, &file), 0);
    char text[20] = {};
    EXPECT_GE(cairn_pread(file, text, sizeof text, 0), 0);
    EXPECT_EQ(std::string(text), path[0] == 'f' ? "0123xx6789" : "all");
    cairn_close(file);
  }
  EXPECT_EQ(cairn_shared_make_plain(nodes.job(1), "both", 0), -EIO);
  EXPECT_NE(std::string(cairn_last_error()).find("node0"), std::string::npos);
  cairn_drain_report report = {};
  EXPECT_NE(cairn_cover_drain(cover, nullptr, nullptr, nullptr, &report), -ENOSPC);
  std::string text;
  std::getline(std::ifstream(nodes.directory() + "/new/f"), text);
  EXPECT_EQ(text, "all");
  cairn_cover_close(cover);
}

// Commits in between; what is not committed is looked at by its writer only.
TEST(SharedFile, RandomHistoriesAreWhatAModelSays) {
  constexpr uint32_t ranks = 4;
  constexpr size_t most = 40000;
  for (unsigned seed = 0; seed < 6; ++seed) {
    Nodes nodes(2 + seed % 2);
    nodes.start();
    std::string model;  // after the last commit
    run_ranks(nodes, ranks, [&](Rank& rank) {
      std::mt19937 random(seed);  // the same on all ranks
      cairn_shared* file = rank.open("f", O_RDWR | O_CREAT);
      std::string mine;
      for (int round = 0; round < 30; ++round) {
        mine = model;
        rank.barrier();
        for (int i = 0; i < 40; ++i) {
          const uint32_t writer = random() % ranks;
          // Ranks keep to places of their own until the next commit.
          const uint64_t slot = random() % (most / 100 / ranks) * ranks + writer;
          const size_t at = slot * 100 + random() % 50;
          const std::string text(1 + random() % 50, static_cast<char>('a' + random() % 26));
          if (writer == rank.rank) write_at(file, text, at);
          if (mine.size() < at + text.size()) mine.resize(at + text.size());
          mine.replace(at, text.size(), text);
        }
        if (random() % 5 == 0) {
          const size_t size = random() % most;
          ASSERT_EQ(cairn_shared_truncate(file, size), 0) << cairn_last_error();
          mine.resize(size);
        } else {
          ASSERT_EQ(cairn_shared_commit(file), 0) << cairn_last_error();
        }
        const size_t from = mine.empty() ? 0 : random() % mine.size();
        const std::string seen = read_at(file, most, from);
        ASSERT_EQ(seen, mine.substr(from)) << "seed " << seed << ", round " << round;
        rank.barrier();
        if (rank.rank == 0) model = mine;
        rank.barrier();
      }
      ASSERT_EQ(cairn_shared_close(file), 0);
    });
  }
}

}  // namespace
}  // namespace cairn::test
