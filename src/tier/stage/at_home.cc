#include "tier/stage/at_home.h"

#include "tier/lower/lower.h"
#include "tier/record/locate.h"
#include "tier/system/listing.h"

namespace cairn::tier {

std::optional<file::Listed> name_at_home(file::FileSystem& fs, const file::Map& map) {
  const uint64_t parent = map.inode->lower_parent.load();
  const uint64_t unit = home_unit(*map.inode);
  if (parent == 0 || unit == 0 || has_left_home(*map.inode)) return std::nullopt;
  auto directory = file::live_inode(fs, parent);
  if (!directory.ok()) return std::nullopt;
  auto entry = entry_of(fs, {*directory, parent}, unit, map.number);
  if (!entry.ok() || !entry->has_lower || unit_of(*entry) + 1 != unit) return std::nullopt;
  return *entry;
}

std::optional<std::string> home_of_directory(file::FileSystem& fs, uint64_t directory) {
  constexpr unsigned deepest = 4096;
  std::string path;
  uint64_t at = directory;
  for (unsigned depth = 0; depth < deepest; ++depth) {
    auto inode = file::live_inode(fs, at);
    if (!inode.ok()) return std::nullopt;
    const uint64_t parent = (*inode)->lower_parent.load();
    if (parent == 0) {
      auto cover = cover_of_top(fs, at);
      return cover.ok() && *cover != nullptr ? std::optional(path) : std::nullopt;
    }
    const auto name = name_at_home(fs, {*inode, at});
    if (!name) return std::nullopt;
    path.insert(0, "/" + name_of(*name));
    at = parent;
  }
  return std::nullopt;
}

bool is_directory_at_home(file::FileSystem& fs, uint64_t directory) {
  return home_of_directory(fs, directory).has_value();
}

}  // namespace cairn::tier
