// Files are made, and given names, while the directory that they lie in gets another name itself.
// Whoever looks for a name on the other nodes looks for its path, which is another one on those
// that have renamed the directory already: two nodes must not have one file each of the same name
// in the end.
#include <fcntl.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "cluster/files_of_nodes.h"

namespace cairn::test {
namespace {

constexpr uint32_t node_count = 3;
const std::string names[] = {"d0", "d1"};

// A directory that goes from one name to the other and back until this is destroyed.
class Restless {
 public:
  explicit Restless(const CoveredNodes& covered)
      : thread_([this, &covered] {
          for (uint32_t i = 0; !ends_; ++i) {
            const std::string& from = names[i % 2];
            const std::string& to = names[(i + 1) % 2];
            EXPECT_EQ(cairn_shared_rename_name(covered.job(i / 2 % node_count), from.c_str(),
                                               to.c_str(), 0),
                      0)
                << cairn_last_error();
            ++renamed_;
          }
        }) {}
  ~Restless() {
    ends_ = true;
    thread_.join();
  }
  Restless(const Restless&) = delete;
  Restless& operator=(const Restless&) = delete;

  [[nodiscard]] uint64_t renamed() const { return renamed_; }

 private:
  std::atomic<bool> ends_ = false;
  std::atomic<uint64_t> renamed_ = 0;
  std::thread thread_;
};

int nodes_that_have(const CoveredNodes& covered, const std::string& path) {
  int nodes = 0;
  for (uint32_t node = 0; node < node_count; ++node)
    if (covered.mode(node, path.c_str()) != 0) ++nodes;
  return nodes;
}

// Calls call(node, directory, file) for each node at once, many times, while the directory is
// renamed; then no two nodes have one file.
template <typename Call>
void call_at_once(CoveredNodes& covered, Call call) {
  ASSERT_EQ(cairn_shared_mkdir(covered.job(0), "d0", 0755), 0);
  covered.nodes().latency = std::chrono::microseconds(300);
  constexpr int rounds = 20;
  {
    const Restless directory(covered);
    for (int round = 0; round < rounds; ++round) {
      std::vector<std::thread> threads;
      for (uint32_t i = 0; i < 2 * node_count; ++i)
        threads.emplace_back([&, i] {
          // Some find the directory under the name that they look for.
          for (int tries = 0; tries < 20; ++tries) {
            const int result =
                call(i % node_count, names[(i + tries) % 2], "f" + std::to_string(round), i);
            EXPECT_TRUE(result == 0 || result == -ENOENT || result == -ESTALE || result == -EEXIST)
                << result << ": " << cairn_last_error();
            if (result == 0) break;
          }
        });
      for (std::thread& thread : threads) thread.join();
    }
    EXPECT_GT(directory.renamed(), 0U);
  }
  int found = 0;
  for (int round = 0; round < rounds; ++round) {
    for (const std::string& directory : names) {
      const std::string path = directory + "/f" + std::to_string(round);
      const int nodes = nodes_that_have(covered, path);
      EXPECT_LE(nodes, 1) << path;
      found += nodes;
    }
  }
  EXPECT_GT(found, rounds / 2);
}

TEST(NamesInRenamedDirectories, AreMadeOnOneNodeOnly) {
  CoveredNodes covered(node_count);
  call_at_once(
      covered, [&](uint32_t node, const std::string& directory, const std::string& file, uint32_t) {
        return cairn_shared_mknod(covered.job(node), (directory + "/" + file).c_str(), 0640, 0);
      });
}

// Of a file on the own node.
TEST(NamesInRenamedDirectories, AreGivenOnOneNodeOnly) {
  CoveredNodes covered(node_count);
  call_at_once(covered, [&](uint32_t node, const std::string& directory, const std::string& file,
                            uint32_t number) {
    const std::string own = "own" + std::to_string(number);
    covered.make_file(node, own.c_str());
    const int result = cairn_shared_rename_name(covered.job(node), own.c_str(),
                                                (directory + "/" + file).c_str(), 0);
    if (result != 0) cairn_unlink(covered.pool(node), covered.top(node), own.c_str());
    return result;
  });
}

// Of a file on another one.
TEST(NamesInRenamedDirectories, AreGivenFromOtherNodes) {
  CoveredNodes covered(node_count);
  call_at_once(covered, [&](uint32_t node, const std::string& directory, const std::string& file,
                            uint32_t number) {
    const std::string own = "own" + std::to_string(number);
    const uint32_t holder = (node + 1) % node_count;
    covered.make_file(holder, own.c_str());
    const int result =
        cairn_shared_rename(covered.job(node), own.c_str(), (directory + "/" + file).c_str(), 0);
    if (result != 0) cairn_unlink(covered.pool(holder), covered.top(holder), own.c_str());
    return result;
  });
}

// A file is brought to one node after the other meanwhile.
TEST(NamesInRenamedDirectories, AreTakenAlongOnce) {
  CoveredNodes covered(node_count);
  call_at_once(covered, [&](uint32_t node, const std::string& directory, const std::string& file,
                            uint32_t number) {
    const std::string path = directory + "/" + file;
    if (number < node_count) return cairn_shared_mknod(covered.job(node), path.c_str(), 0640, 0);
    const int result = cairn_shared_fetch(covered.job(node), path.c_str());
    return result == -EBUSY ? -ENOENT : result;
  });
}

}  // namespace
}  // namespace cairn::test
