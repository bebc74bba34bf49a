// POOL:/path, :/path and /path: naming a file in a pool.
#pragma once

#include <cairn/cairn.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "frame/config.h"
#include "pools/pool_handle.h"

namespace cairn::cli {

struct PoolPath {
  bool in_pool = false;  // false: an ordinary file (only where those are allowed)
  std::string pool;      // name or path of the pool, "" for the configured one
  std::string path;      // in the pool: absolute
};

// NAME:/path, :/path; /dir/pool:/path. Where `local_allowed`, text without such a prefix is an
// ordinary file, else a path in the configured pool. "./a:b" is always an ordinary file.
PoolPath parse_pool_path(const std::string& text, bool local_allowed);

// Throws if `path` is what Cairn keeps for itself in the pool: covers with their
// undrained data, and checkpoints.
void refuse_own_names(const std::string& path);

// Pools that the arguments of one command name, attached once each.
class Pools {
 public:
  Pools(const Config& config, unsigned flags) : config_(config), flags_(flags) {}
  Pool& at(const std::string& name);

 private:
  const Config& config_;
  unsigned flags_;
  std::map<std::string, Pool> pools_;
};

// "/a/b" and "c" → "/a/b/c".
std::string join(const std::string& directory, const std::string& name);
// The last component: "c" of "/a/b/c/"; "/" of "/".
std::string base_name(const std::string& path);

bool is_directory(const cairn_stat& st);
// Status of a path in the pool. `follow` symbolic links at the end.
cairn_stat stat_of(const Pool& pool, const std::string& path, bool follow = true);
// 0, or the negative errno.
int try_stat(const Pool& pool, const std::string& path, bool follow, cairn_stat* st);

struct Entry {
  std::string name;
  cairn_stat st;
};

// The target of a symbolic link, which is shown as `path`.
std::string read_link(const Pool& pool, cairn_ino link, const std::string& path);

// "drwxr-xr-x"
std::string mode_text(uint32_t mode);
// "file", "directory", "link", ...
std::string type_text(uint32_t mode);
Json stat_json(const std::string& path, const cairn_stat& st);

}  // namespace cairn::cli
