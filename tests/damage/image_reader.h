// Looks at everything in a pool that may be damaged or hostile: attaches read-only, checks, walks
// all names and reads all bytes; then attaches for writing (with the recovery that is due) and does
// a little of everything. Nothing of it may crash or hang; errors are what is expected.
#pragma once

#include <fcntl.h>

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "cairn/cairn.h"

namespace cairn::test {

class ImageReader {
 public:
  explicit ImageReader(std::string path) : path_(std::move(path)) {}

  void look() {
    cairn_pool_check(
        path_.c_str(), [](void*, const char*) {}, nullptr);
    cairn_pool* pool = nullptr;
    if (cairn_pool_attach(path_.c_str(), CAIRN_ATTACH_READ_ONLY | CAIRN_ATTACH_NO_RECOVERY,
                          &pool) == 0) {
      read_everything(pool);
      cairn_pool_detach(pool);
    }
  }
  void use() {
    cairn_pool* pool = nullptr;
    if (cairn_pool_attach(path_.c_str(), 0, &pool) != 0) return;
    read_everything(pool);
    write_a_little(pool);
    cairn_pool_detach(pool);
  }

 private:
  static constexpr int most_names = 200;

  void read_everything(cairn_pool* pool) {
    cairn_pool_info info;
    cairn_pool_get_info(pool, &info);
    seen_.clear();
    names_ = 0;
    walk(pool, CAIRN_ROOT, 0);
  }
  void walk(cairn_pool* pool, cairn_ino directory, int depth) {
    if (depth > 8 || !seen_.insert(directory).second) return;
    cairn_dirent batch[16];
    for (uint64_t cookie = 0; names_ < most_names;) {
      const int n = cairn_readdir(pool, directory, cookie, batch, 16);
      if (n <= 0) return;
      for (int i = 0; i < n; ++i) {
        ++names_;
        const std::string name(batch[i].name, batch[i].length);
        // The first two are the directory itself and the one above; they have the cookies 1 and 2.
        const bool is_dots = name == "." || name == "..";
        if (is_dots && batch[i].cookie <= 2) continue;
        if (is_dots || name.empty() || name.find('/') != std::string::npos ||
            name.find('\0') != std::string::npos)
          std::abort();  // no name that a file can have
        visit(pool, directory, name, depth);
      }
      if (batch[n - 1].cookie == cookie) return;
      cookie = batch[n - 1].cookie;
    }
  }
  void visit(cairn_pool* pool, cairn_ino directory, const std::string& name, int depth) {
    cairn_stat st;
    char text[4096];
    cairn_readlink(pool, directory, name.c_str(), text, sizeof text);
    if (cairn_lookup(pool, directory, name.c_str(), CAIRN_NOFOLLOW, &st) != 0) return;
    cairn_getxattr(pool, st.ino, 0, "user.k", text, sizeof text);
    cairn_listxattr(pool, st.ino, 0, text, sizeof text);
    if ((st.mode & 0170000) == 0040000) walk(pool, st.ino, depth + 1);
    cairn_file* file = nullptr;
    if (cairn_open_ino(pool, st.ino, 0, O_RDONLY, &file) != 0) return;
    std::vector<uint8_t> bytes(100'000);
    for (uint64_t at : {uint64_t{0}, uint64_t{1} << 31, st.size > 100 ? st.size - 100 : 0})
      cairn_pread(file, bytes.data(), bytes.size(), at);
    cairn_seek(file, 0, 4 /* SEEK_HOLE */);
    cairn_close(file);
  }
  static void write_a_little(cairn_pool* pool) {
    cairn_file* file = nullptr;
    const std::vector<uint8_t> bytes(30'000, 7);
    for (const char* name : {"new", "a", "b", "d/c"}) {
      if (cairn_open(pool, CAIRN_ROOT, name, O_CREAT | O_RDWR, 0600, &file) != 0) continue;
      cairn_pwrite(file, bytes.data(), bytes.size(), 50'000);
      cairn_setxattr(pool, cairn_file_ino(file), 0, "user.n", "1", 1, 0);
      cairn_ftruncate(file, 10'000);
      cairn_close(file);
    }
    cairn_rename(pool, CAIRN_ROOT, "a", CAIRN_ROOT, "d/a", 0);
    cairn_rename(pool, CAIRN_ROOT, "d", CAIRN_ROOT, "e", 0);
    for (const char* name : {"new", "b", "e/c", "e/a", "d/c"}) cairn_unlink(pool, CAIRN_ROOT, name);
    cairn_rmdir(pool, CAIRN_ROOT, "e");
    cairn_space space;
    cairn_statfs(pool, &space);
  }

  std::string path_;
  std::set<cairn_ino> seen_;
  int names_ = 0;
};

}  // namespace cairn::test
