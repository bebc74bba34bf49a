// Processes of several nodes make an ordinary file of the same name in the same moment: one node
// has it then.
#include <fcntl.h>

#include <atomic>
#include <thread>

#include "cluster/files_of_nodes.h"

namespace cairn::test {
namespace {

// How many of so many calls at once, on three nodes in turn, succeed; the others find the name
// taken.
template <typename Call>
int how_many_may(uint32_t calls, Call call) {
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < calls; ++i)
    threads.emplace_back([&, i] {
      const int result = call(i % 3);
      EXPECT_TRUE(result == 0 || result == -EEXIST) << cairn_last_error();
      if (result == 0) ++done;
    });
  for (std::thread& thread : threads) thread.join();
  return done;
}

TEST(OrdinaryFilesOfOtherNodes, AreMadeOnOneNodeOnly) {
  CoveredNodes covered(3);
  for (int round = 0; round < 40; ++round) {
    const std::string name = "f" + std::to_string(round);
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < 6; ++i)
      threads.emplace_back([&, i] {
        const int result = cairn_shared_mknod(covered.job(i % 3), name.c_str(), 0640, 0);
        EXPECT_TRUE(result == 0 || result == -EEXIST || result == -ESTALE) << cairn_last_error();
      });
    for (std::thread& thread : threads) thread.join();
    int nodes = 0;
    for (uint32_t node = 0; node < 3; ++node)
      if (covered.mode(node, name.c_str()) != 0) ++nodes;
    EXPECT_EQ(nodes, 1) << name;
  }
}

TEST(OrdinaryFilesOfOtherNodes, AreRenamedToOneNameOnOneNodeOnly) {
  CoveredNodes covered(3);
  for (int round = 0; round < 40; ++round) {
    const std::string name = "to" + std::to_string(round);
    std::vector<std::thread> threads;
    for (uint32_t node = 0; node < 3; ++node) covered.make_file(node, ("from" + name).c_str());
    for (uint32_t node = 0; node < 3; ++node)
      threads.emplace_back([&, node] {
        EXPECT_EQ(
            cairn_shared_rename_name(covered.job(node), ("from" + name).c_str(), name.c_str(), 0),
            0)
            << cairn_last_error();
      });
    for (std::thread& thread : threads) thread.join();
    int nodes = 0;
    for (uint32_t node = 0; node < 3; ++node)
      if (covered.mode(node, name.c_str()) != 0) ++nodes;
    EXPECT_EQ(nodes, 1) << name;
  }
}

int nodes_with(const CoveredNodes& covered, const std::string& name) {
  int nodes = 0;
  for (uint32_t node = 0; node < 3; ++node)
    if (covered.mode(node, name.c_str()) != 0) ++nodes;
  return nodes;
}

// renameat2(2) with RENAME_NOREPLACE, of files on the own node and on another one, while others
// make files of the name.
TEST(OrdinaryFilesOfOtherNodes, OneOfManyGetsANameThatMustBeFree) {
  CoveredNodes covered(3);
  covered.nodes().latency = std::chrono::microseconds(300);
  for (int round = 0; round < 30; ++round) {
    const std::string name = "to" + std::to_string(round);
    const auto old_name = [&](uint32_t i) { return "from" + std::to_string(i) + name; };
    constexpr uint32_t calls = 6;
    for (uint32_t i = 0; i < calls; ++i) covered.make_file(i % 3, old_name(i).c_str());
    std::atomic<int> renamed = 0;
    std::atomic<int> made = 0;
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < calls; ++i)
      threads.emplace_back([&, i] {
        const bool is_own = i < 3;
        const uint32_t node = is_own ? i : (i + 1) % 3;
        const auto rename = is_own ? cairn_shared_rename_name : cairn_shared_rename;
        const int result = rename(covered.job(node), old_name(i).c_str(), name.c_str(), 1);
        EXPECT_TRUE(result == 0 || result == -EEXIST) << result << ": " << cairn_last_error();
        if (result == 0) ++renamed;
        // Who is refused has his file as before.
        EXPECT_EQ(covered.mode(i % 3, old_name(i).c_str()) == 0, result == 0) << old_name(i);
      });
    if (round % 3 != 0)
      threads.emplace_back([&] {
        const int result = cairn_shared_mknod(covered.job(2), name.c_str(), 0640, round % 3 - 1);
        EXPECT_TRUE(result == 0 || result == -EEXIST || result == -ESTALE) << cairn_last_error();
        if (result == 0) ++made;
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(renamed + made, 1) << name;
    EXPECT_EQ(nodes_with(covered, name), 1) << name;
  }
}

// The same of what all nodes have: it is on all of them, or an ordinary file on one.
TEST(OrdinaryFilesOfOtherNodes, LinksGetANameThatMustBeFree) {
  CoveredNodes covered(3);
  covered.nodes().latency = std::chrono::microseconds(300);
  for (int round = 0; round < 30; ++round) {
    const std::string name = "to" + std::to_string(round);
    const std::string old_name = "from" + name;
    ASSERT_EQ(cairn_shared_symlink(covered.job(0), "x", old_name.c_str()), 0);
    int renamed = 0;
    int made = 0;
    std::thread maker([&] {
      made = cairn_shared_mknod(covered.job(1 + round % 2), name.c_str(), 0640, 0);
      EXPECT_TRUE(made == 0 || made == -EEXIST || made == -ESTALE) << cairn_last_error();
    });
    renamed = cairn_shared_rename_name(covered.job(0), old_name.c_str(), name.c_str(), 1);
    EXPECT_TRUE(renamed == 0 || renamed == -EEXIST) << cairn_last_error();
    maker.join();
    EXPECT_NE(renamed == 0, made == 0) << name;
    EXPECT_EQ(nodes_with(covered, name), renamed == 0 ? 3 : 1) << name;
    EXPECT_EQ(covered.mode(old_name.c_str()) == 0, renamed == 0);
  }
}

TEST(OrdinaryFilesOfOtherNodes, OneOfManyMakesIt) {
  CoveredNodes covered(3);
  for (int round = 0; round < 20; ++round) {
    const std::string name = "lock" + std::to_string(round);
    EXPECT_EQ(how_many_may(6,
                           [&](uint32_t node) {
                             return cairn_shared_mknod(covered.job(node), name.c_str(), 0640, 1);
                           }),
              1);
  }
}

int link_own(const CoveredNodes& covered, uint32_t node, const char* from, const char* to) {
  cairn_stat st = {};
  EXPECT_EQ(cairn_lookup(covered.pool(node), covered.top(node), from, 0, &st), 0);
  return cairn_shared_link(covered.job(node), st.ino, st.generation, to);
}

// As with O_EXCL on one host and without on another.
TEST(OrdinaryFilesOfOtherNodes, HoweverTheyAreMadeOneNodeHasThem) {
  CoveredNodes covered(3);
  covered.make_file(2, "linked");
  for (int round = 0; round < 60; ++round) {
    const std::string name = "f" + std::to_string(round);
    covered.make_file(1, "from");
    std::atomic<int> exclusive = 0;
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      const int result = cairn_shared_mknod(covered.job(0), name.c_str(), 0640, 1);
      EXPECT_TRUE(result == 0 || result == -EEXIST) << cairn_last_error();
      if (result == 0) ++exclusive;
    });
    threads.emplace_back([&] {
      const int result = round % 2 == 0
                             ? cairn_shared_mknod(covered.job(1), name.c_str(), 0640, 0)
                             : cairn_shared_rename_name(covered.job(1), "from", name.c_str(), 0);
      EXPECT_TRUE(result == 0 || result == -EEXIST || result == -ESTALE) << cairn_last_error();
    });
    threads.emplace_back([&] {
      const int result = link_own(covered, 2, "linked", name.c_str());
      EXPECT_TRUE(result == 0 || result == -EEXIST) << cairn_last_error();
      if (result == 0) ++exclusive;
    });
    for (std::thread& thread : threads) thread.join();
    int nodes = 0;
    for (uint32_t node = 0; node < 3; ++node)
      if (covered.mode(node, name.c_str()) != 0) ++nodes;
    EXPECT_EQ(nodes, 1) << name;
    // A rename replaces what the other one has made.
    EXPECT_LE(exclusive, 1) << name;
    cairn_unlink(covered.pool(1), covered.top(1), "from");
  }
}

// A lock file, as it is made over network file systems: linked to its name.
TEST(OrdinaryFilesOfOtherNodes, OneOfManyLinksToAName) {
  CoveredNodes covered(3);
  for (uint32_t node = 0; node < 3; ++node) covered.make_file(node, std::to_string(node).c_str());
  for (int round = 0; round < 20; ++round) {
    const std::string name = "lock" + std::to_string(round);
    EXPECT_EQ(how_many_may(6,
                           [&](uint32_t node) {
                             return link_own(covered, node, std::to_string(node).c_str(),
                                             name.c_str());
                           }),
              1);
  }
}

// As a process does it that knows nothing of nodes: looks, then opens what is there or makes it.
cairn_file* open_or_make(const CoveredNodes& covered, uint32_t node, const char* path) {
  cairn_job* const job = covered.job(node);
  cairn_file* file = nullptr;
  for (int i = 0; i < 10'000; ++i) {
    cairn_stat st = {};
    int error = 0;
    if (cairn_lookup(covered.pool(node), covered.top(node), path, 0, &st) == 0) {
      error = cairn_open_ino(covered.pool(node), st.ino, st.generation, O_RDWR, &file);
    } else if (cairn_shared_stat_ordinary(job, path, &st) == 0) {
      error = cairn_shared_make_plain(job, path, 0);
      if (error == -EBUSY) error = cairn_shared_open_writer(job, path, O_RDWR, &file);
    } else {
      error = cairn_shared_create(job, path, O_RDWR | O_CREAT, 0640, &file);
    }
    if (file != nullptr) return file;
    EXPECT_TRUE(error == 0 || error == -ESTALE || error == -EEXIST || error == -ENOENT)
        << error << ": " << cairn_last_error();
  }
  ADD_FAILURE() << path << " changes faster than it can be opened";
  return nullptr;
}

// As IOR opens its file on all ranks.
TEST(OrdinaryFilesOfOtherNodes, AllThatMakeOneAtOnceHaveTheSame) {
  CoveredNodes covered(3);
  constexpr uint32_t writers = 6;
  for (int round = 0; round < 60; ++round) {
    const std::string name = "together" + std::to_string(round);
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < writers; ++i)
      threads.emplace_back([&, i] {
        cairn_file* file = open_or_make(covered, i % 3, name.c_str());
        if (file == nullptr) return;
        const char byte = static_cast<char>('a' + i);
        EXPECT_EQ(cairn_pwrite(file, &byte, 1, i), 1) << cairn_last_error();
        cairn_close(file);
      });
    for (std::thread& thread : threads) thread.join();
    int nodes = 0;
    for (uint32_t node = 0; node < 3; ++node) {
      if (covered.mode(node, name.c_str()) == 0) continue;
      ++nodes;
      EXPECT_EQ(read_own(covered, node, name.c_str()), "abcdef");
    }
    EXPECT_EQ(nodes, 1) << name;
  }
}

}  // namespace
}  // namespace cairn::test
