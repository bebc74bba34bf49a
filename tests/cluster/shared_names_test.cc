// Files that processes on several nodes write, as one process alone meets them by their names.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include "base/coarse_clock.h"
#include "cluster/shared_texts.h"

namespace cairn::test {
namespace {

std::string text_of(cairn_file* file) {
  cairn_stat st = {};
  EXPECT_EQ(cairn_fstat(file, &st), 0);
  std::string text(st.size, '?');
  EXPECT_EQ(cairn_pread(file, text.data(), text.size() + 1, 0), static_cast<ssize_t>(st.size))
      << cairn_last_error();
  return text;
}

cairn_stat stat_of(const Rank& rank, const char* path, int expected = 0) {
  cairn_stat st = {};
  EXPECT_EQ(cairn_shared_stat(rank.job, path, &st), expected) << path << cairn_last_error();
  return st;
}

// Each rank's letter, `piece` times in turn.
constexpr size_t piece = 1000;
void write_in_turns(Rank& rank, cairn_shared* file, size_t rounds) {
  for (size_t i = 0; i < rounds; ++i)
    write_at(file, std::string(piece, static_cast<char>('a' + rank.rank)),
             (i * rank.ranks + rank.rank) * piece);
}
std::string in_turns(uint32_t ranks, size_t rounds) {
  std::string text;
  for (size_t i = 0; i < rounds * ranks; ++i)
    text += std::string(piece, static_cast<char>('a' + i % ranks));
  return text;
}

TEST(SharedNames, AreShownAsTheLastCommitLeftThem) {
  Nodes nodes(2);
  nodes.start();
  run_ranks(nodes, 2, [&](Rank& rank) {
    stat_of(rank, "a/f", -ENOENT);
    stat_of(rank, std::string(255, 'x').c_str(), -ENOENT);
    rank.barrier();
    const auto before = static_cast<int64_t>(fine_now_ns());
    rank.barrier();
    cairn_shared* file = rank.open("a/f", O_RDWR | O_CREAT, 0, 0640);
    write_in_turns(rank, file, 5);
    rank.barrier();
    EXPECT_EQ(stat_of(rank, "a/f").size, 0U);
    // `make` and the like look at more than seconds.
    EXPECT_GE(stat_of(rank, "a/f").mtime_ns, before);
    ASSERT_EQ(cairn_shared_commit(file), 0);
    const cairn_stat st = stat_of(rank, "a/f");
    EXPECT_EQ(st.size, 10 * piece);
    EXPECT_EQ(st.mode, S_IFREG | 0640U);
    EXPECT_EQ(st.uid, ::geteuid());
    EXPECT_EQ(st.nlink, 1U);
    EXPECT_GT(st.mtime_ns, 0);
    ASSERT_EQ(cairn_shared_close(file), 0);
    EXPECT_EQ(stat_of(rank, "a/f").ino, st.ino);
    stat_of(rank, "a", -ENOENT);
    stat_of(rank, "a/f/g", -ENOENT);
    // Of another file of the name it is another one.
    rank.barrier();
    if (rank.rank == 1) {
      EXPECT_EQ(cairn_shared_remove(rank.job, "a/f"), 0);
    }
    rank.barrier();
    ASSERT_EQ(cairn_shared_close(rank.open("a/f", O_RDWR | O_CREAT)), 0);
    EXPECT_NE(stat_of(rank, "a/f").ino, st.ino);
  });
}

TEST(SharedNames, AreListedWhereTheyLie) {
  Nodes nodes(2);
  nodes.start();
  run_ranks(nodes, 2, [](Rank& rank) {
    for (const char* path : {"f", "g", "a/f", "a/b/h"})
      ASSERT_EQ(cairn_shared_close(rank.open(path, O_RDWR | O_CREAT)), 0);
    const auto list = [&](const char* directory, int deep = 0) {
      std::set<std::string> names;
      EXPECT_EQ(cairn_shared_list(
                    rank.job, directory, deep,
                    [](void* to, const char* name) {
                      static_cast<std::set<std::string>*>(to)->insert(name);
                      return 0;
                    },
                    &names),
                0);
      return names;
    };
    EXPECT_EQ(list(""), (std::set<std::string>{"f", "g"}));
    EXPECT_EQ(list("a"), (std::set<std::string>{"f"}));
    EXPECT_EQ(list("a/b"), (std::set<std::string>{"h"}));
    EXPECT_EQ(list("a", 1), (std::set<std::string>{"f", "b/h"}));
    EXPECT_EQ(list("none"), (std::set<std::string>{}));
    EXPECT_EQ(cairn_shared_list(
                  rank.job, "", 0, [](void*, const char*) { return 7; }, nullptr),
              7);
  });
}

TEST(SharedNames, AFileOpenForReadingFetchesWhatIsRead) {
  Nodes nodes(2);
  std::ofstream(nodes.directory() + "/f") << std::string(3'000'000, 'x');
  nodes.start();
  run_ranks(nodes, 2, [&](Rank& rank) {
    cairn_shared* shared = rank.open("f", O_RDWR);
    write_in_turns(rank, shared, 1000);
    ASSERT_EQ(cairn_shared_close(shared), 0);
    if (rank.rank == 0) nodes.questions = 0;
    rank.barrier();
    const std::string all = in_turns(2, 1000) + std::string(1'000'000, 'x');
    if (rank.rank == 1) {
      cairn_file* file = nullptr;
      EXPECT_EQ(cairn_shared_open_reader(rank.job, "none", O_RDONLY, &file), -ENOENT);
      nodes.questions = 0;  // which were about an ordinary file
      ASSERT_EQ(cairn_shared_open_reader(rank.job, "f", O_RDONLY, &file), 0) << cairn_last_error();
      char magic[8];
      ASSERT_EQ(cairn_read(file, magic, sizeof magic), 8);
      EXPECT_EQ(std::string(magic, 8), all.substr(0, 8));
      EXPECT_EQ(nodes.questions, 1U);
      cairn_space before = {};
      EXPECT_EQ(cairn_statfs(nodes.pool(1), &before), 0);
      // In small reads, and in large ones.
      std::string text(magic, 8);
      std::vector<char> buffer(4096);
      for (ssize_t n = 0; (n = cairn_read(file, buffer.data(), buffer.size())) > 0;)
        text.append(buffer.data(), static_cast<size_t>(n));
      EXPECT_TRUE(text == all);
      EXPECT_LT(nodes.questions, 10U);
      EXPECT_TRUE(text_of(file) == all);
      char byte = 0;
      EXPECT_EQ(cairn_pread(file, &byte, 1, 1'999'999), 1);
      EXPECT_EQ(byte, 'b');
      EXPECT_EQ(cairn_pread(file, &byte, 1, 3'000'000), 0);
      EXPECT_EQ(cairn_pwrite(file, "x", 1, 0), -EBADF);
      // Nothing of that has come into the pool.
      cairn_space after = {};
      EXPECT_EQ(cairn_statfs(nodes.pool(1), &after), 0);
      EXPECT_LE(before.free_bytes, after.free_bytes + 64 * 1024);
      // A mapping needs all of it.
      void* mapped = nullptr;
      ASSERT_EQ(cairn_mmap(file, nullptr, all.size(), PROT_READ, MAP_SHARED, 0, &mapped), 0)
          << cairn_last_error();
      EXPECT_TRUE(std::string(static_cast<char*>(mapped), all.size()) == all);
      EXPECT_TRUE(text_of(file) == all);
      cairn_munmap(nodes.pool(1), mapped, all.size());
      EXPECT_EQ(cairn_close(file), 0);
    }
    rank.barrier();
  });
}

TEST(SharedNames, WhatAReaderCannotReachIsAnErrorThatSaysWhy) {
  Nodes nodes(2);
  nodes.start();
  cairn_file* left = nullptr;
  run_ranks(nodes, 2, [&](Rank& rank) {
    cairn_shared* shared = rank.open("f", O_RDWR | O_CREAT);
    write_in_turns(rank, shared, 1);
    ASSERT_EQ(cairn_shared_close(shared), 0);
    rank.barrier();
    if (rank.rank == 1) {
      ASSERT_EQ(cairn_shared_open_reader(rank.job, "f", O_RDONLY, &left), 0);
    }
  });
  nodes.stop();
  char byte = 0;
  EXPECT_EQ(cairn_pread(left, &byte, 1, 0), -EIO);
  EXPECT_NE(std::string(cairn_last_error()).find("MPI_Finalize"), std::string::npos);
  cairn_close(left);
  nodes.start(1);
  run_ranks(
      nodes, 1,
      [&](Rank& rank) {
        cairn_file* file = nullptr;
        ASSERT_EQ(cairn_shared_open_reader(rank.job, "f", O_RDONLY, &file), 0);
        EXPECT_EQ(cairn_pread(file, &byte, 1, piece), 1);
        EXPECT_EQ(byte, 'b');
        EXPECT_EQ(cairn_pread(file, &byte, 1, 0), -EIO);
        const std::string why = cairn_last_error();
        EXPECT_NE(why.find("f: bytes 0 to 1000 lie in pool"), std::string::npos) << why;
        EXPECT_NE(why.find("of node node0"), std::string::npos) << why;
        EXPECT_NE(why.find("`cairn drain " + nodes.directory() + "` on all"), std::string::npos)
            << why;
        cairn_close(file);
      },
      1);
  nodes.stop();
  nodes.start();
  cairn_job_fork_child(nodes.job(1));
  cairn_file* file = nullptr;
  ASSERT_EQ(cairn_shared_open_reader(nodes.job(1), "f", O_RDONLY, &file), 0);
  EXPECT_EQ(cairn_pread(file, &byte, 1, 0), -EIO);
  EXPECT_NE(std::string(cairn_last_error()).find("forked"), std::string::npos);
  cairn_close(file);
}

TEST(SharedNames, SizeAndAttributesAreSetWhoeverHasItOpen) {
  Nodes nodes(2);
  std::ofstream(nodes.directory() + "/f") << std::string(5000, 'x');
  nodes.start();
  run_ranks(nodes, 2, [&](Rank& rank) {
    cairn_shared* file = rank.open("f", O_RDWR);
    write_in_turns(rank, file, 1);
    ASSERT_EQ(cairn_shared_commit(file), 0);
    rank.barrier();
    if (rank.rank == 1) {
      EXPECT_EQ(cairn_shared_set_size(rank.job, "none", 0), -ENOENT);
      EXPECT_EQ(cairn_shared_set_size(rank.job, "f", 1500), 0) << cairn_last_error();
      EXPECT_EQ(cairn_shared_set_size(rank.job, "f", 3000), 0);
      EXPECT_EQ(cairn_shared_set_attributes(rank.job, "f", 0604, UINT32_MAX, UINT32_MAX, 5,
                                            1'000'000'000),
                0);
      EXPECT_EQ(stat_of(rank, "f").mtime_ns, 1'000'000'000);
    }
    rank.barrier();
    EXPECT_EQ(stat_of(rank, "f").size, 3000U);
    EXPECT_EQ(stat_of(rank, "f").mode, S_IFREG | 0604U);
    write_at(file, "!", 3000 + rank.rank);
    ASSERT_EQ(cairn_shared_commit(file), 0);
    const std::string expected =
        std::string(1000, 'a') + std::string(500, 'b') + std::string(1500, '\0') + "!!";
    EXPECT_TRUE(shared_text(file) == expected);
    EXPECT_EQ(stat_of(rank, "f").mode, S_IFREG | 0604U);
    // Cut to nothing while it is open, it stays the same file.
    const uint64_t ino = stat_of(rank, "f").ino;
    rank.barrier();
    if (rank.rank == 0) {
      EXPECT_EQ(cairn_shared_set_size(rank.job, "f", 0), 0);
      EXPECT_EQ(stat_of(rank, "f").ino, ino);
    }
    rank.barrier();
    write_at(file, rank.rank == 0 ? "new" : "NEW", rank.rank * 3);
    ASSERT_EQ(cairn_shared_close(file), 0);
    file = rank.open("f", O_RDONLY);
    EXPECT_EQ(shared_text(file), "newNEW");
    ASSERT_EQ(cairn_shared_close(file), 0);
  });
}

TEST(SharedNames, CutToNothingItGivesItsSpaceBack) {
  Nodes nodes(2);
  nodes.start();
  run_ranks(nodes, 2, [&](Rank& rank) {
    cairn_space before = {};
    cairn_space after = {};
    EXPECT_EQ(cairn_statfs(nodes.pool(rank.node), &before), 0);
    cairn_shared* file = rank.open("f", O_RDWR | O_CREAT);
    write_at(file, std::string(20 << 20, 'x'), rank.rank * (20ULL << 20));
    ASSERT_EQ(cairn_shared_close(file), 0);
    rank.barrier();
    if (rank.rank == 1) {
      EXPECT_EQ(cairn_shared_set_size(rank.job, "f", 0), 0) << cairn_last_error();
    }
    rank.barrier();
    EXPECT_EQ(cairn_statfs(nodes.pool(rank.node), &after), 0);
    EXPECT_GT(after.free_bytes + (4 << 20), before.free_bytes);
    file = rank.open("f", O_RDWR);
    EXPECT_EQ(shared_text(file), "");
    write_at(file, "x", rank.rank * 2);
    ASSERT_EQ(cairn_shared_commit(file), 0);
    EXPECT_EQ(shared_text(file), std::string("x\0x", 3));
    ASSERT_EQ(cairn_shared_close(file), 0);
  });
}

TEST(SharedNames, RenamedItIsTheSameFile) {
  Nodes nodes(2);
  std::ofstream(nodes.directory() + "/base") << "0123456789";
  nodes.start();
  run_ranks(nodes, 2, [&](Rank& rank) {
    for (const char* path : {"from", "a/to", "base"}) {
      cairn_shared* file = rank.open(path, O_RDWR | O_CREAT);
      write_at(file, path[0] == 'f' ? "from" : "to", rank.rank * 4);
      ASSERT_EQ(cairn_shared_close(file), 0);
    }
    cairn_shared* open = rank.open("from", O_RDONLY);
    const uint64_t ino = stat_of(rank, "from").ino;
    rank.barrier();
    if (rank.rank == 1) {
      EXPECT_EQ(cairn_shared_rename(rank.job, "from", "a/to", 0), -EBUSY);
      EXPECT_NE(std::string(cairn_last_error()).find("from: it is open"), std::string::npos);
      EXPECT_EQ(cairn_shared_rename(rank.job, "base", "new", 0), -EXDEV);
      EXPECT_EQ(cairn_shared_rename(rank.job, "none", "new", 0), -ENOENT);
    }
    rank.barrier();
    ASSERT_EQ(cairn_shared_close(open), 0);
    if (rank.rank == 1) {
      EXPECT_EQ(cairn_shared_rename(rank.job, "from", "a/to", 0), 0) << cairn_last_error();
    }
    rank.barrier();
    stat_of(rank, "from", -ENOENT);
    EXPECT_EQ(stat_of(rank, "a/to").ino, ino);
    cairn_shared* file = rank.open("a/to", O_RDWR);
    EXPECT_EQ(shared_text(file), "fromfrom");
    ASSERT_EQ(cairn_shared_close(file), 0);
  });
}

TEST(SharedNames, BecomesAnOrdinaryFileOfOneNodeUnlessItIsOpen) {
  Nodes nodes(3);
  std::ofstream(nodes.directory() + "/f") << std::string(4000, 'x');
  cairn_cover* cover = nullptr;
  ASSERT_EQ(cairn_cover_open(nodes.pool(1), nodes.directory().c_str(), nullptr, &cover), 0);
  nodes.start();
  run_ranks(nodes, 3, [&](Rank& rank) {
    cairn_shared* file = rank.open("f", O_RDWR);
    write_in_turns(rank, file, 1);
    ASSERT_EQ(cairn_shared_commit(file), 0);
    rank.barrier();
    if (rank.rank == 1) {
      EXPECT_EQ(cairn_shared_make_plain(rank.job, "f", 0), -EBUSY);
      EXPECT_NE(std::string(cairn_last_error()).find("f: it is open through MPI-IO"),
                std::string::npos);
    }
    rank.barrier();
    ASSERT_EQ(cairn_shared_close(file), 0);
    if (rank.rank == 1) {
      EXPECT_EQ(cairn_shared_make_plain(rank.job, "f", 0), 0) << cairn_last_error();
      cairn_file* plain = nullptr;
      ASSERT_EQ(cairn_open(nodes.pool(1), cairn_cover_top(cover), "f", O_RDWR, 0, &plain), 0);
      EXPECT_TRUE(text_of(plain) == in_turns(3, 1) + std::string(1000, 'x'));
      EXPECT_EQ(cairn_pwrite(plain, "!", 1, 0), 1);
      cairn_close(plain);
    }
    rank.barrier();
    stat_of(rank, "f", -ENOENT);
  });
  cairn_drain_report report = {};
  EXPECT_EQ(cairn_cover_drain(cover, nullptr, nullptr, nullptr, &report), 0) << cairn_last_error();
  std::string text;
  std::getline(std::ifstream(nodes.directory() + "/f"), text);
  EXPECT_EQ(text.substr(0, 2), "!a");
  EXPECT_EQ(text.size(), 4000U);
  cairn_cover_close(cover);
}

}  // namespace
}  // namespace cairn::test
