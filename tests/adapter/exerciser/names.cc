// What is done by name.
#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "adapter/exerciser/worlds.h"

namespace exerciser {

bool Exerciser::open_step() {
  static const int access[] = {O_RDWR, O_RDWR, O_RDWR, O_RDONLY, O_WRONLY};
  int flags = access[below(std::size(access))];
  if (one_in(2)) flags |= O_CREAT;
  if (one_in(6)) flags |= O_EXCL;
  if (one_in(6)) flags |= O_TRUNC;
  if (one_in(6)) flags |= O_APPEND;
  if (one_in(10)) flags |= O_NOFOLLOW;
  if (one_in(20)) flags |= O_DIRECTORY;
  if (one_in(20)) flags = one_in(2) ? O_PATH : flags | O_PATH;
  std::string which = name();
  // Without O_CREAT, O_EXCL has no defined meaning.
  if ((flags & O_CREAT) == 0) flags &= ~O_EXCL;
  if (one_in(15)) {
    flags = O_TMPFILE | O_RDWR;
    which = one_in(2) ? "d1" : ".";
  }
  const mode_t mode = one_in(3) ? 0600 : 0644;
  Pair pair{};
  pair.flags = flags;
  const bool relative = one_in(3), by_number = one_in(4);
  const bool same =
      both("open " + which + " " + std::to_string(flags), [&](int w, std::string*) -> long {
        if (relative) {
          const int top = open(root_[w].c_str(), O_DIRECTORY | O_RDONLY | O_CLOEXEC);
          pair.fd[w] = by_number
                           ? static_cast<int>(syscall(SYS_openat, top, which.c_str(), flags, mode))
                           : openat(top, which.c_str(), flags, mode);
          const int error = errno;
          close(top);
          errno = error;
        } else {
          pair.fd[w] = open(path(w, which).c_str(), flags, mode);
        }
        return pair.fd[w] < 0 ? -1 : 0;
      });
  if (!same) return false;
  if (last_.value < 0) return true;
  struct stat st {};
  fstat(pair.fd[1], &st);
  if (pairs_.size() < 8 && !S_ISDIR(st.st_mode)) {
    history_.back() += " fd " + std::to_string(pair.fd[0]);
    pairs_.push_back(pair);
    return true;
  }
  return both("close", [&](int w, std::string*) { return close(pair.fd[w]); });
}

bool Exerciser::name_step() {
  const std::string from = name(), to = name();
  const std::string names = " " + from + " " + to;
  switch (below(14)) {
    case 0:
      return both("mkdir " + from,
                  [&](int w, std::string*) { return mkdir(path(w, from).c_str(), 0755); });
    case 1:
      return both("rmdir " + from,
                  [&](int w, std::string*) { return rmdir(path(w, from).c_str()); });
    case 2:
    case 3:
      return both("unlink " + from,
                  [&](int w, std::string*) { return unlink(path(w, from).c_str()); });
    case 4:
      return both("remove " + from,
                  [&](int w, std::string*) { return remove(path(w, from).c_str()); });
    case 5:
    case 6:
      return both("rename" + names, [&](int w, std::string*) {
        return rename(path(w, from).c_str(), path(w, to).c_str());
      });
    case 7: {
      const unsigned flags = one_in(2) ? RENAME_EXCHANGE : RENAME_NOREPLACE;
      return both("renameat2 " + std::to_string(flags) + names, [&](int w, std::string*) {
        return renameat2(AT_FDCWD, path(w, from).c_str(), AT_FDCWD, path(w, to).c_str(), flags);
      });
    }
    case 8:
      return both("link" + names, [&](int w, std::string*) {
        return link(path(w, from).c_str(), path(w, to).c_str());
      });
    case 9:
      // ".." leads to where others work.
      if (from.find("..") != std::string::npos) return true;
      return both("symlink" + names,
                  [&](int w, std::string*) { return symlink(from.c_str(), path(w, to).c_str()); });
    case 10:
      return both("readlink " + from, [&](int w, std::string* data) {
        char text[300];
        const ssize_t got = readlink(path(w, from).c_str(), text, sizeof text);
        if (got > 0) data->assign(text, static_cast<size_t>(got));
        return got;
      });
    case 11:
      return both("truncate " + from, [&, at = static_cast<off_t>(offset())](int w, std::string*) {
        return truncate(path(w, from).c_str(), at);
      });
    case 12: {
      if (pairs_.empty()) return true;
      const Pair& pair = pairs_[below(pairs_.size())];
      return both("linkat of a descriptor " + to, [&](int w, std::string*) {
        const std::string link = "/proc/self/fd/" + std::to_string(pair.fd[w]);
        return linkat(AT_FDCWD, link.c_str(), AT_FDCWD, path(w, to).c_str(), AT_SYMLINK_FOLLOW);
      });
    }
    default:
      return both("mknod " + from, [&](int w, std::string*) {
        return mknod(path(w, from).c_str(), S_IFREG | 0600, 0);
      });
  }
}

bool Exerciser::attribute_step() {
  const std::string which = name();
  const std::string attribute = "user." + std::to_string(below(3));
  const std::string value = bytes(below(50));
  const auto show = [](const struct stat& st) {
    std::string text = std::to_string(st.st_mode) + " " + std::to_string(st.st_nlink);
    if (!S_ISDIR(st.st_mode)) text += " " + std::to_string(st.st_size);
    return text;
  };
  switch (below(10)) {
    case 0:
      return both("stat " + which, [&](int w, std::string* data) {
        struct stat st {};
        const int done = stat(path(w, which).c_str(), &st);
        if (done == 0) *data = show(st);
        return done;
      });
    case 1:
      return both("lstat " + which, [&](int w, std::string* data) {
        struct stat st {};
        const int done = lstat(path(w, which).c_str(), &st);
        if (done == 0) *data = show(st);
        return done;
      });
    case 2:
      return both("statx " + which, [&](int w, std::string* data) {
        struct statx st {};
        const int done = statx(AT_FDCWD, path(w, which).c_str(), 0, STATX_BASIC_STATS, &st);
        if (done == 0)
          *data = std::to_string(st.stx_mode) + " " + std::to_string(st.stx_nlink) + " " +
                  (S_ISREG(st.stx_mode) ? std::to_string(st.stx_size) : "");
        return done;
      });
    case 3: {
      const int mode = static_cast<int>(below(8));
      return both("access " + which,
                  [&](int w, std::string*) { return access(path(w, which).c_str(), mode); });
    }
    case 4: {
      static const mode_t modes[] = {0600, 0644, 0755, 0700, 01777, 04755, 0444};
      const mode_t mode = modes[below(std::size(modes))];
      return both("chmod " + which,
                  [&](int w, std::string*) { return chmod(path(w, which).c_str(), mode); });
    }
    case 5: {
      const timespec times[2] = {
          {static_cast<time_t>(below(1 << 30)), 5},
          {static_cast<time_t>(below(1 << 30)), static_cast<long>(below(1000000000))}};
      const int flags = one_in(2) ? AT_SYMLINK_NOFOLLOW : 0;
      return both("utimensat " + which, [&](int w, std::string* data) {
        const int done = utimensat(AT_FDCWD, path(w, which).c_str(), times, flags);
        struct stat st {};
        if (done == 0 && fstatat(AT_FDCWD, path(w, which).c_str(), &st, flags) == 0)
          *data = std::to_string(st.st_mtim.tv_sec) + "." + std::to_string(st.st_mtim.tv_nsec);
        // A link that leads to itself is followed on the way to it, which on a plain file system is
        // an access.
        if (done == 0 && !S_ISLNK(st.st_mode)) *data += " " + std::to_string(st.st_atim.tv_sec);
        return done;
      });
    }
    case 6: {
      const int flags = static_cast<int>(below(3));
      return both("setxattr " + which, [&](int w, std::string*) {
        return setxattr(path(w, which).c_str(), attribute.c_str(), value.data(), value.size(),
                        flags);
      });
    }
    case 7: {
      const size_t room = one_in(3) ? below(40) : 100;
      return both("getxattr " + which, [&](int w, std::string* data) {
        char got[100];
        const ssize_t size = getxattr(path(w, which).c_str(), attribute.c_str(), got, room);
        if (size > 0 && room > 0) data->assign(got, static_cast<size_t>(size));
        return size;
      });
    }
    case 8:
      return both("listxattr " + which, [&](int w, std::string* data) {
        char got[1000];
        const ssize_t size = listxattr(path(w, which).c_str(), got, sizeof got);
        std::vector<std::string> names;
        for (ssize_t at = 0; at < size; at += static_cast<ssize_t>(names.back().size()) + 1)
          names.emplace_back(got + at);
        std::sort(names.begin(), names.end());
        for (const std::string& one : names) *data += one + " ";
        return size;
      });
    default:
      return both("removexattr " + which, [&](int w, std::string*) {
        return removexattr(path(w, which).c_str(), attribute.c_str());
      });
  }
}

// A whole tree, by the C library's way of walking one.
bool Exerciser::tree_step() {
  const std::string which = one_in(2) ? name() : ".";
  if (which.find("..") != std::string::npos) return true;  // others work there
  const int options = (one_in(2) ? FTS_PHYSICAL : FTS_LOGICAL) | (one_in(4) ? FTS_COMFOLLOW : 0) |
                      (one_in(4) ? FTS_SEEDOT : 0) | FTS_NOCHDIR;
  return both("fts " + std::to_string(options) + " " + which,
              [&](int w, std::string* data) -> long {
                std::string root = path(w, which);
                char* const roots[] = {root.data(), nullptr};
                FTS* walk = fts_open(roots, options, [](const FTSENT** a, const FTSENT** b) {
                  return std::string_view((*a)->fts_path).compare((*b)->fts_path);
                });
                if (walk == nullptr) return -1;
                long entries = 0;
                // A walk that follows links may be long.
                for (const FTSENT* entry; entries < 1000 && (entry = fts_read(walk)) != nullptr;
                     ++entries) {
                  *data += (entry->fts_path + std::min(root_[w].size(), strlen(entry->fts_path)));
                  *data += " " + std::to_string(entry->fts_info) + " ";
                }
                fts_close(walk);
                return entries;
              });
}

// Reads a directory whole, goes back to a place in the middle, and reads on.
bool Exerciser::directory_step() {
  const std::string which = one_in(3) ? name() : one_in(2) ? "d1" : ".";
  const uint64_t middle = below(6);
  return both("readdir " + which, [&](int w, std::string* data) -> long {
    DIR* stream = opendir(path(w, which).c_str());
    if (stream == nullptr) return -1;
    std::vector<std::string> names;
    long place = telldir(stream);
    size_t from = 0;
    while (const dirent* entry = readdir(stream)) {
      names.emplace_back(entry->d_name);
      if (names.size() == middle) place = telldir(stream), from = middle;
    }
    seekdir(stream, place);
    for (size_t i = from; i < names.size(); ++i) {
      const dirent* entry = readdir(stream);
      if (entry == nullptr || names[i] != entry->d_name) *data += "seekdir leads elsewhere ";
    }
    if (readdir(stream) != nullptr) *data += "seekdir finds more ";
    rewinddir(stream);
    if ((readdir(stream) != nullptr) == names.empty()) *data += "rewinddir does not ";
    closedir(stream);
    std::sort(names.begin(), names.end());
    for (const std::string& one : names) *data += one + " ";
    return static_cast<long>(names.size());
  });
}

}  // namespace exerciser
