#include "cluster/paths_of.h"

#include <sys/stat.h>

#include <algorithm>

#include "cluster/spot.h"
#include "tier/listing.h"

namespace cairn::cluster {
namespace {

// `path` ends in "/", or is empty.
Status look_in(Job& job, const file::Map& directory, const std::string& path,
               const file::Seen& inode, std::vector<std::string>* paths) {
  // Nothing has been made in one that still lies in the covered directory.
  if ((directory.inode->flags.load() & format::flag_lazy) != 0) return Status();
  return tier::for_each_name(job.fs(), directory, false, [&](const file::Listed& listed) -> Status {
    const std::string name = path + tier::name_of(listed);
    if (listed.inode == inode.number) paths->push_back(name);
    const auto child = file::live_inode(job.fs(), listed.inode);
    if (!child.ok() || !S_ISDIR((*child)->mode.load())) return Status();  // or it has just gone
    return look_in(job, {*child, listed.inode}, name + "/", inode, paths);
  });
}

}  // namespace

Result<std::vector<std::string>> paths_of(Job& job, const file::Seen& inode) {
  std::vector<std::string> paths;
  CAIRN_TRY_ASSIGN(top, top_of(job));
  CAIRN_TRY_ASSIGN(directory, file::live_inode(job.fs(), top));
  CAIRN_TRY(look_in(job, {directory, top}, "", inode, &paths));
  return paths;
}

Result<std::string> path_now(Job& job, const std::string& before, const file::Seen& inode) {
  const auto leads_to_it = [&](const std::string& path) {
    const auto spot = spot_of(job, path);
    return spot.ok() && spot->is(inode);
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
