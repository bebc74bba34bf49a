#include "cluster/local/paths_of.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "cluster/local/local_entry.h"
#include "file/namespace/tree.h"
#include "tier/system/listing.h"

namespace cairn::cluster {
Result<std::vector<std::string>> paths_of(Job& job, const file::Seen& inode) {
  std::vector<std::string> paths;
  CAIRN_TRY_ASSIGN(top, top_of(job));
  CAIRN_TRY_ASSIGN(directory, file::live_inode(job.fs(), top));
  struct Where {
    file::Map map;
    std::string path;  // ends in "/", or is empty
  };
  std::vector<Where> directories = {{{directory, top}, ""}};
  file::Tree tree(job.fs(), top);
  while (!directories.empty()) {
    const Where where = std::move(directories.back());
    directories.pop_back();
    // Nothing has been made in one that still lies in the covered directory.
    if ((where.map.inode->flags.load() & format::flag_lazy) != 0) continue;
    const auto visit = [&](const file::Listed& listed) -> Status {
      const std::string name = where.path + tier::name_of(listed);
      if (listed.inode == inode.number) paths.push_back(name);
      const auto child = file::live_inode(job.fs(), listed.inode);
      if (!child.ok() || !S_ISDIR((*child)->mode.load())) return Status();  // or it has just gone
      CAIRN_TRY(tree.enter(where.map, listed));
      directories.push_back({{*child, listed.inode}, name + "/"});
      return Status();
    };
    CAIRN_TRY(tier::for_each_name(job.fs(), where.map, false, visit));
  }
  return paths;
}

Result<std::string> path_now(Job& job, const std::string& before, const file::Seen& inode) {
  const auto leads_to_it = [&](const std::string& path) {
    const auto entry = local_entry(job, path);
    return entry.ok() && entry->is(inode);
  };
  if (leads_to_it(before)) return before;
  const auto live = file::live_inode(job.fs(), inode.number);
  if (!live.ok() || (*live)->links.load() == 0) return std::string();
  CAIRN_TRY_ASSIGN(paths, paths_of(job, inode));
  // Of several names the one that a directory above may just have moved.
  std::stable_partition(paths.begin(), paths.end(), [&](const std::string& path) {
    return path.substr(path.rfind('/') + 1) == before.substr(before.rfind('/') + 1);
  });
  const auto found = std::find_if(paths.begin(), paths.end(), leads_to_it);
  return found == paths.end() ? std::string() : *found;
}

}  // namespace cairn::cluster
