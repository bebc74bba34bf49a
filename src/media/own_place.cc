#include "media/own_place.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace cairn::media {
namespace {

constexpr const char* pattern = "-XXXXXX";

Status failed(const std::string& path) {
  const int error = errno;
  return fail(error, "%s: %s", path.c_str(), strerror(error));
}

bool is_closed(const struct stat& st) {
  return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 077) == 0;
}

Status check(const std::string& path, const struct stat& st) {
  if (!S_ISDIR(st.st_mode))
    return fail(ENOTDIR, "%s: not a directory; pools of this user belong there; move it away",
                path.c_str());
  if (is_closed(st)) return Status();
  return fail(EACCES,
              "%s: must be a directory of yours that is closed to others, and has mode %04o; close "
              "it with chmod 700",
              path.c_str(), static_cast<unsigned>(st.st_mode & 07777));
}

// Returns the first of the user's directories with the name of `usual`, a '-' and six characters;
// "" if there is none.
Result<std::string> other_place(const std::string& directory, const std::string& usual) {
  DIR* all = opendir(directory.c_str());
  if (all == nullptr) return failed(directory);
  const std::string prefix = usual.substr(directory.size() + 1) + "-";
  const size_t length = prefix.size() - 1 + std::strlen(pattern);
  std::string first;
  while (const dirent* entry = readdir(all)) {
    const std::string name = entry->d_name;
    struct stat st {};
    if (name.size() != length || name.compare(0, prefix.size(), prefix) != 0 ||
        fstatat(dirfd(all), name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0 || !is_closed(st))
      continue;
    if (first.empty() || name < first) first = name;
  }
  closedir(all);
  return first.empty() ? first : directory + "/" + first;
}

// Keeps two processes of the user from making a place each. Others can lock the directory as well,
// so no process waits long: two places may be made then, and all but one are removed.
class Making {
 public:
  explicit Making(const std::string& directory)
      : descriptor_(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    constexpr int most_tries = 100;
    constexpr useconds_t pause_us = 10'000;
    for (int i = 0; i < most_tries && flock(descriptor_, LOCK_EX | LOCK_NB) != 0; ++i)
      usleep(pause_us);
  }
  ~Making() { close(descriptor_); }
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;

 private:
  int descriptor_;
};

Result<std::string> make_other_place(const std::string& directory, const std::string& usual) {
  CAIRN_TRY_ASSIGN(there, other_place(directory, usual));
  if (!there.empty()) return there;
  const Making making(directory);
  CAIRN_TRY_ASSIGN(meanwhile, other_place(directory, usual));
  if (!meanwhile.empty()) return meanwhile;
  std::string made = usual + pattern;
  if (mkdtemp(made.data()) == nullptr) return failed(made);
  CAIRN_TRY_ASSIGN(first, other_place(directory, usual));
  if (first != made) rmdir(made.c_str());
  return first;
}

}  // namespace

Result<OwnPlace> own_place(const std::string& directory, bool create) {
  const std::string usual = directory + "/cairn-" + std::to_string(geteuid());
  struct stat st {};
  if (lstat(usual.c_str(), &st) != 0) {
    if (errno != ENOENT) return failed(usual);
    // Another user had taken the name, and has removed the directory since.
    CAIRN_TRY_ASSIGN(other, other_place(directory, usual));
    if (!other.empty()) return OwnPlace{other, {}};
    if (!create) return OwnPlace{usual, {}};
    if (mkdir(usual.c_str(), 0700) != 0 && errno != EEXIST) return failed(usual);
    if (lstat(usual.c_str(), &st) != 0) return failed(usual);
  }
  if (st.st_uid == geteuid()) {
    CAIRN_TRY(check(usual, st));
    return OwnPlace{usual, {}};
  }
  CAIRN_TRY_ASSIGN(other,
                   create ? make_other_place(directory, usual) : other_place(directory, usual));
  if (other.empty())
    return fail(ENOENT, "%s: belongs to user %u, not to you, and you have no pools beside it",
                usual.c_str(), st.st_uid);
  return OwnPlace{other, st.st_uid};
}

}  // namespace cairn::media
