#include "tier/cover_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/crc32c.h"

namespace cairn::test {
namespace {

std::string hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(value));
  return text;
}

struct Described {
  uint32_t mode = 0;
  uint64_t size = 0;
  int64_t mtime = 0;
  uint32_t links = 0;
  std::string contents;
  std::string attributes;
};

std::string line_of(const Described& d, const TreeOptions& options) {
  std::string line = "mode " + hex(d.mode);
  if (!S_ISDIR(d.mode))
    line += " size " + std::to_string(d.size) + " links " + std::to_string(d.links);
  if (options.times) line += " mtime " + std::to_string(d.mtime);
  if (S_ISREG(d.mode)) line += " crc " + hex(crc32c(0, d.contents.data(), d.contents.size()));
  if (S_ISLNK(d.mode)) line += " to " + d.contents;
  return line + " " + d.attributes;
}

std::string attributes_of(const std::string& path) {
  char list[4096];
  const ssize_t n = llistxattr(path.c_str(), list, sizeof list);
  std::map<std::string, std::string> found;
  for (ssize_t at = 0; at < n; at += static_cast<ssize_t>(strlen(list + at)) + 1) {
    char value[4096];
    const ssize_t size = lgetxattr(path.c_str(), list + at, value, sizeof value);
    if (strncmp(list + at, "user.", 5) == 0 && size >= 0)
      found[list + at] = std::string(value, static_cast<size_t>(size));
  }
  std::string text;
  for (const auto& [name, value] : found) text += name + "=" + value + ";";
  return text;
}

std::string pool_attributes(cairn_pool* pool, cairn_ino ino) {
  char list[4096];
  const ssize_t n = cairn_listxattr(pool, ino, 0, list, sizeof list);
  std::map<std::string, std::string> found;
  for (ssize_t at = 0; at < n; at += static_cast<ssize_t>(strlen(list + at)) + 1) {
    char value[4096];
    const ssize_t size = cairn_getxattr(pool, ino, 0, list + at, value, sizeof value);
    if (size >= 0) found[list + at] = std::string(value, static_cast<size_t>(size));
  }
  std::string text;
  for (const auto& [name, value] : found) text += name + "=" + value + ";";
  return text;
}

}  // namespace

Scratch::Scratch(const std::string& below) {
  std::string name = below + "/cairn-tier-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) std::abort();
  root_ = fs::canonical(name).string();
}

Scratch::~Scratch() {
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(root_, ignored))
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored))
      fs::permissions(entry.path(), fs::perms::owner_all, fs::perm_options::add, ignored);
  fs::remove_all(root_, ignored);
}

void put(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  ASSERT_TRUE(file.good()) << path;
}

std::string get(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return "(no such file)";
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::map<std::string, std::string> describe(const std::string& root, const TreeOptions& options) {
  std::map<std::string, std::string> tree;
  std::vector<std::string> paths = {""};
  for (const auto& entry : fs::recursive_directory_iterator(root))
    paths.push_back(entry.path().string().substr(root.size()));
  for (const std::string& path : paths) {
    if (path == "/.cairn-claim") continue;
    struct stat st = {};
    if (lstat((root + path).c_str(), &st) != 0) continue;
    Described d{st.st_mode,
                static_cast<uint64_t>(st.st_size),
                st.st_mtim.tv_sec * 1'000'000'000 + st.st_mtim.tv_nsec,
                static_cast<uint32_t>(st.st_nlink),
                "",
                attributes_of(root + path)};
    if (S_ISREG(st.st_mode)) d.contents = get(root + path);
    if (S_ISLNK(st.st_mode)) d.contents = fs::read_symlink(root + path).string();
    tree[path] = line_of(d, options);
  }
  return tree;
}

std::string difference(const std::map<std::string, std::string>& a,
                       const std::map<std::string, std::string>& b) {
  std::string text;
  for (const auto& [path, line] : a) {
    const auto other = b.find(path);
    if (other == b.end())
      text += "only in the first: " + path + " " + line + "\n";
    else if (other->second != line)
      text += path + ":\n   " + line + "\n   " + other->second + "\n";
  }
  for (const auto& [path, line] : b)
    if (a.count(path) == 0) text += "only in the second: " + path + " " + line + "\n";
  return text;
}

Covered::Covered(const std::string& path, const std::string& directory, bool join) {
  EXPECT_EQ(cairn_pool_attach(path.c_str(), 0, &pool), 0) << cairn_last_error();
  cairn_cover_options options = {};
  options.struct_size = sizeof options;
  options.job = "job-1";
  const int result = join ? cairn_cover_join(pool, directory.c_str(), &cover)
                          : cairn_cover_open(pool, directory.c_str(), &options, &cover);
  EXPECT_EQ(result, 0) << cairn_last_error();
  if (result == 0) top = cairn_cover_top(cover);
}

Covered::~Covered() {
  cairn_cover_close(cover);
  cairn_pool_detach(pool);
}

Drained Covered::drain() {
  Drained drained;
  const auto problem = [](void* context, const char* text) {
    static_cast<Drained*>(context)->problems.emplace_back(text);
  };
  drained.code = cairn_cover_drain(cover, nullptr, problem, &drained, &drained.report);
  return drained;
}

int Covered::discard() {
  const int result = cairn_cover_discard(cover);
  if (result == 0) cover = nullptr;
  return result;
}

std::string Covered::read(const std::string& path) {
  cairn_file* file = nullptr;
  const int result = cairn_open(pool, top, path.c_str(), O_RDONLY, 0, &file);
  if (result != 0) return std::string("(error ") + strerror(-result) + ")";
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t n = cairn_read(file, buffer, sizeof buffer);
    if (n < 0) text = std::string("(error ") + strerror(static_cast<int>(-n)) + ")";
    if (n <= 0) break;
    text.append(buffer, static_cast<size_t>(n));
  }
  cairn_close(file);
  return text;
}

int Covered::write(const std::string& path, const std::string& text, uint64_t offset) {
  cairn_file* file = nullptr;
  int result = cairn_open(pool, top, path.c_str(), O_WRONLY, 0, &file);
  if (result != 0) return result;
  const ssize_t n = cairn_pwrite(file, text.data(), text.size(), offset);
  if (n != static_cast<ssize_t>(text.size())) result = n < 0 ? static_cast<int>(n) : -ENOSPC;
  cairn_close(file);
  return result;
}

int Covered::create(const std::string& path, const std::string& text, uint32_t mode) {
  cairn_file* file = nullptr;
  int result = cairn_open(pool, top, path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, mode, &file);
  if (result != 0) return result;
  const ssize_t n = cairn_write(file, text.data(), text.size());
  if (n != static_cast<ssize_t>(text.size())) result = n < 0 ? static_cast<int>(n) : -ENOSPC;
  cairn_close(file);
  return result;
}

std::vector<std::string> Covered::list(const std::string& path) {
  std::vector<std::string> names;
  cairn_stat st = {};
  const int result = cairn_lookup(pool, top, path.c_str(), 0, &st);
  if (result != 0) return {std::string("(error ") + strerror(-result) + ")"};
  uint64_t cookie = 0;
  cairn_dirent entries[16];
  for (;;) {
    const int n = cairn_readdir(pool, st.ino, cookie, entries, 16);
    if (n <= 0) break;
    for (int i = 0; i < n; ++i) {
      const std::string name(entries[i].name, entries[i].length);
      if (name != "." && name != "..") names.push_back(name);
    }
    cookie = entries[n - 1].cookie;
  }
  std::sort(names.begin(), names.end());
  return names;
}

cairn_stat Covered::stat(const std::string& path) {
  cairn_stat st = {};
  if (cairn_lookup(pool, top, path.c_str(), CAIRN_NOFOLLOW, &st) != 0) st = {};
  return st;
}

std::map<std::string, std::string> Covered::describe(const TreeOptions& options) {
  std::map<std::string, std::string> tree;
  std::vector<std::string> paths = {""};
  while (!paths.empty()) {
    const std::string path = paths.back();
    paths.pop_back();
    const std::string relative = path.empty() ? "." : path.substr(1);
    const cairn_stat st = stat(relative);
    Described d{st.mode, st.size, st.mtime_ns, st.nlink, "", pool_attributes(pool, st.ino)};
    if (S_ISREG(st.mode)) d.contents = read(relative);
    if (S_ISLNK(st.mode)) {
      char target[4096];
      const ssize_t n = cairn_readlink(pool, top, relative.c_str(), target, sizeof target);
      d.contents.assign(target, n < 0 ? 0 : static_cast<size_t>(n));
    }
    tree[path] = line_of(d, options);
    if (S_ISDIR(st.mode))
      for (const std::string& name : list(relative)) paths.push_back(path + "/" + name);
  }
  return tree;
}

CoverTest::CoverTest() { fs::create_directory(lower_); }

void CoverTest::make_pool(uint64_t size) {
  cairn_pool_options options = {};
  options.struct_size = sizeof options;
  options.size = size;
  ASSERT_EQ(cairn_pool_create(pool_.c_str(), &options), 0) << cairn_last_error();
}

void CoverTest::put_some_files() {
  fs::create_directories(lower_ + "/dir/deep");
  put(lower_ + "/hello", "hello, world\n");
  put(lower_ + "/dir/a", std::string(300000, 'a'));
  put(lower_ + "/dir/deep/b", "bbb");
  fs::create_symlink("dir/a", lower_ + "/link");
}

void CoverTest::expect_drained(Covered& covered) {
  const auto shown = covered.describe();
  const Drained drained = covered.drain();
  EXPECT_EQ(drained.code, 0) << cairn_last_error();
  for (const std::string& problem : drained.problems) ADD_FAILURE() << problem;
  EXPECT_EQ(difference(shown, describe(lower_)), "");
  const Drained again = covered.drain();
  EXPECT_EQ(again.code, 0) << cairn_last_error();
  EXPECT_EQ(again.report.files + again.report.removed + again.report.directories, 0u);
  EXPECT_EQ(difference(covered.describe(), describe(lower_)), "");
}

}  // namespace cairn::test
