#include "posix/loader/below.h"

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"

namespace posix::below {

bool is_unchanged(const Found& found, const char* path) {
  struct stat st;
  if (found.shared || (found.st.flags & CAIRN_FILE_LAZY) == 0 || real::stat(path, &st) != 0)
    return false;
  const int64_t changed = st.st_mtim.tv_sec * int64_t{1'000'000'000} + st.st_mtim.tv_nsec;
  return S_ISREG(st.st_mode) && static_cast<uint64_t>(st.st_size) == found.st.size &&
         changed == found.st.mtime_ns && st.st_mode == found.st.mode && st.st_uid == found.st.uid &&
         st.st_gid == found.st.gid;
}

static bool is_there(const char* path) { return real::access(path, F_OK) == 0; }

static bool is_as_shown(const char* path) {
  Found found;
  return find_existing(AT_FDCWD, path, 0, &found) == 0 && !found.outside() &&
         is_unchanged(found, path);
}

// Returns true if a directory for processors below `path` has such a library. `length`: bytes of
// `path` so far. These directories are nested in any order (glibc before 2.37).
static bool processors_have(char* path, size_t length, const char* name, int depth) {
  constexpr int kDeepest = 4;
  static constexpr const char* kNames[] = {"glibc-hwcaps", "x86-64-v2", "x86-64-v3", "x86-64-v4",
                                           "power9",       "power10",   "tls",       "haswell",
                                           "xeon_phi",     "avx512_1",  "atomics",   nullptr};
  const auto* platform = reinterpret_cast<const char*>(getauxval(AT_PLATFORM));
  for (const char* const* one = kNames;; ++one) {
    const char* directory = *one != nullptr ? *one : platform;
    if (directory == nullptr) return false;
    const size_t left = PATH_MAX - length;
    const auto added = static_cast<size_t>(snprintf(path + length, left, "/%s", directory));
    if (added < left && is_there(path)) {
      const size_t own = length + added;
      const bool fits =
          snprintf(path + own, PATH_MAX - own, "/%s", name) < static_cast<int>(PATH_MAX - own);
      if (fits && is_there(path) && !is_as_shown(path)) return true;
      if (depth < kDeepest && processors_have(path, own, name, depth + 1)) return true;
    }
    if (*one == nullptr) return false;
  }
}

bool has_hidden(const char* path, bool shown) {
  const char* slash = strrchr(path, '/');
  if (slash == nullptr) return false;
  if (!shown && is_there(path)) return true;
  char place[PATH_MAX];
  const auto length = static_cast<size_t>(slash - path);
  if (length >= sizeof place) return false;
  memcpy(place, path, length);
  place[length] = '\0';
  return is_there(length > 0 ? place : "/") && processors_have(place, length, slash + 1, 0);
}

}  // namespace posix::below
