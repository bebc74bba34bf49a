// A pool, a directory that it covers, and the operations of the C API by path.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cairn/cairn.h"
#include "cairn/cover.h"

namespace cairn::test {

namespace fs = std::filesystem;

// A directory that goes with the test.
class Scratch {
 public:
  explicit Scratch(const std::string& below);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] std::string path(const std::string& name) const { return root_ + "/" + name; }

 private:
  std::string root_;
};

// --- plain files ---
void put(const std::string& path, const std::string& text);
std::string get(const std::string& path);
// One line per name below `root`: type, mode, size, mtime, link target or checksum of the contents,
// users' attributes, names that share an inode.
struct TreeOptions {
  bool times = true;
};
std::map<std::string, std::string> describe(const std::string& root,
                                            const TreeOptions& options = {});
std::string difference(const std::map<std::string, std::string>& a,
                       const std::map<std::string, std::string>& b);

// --- an attached pool with a cover ---
struct Drained {
  int code = 0;
  cairn_drain_report report = {};
  std::vector<std::string> problems;
};

class Covered {
 public:
  Covered(const std::string& pool, const std::string& directory, bool join = false);
  ~Covered();
  Covered(const Covered&) = delete;
  Covered& operator=(const Covered&) = delete;

  cairn_pool* pool = nullptr;
  cairn_cover* cover = nullptr;
  cairn_ino top = 0;

  Drained drain();
  int discard();
  // Through the pool; paths are relative to the top.
  std::string read(const std::string& path);
  int write(const std::string& path, const std::string& text, uint64_t offset = 0);
  int create(const std::string& path, const std::string& text, uint32_t mode = 0644);
  std::vector<std::string> list(const std::string& path);
  cairn_stat stat(const std::string& path);
  // As describe() does it, through the pool.
  std::map<std::string, std::string> describe(const TreeOptions& options = {});
};

class CoverTest : public ::testing::Test {
 protected:
  CoverTest();
  void make_pool(uint64_t size = 64 << 20);
  // In lower: hello, dir/a of 300000 bytes, dir/deep/b, and link to dir/a.
  void put_some_files();
  // Drains, and expects lower to be what the pool shows, and another drain to have nothing to do.
  void expect_drained(Covered& covered);

  Scratch shared_{"/dev/shm"};
  Scratch disk_{testing::TempDir()};
  std::string pool_ = shared_.path("pool");
  std::string lower_ = disk_.path("lower");
};

}  // namespace cairn::test
