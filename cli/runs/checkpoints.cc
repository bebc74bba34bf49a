#include "runs/checkpoints.h"

#include <functional>
#include <string>

namespace cairn::cli {
namespace {

// Is there an entry, "." and ".." left out, that `is_wanted` accepts?
bool any_entry(const Pool& pool, cairn_ino directory,
               const std::function<bool(const cairn_dirent&)>& is_wanted) {
  cairn_dirent entries[16];
  uint64_t cookie = 0;
  for (;;) {
    const int count = cairn_readdir(pool.get(), directory, cookie, entries, 16);
    if (count <= 0) return false;
    for (int i = 0; i < count; ++i) {
      cookie = entries[i].cookie;
      if (entries[i].name[0] != '.' && is_wanted(entries[i])) return true;
    }
  }
}

}  // namespace

bool holds_checkpoints(const Pool& pool) {
  cairn_stat st{};
  if (cairn_lookup(pool.get(), CAIRN_ROOT, "/.checkpoints", CAIRN_NOFOLLOW, &st) != 0) return false;
  return any_entry(pool, st.ino, [&](const cairn_dirent& set) {
    return any_entry(pool, set.ino, [](const cairn_dirent& file) {
      return std::string(file.name).ends_with(".manifest");
    });
  });
}

}  // namespace cairn::cli
