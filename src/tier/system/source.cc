#include "tier/system/source.h"

#include <vector>

namespace cairn::tier {

void Sources::add(const file::Map& map, std::shared_ptr<ContentSource> source) {
  const std::lock_guard guard(mutex_);
  sources_[key_of(map)] = std::move(source);
}

void Sources::clean(file::FileSystem& fs) {
  std::vector<std::shared_ptr<ContentSource>> gone;
  const std::lock_guard guard(mutex_);
  for (auto one = sources_.begin(); one != sources_.end();) {
    const auto [number, generation] = one->first;
    const auto inode = file::live_inode(fs, number);
    if (inode.ok() && (*inode)->generation.load() == generation) {
      ++one;
      continue;
    }
    gone.push_back(std::move(one->second));
    one = sources_.erase(one);
  }
}

std::shared_ptr<ContentSource> Sources::find(const file::Map& map) {
  const std::lock_guard guard(mutex_);
  const auto found = sources_.find(key_of(map));
  return found == sources_.end() ? nullptr : found->second;
}

}  // namespace cairn::tier
