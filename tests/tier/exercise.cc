#include "tier/exercise.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

namespace cairn::test {
namespace {

int code(int result) { return result < 0 ? -errno : 0; }

int put_at(const std::string& path, int flags, const std::string& text, uint64_t offset) {
  const int fd = open(path.c_str(), flags, 0644);
  if (fd < 0) return -errno;
  const ssize_t n = pwrite(fd, text.data(), text.size(), static_cast<off_t>(offset));
  close(fd);
  return n < 0 ? -EIO : 0;
}

}  // namespace

std::string Exercise::random_path() {
  std::string path = std::string(1, static_cast<char>('a' + below(6)));
  for (uint64_t depth = below(3); depth > 0; --depth)
    path += std::string("/") + static_cast<char>('a' + below(6));
  return path;
}

void Exercise::populate(const std::string& root) {
  for (int i = 0; i < 40; ++i) {
    const std::string path = root + "/" + random_path();
    const std::string text(below(20000), static_cast<char>('A' + below(26)));
    switch (below(4)) {
      case 0:
        mkdir(path.c_str(), 0755);
        break;
      case 1:
        if (symlink("a/b", path.c_str()) != 0) break;
        break;
      default:
        put_at(path, O_WRONLY | O_CREAT | O_EXCL, text, 0);
    }
  }
}

Exercise::Operation Exercise::choose() {
  Operation o;
  o.kind = static_cast<int>(below(16));
  o.from = random_path();
  o.to = random_path();
  o.number = below(30000);
  o.text = std::string(1 + below(9000), static_cast<char>('a' + below(26)));
  return o;
}

int Exercise::in_pool(Covered& covered, const Operation& o) {
  cairn_pool* pool = covered.pool;
  const cairn_ino top = covered.top;
  cairn_stat st = {};
  const auto open_at = [&](int flags, uint64_t offset) {
    cairn_file* file = nullptr;
    const int result = cairn_open(pool, top, o.from.c_str(), flags, 0644, &file);
    if (result != 0) return result;
    const ssize_t n = cairn_pwrite(file, o.text.data(), o.text.size(), offset);
    cairn_close(file);
    return n < 0 ? -EIO : 0;
  };
  const auto on_inode = [&](auto call) {
    const int result = cairn_lookup(pool, top, o.from.c_str(), CAIRN_NOFOLLOW, &st);
    if (result != 0) return result;
    return S_ISLNK(st.mode) ? -ELOOP : call();
  };
  switch (o.kind) {
    case 0:
      return cairn_mkdir(pool, top, o.from.c_str(), 0755);
    case 1:
    case 2:
      return open_at(O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0);
    case 3:
    case 4:
      return open_at(O_WRONLY | O_NOFOLLOW, o.number);
    case 5:
      return open_at(O_WRONLY | O_TRUNC | O_NOFOLLOW, 0);
    case 6:
      return cairn_unlink(pool, top, o.from.c_str());
    case 7:
      return cairn_rmdir(pool, top, o.from.c_str());
    case 8:
    case 9:
    case 10:
      return cairn_rename(pool, top, o.from.c_str(), top, o.to.c_str(), 0);
    case 11:
      return cairn_link(pool, top, o.from.c_str(), top, o.to.c_str(), CAIRN_NOFOLLOW);
    case 12:
      return cairn_symlink(pool, "a/b", top, o.from.c_str());
    case 13:
      return on_inode([&] { return cairn_chmod(pool, st.ino, 0, S_ISDIR(st.mode) ? 0710 : 0640); });
    case 14:
      return on_inode(
          [&] { return S_ISREG(st.mode) ? cairn_truncate(pool, st.ino, 0, o.number) : -EISDIR; });
    default:
      return on_inode(
          [&] { return cairn_setxattr(pool, st.ino, 0, "user.number", o.text.data(), 5, 0); });
  }
}

int Exercise::in_plain(const std::string& root, const Operation& o) {
  const std::string from = root + "/" + o.from;
  const std::string to = root + "/" + o.to;
  struct stat st = {};
  const auto on_inode = [&](auto call) {
    if (lstat(from.c_str(), &st) != 0) return -errno;
    return S_ISLNK(st.st_mode) ? -ELOOP : code(call());
  };
  switch (o.kind) {
    case 0:
      return code(mkdir(from.c_str(), 0755));
    case 1:
    case 2:
      return put_at(from, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, o.text, 0);
    case 3:
    case 4:
      return put_at(from, O_WRONLY | O_NOFOLLOW, o.text, o.number);
    case 5:
      return put_at(from, O_WRONLY | O_TRUNC | O_NOFOLLOW, o.text, 0);
    case 6:
      return code(unlink(from.c_str()));
    case 7:
      return code(rmdir(from.c_str()));
    case 8:
    case 9:
    case 10:
      return code(rename(from.c_str(), to.c_str()));
    case 11:
      return code(link(from.c_str(), to.c_str()));
    case 12:
      return code(symlink("a/b", from.c_str()));
    case 13:
      return on_inode([&] { return chmod(from.c_str(), S_ISDIR(st.st_mode) ? 0710 : 0640); });
    case 14:
      return on_inode([&] {
        if (S_ISREG(st.st_mode)) return truncate(from.c_str(), static_cast<off_t>(o.number));
        errno = EISDIR;
        return -1;
      });
    default:
      return on_inode([&] { return setxattr(from.c_str(), "user.number", o.text.data(), 5, 0); });
  }
}

void Exercise::step(Covered& covered, const std::string& plain) {
  const Operation o = choose();
  const int expected = in_plain(plain, o);
  const int result = in_pool(covered, o);
  // Where two errors are to be told, either will do.
  ASSERT_EQ(result == 0, expected == 0)
      << "result " << result << " "
      << "operation " << o.kind << " " << o.from << " " << o.to << ": " << cairn_last_error();
}

void Exercise::step(Covered& covered) { in_pool(covered, choose()); }

void break_links(const std::string& root) {
  std::vector<std::string> linked;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    struct stat st = {};
    if (lstat(entry.path().c_str(), &st) == 0 && !S_ISDIR(st.st_mode) && st.st_nlink > 1)
      linked.push_back(entry.path());
  }
  for (const std::string& path : linked) {
    const std::string aside = root + "/aside";
    // cp keeps the attributes, which the standard library does not.
    ASSERT_EQ(std::system(("cp -a '" + path + "' '" + aside + "'").c_str()), 0);
    fs::rename(aside, path);
  }
}

}  // namespace cairn::test
