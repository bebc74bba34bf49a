#include "checkpoint/store/sets.h"

#include <algorithm>

#include "checkpoint/store/set_file.h"
#include "file/namespace/names.h"
#include "tier/record/record.h"
#include "tier/system/listing.h"

namespace cairn::checkpoint {

Result<std::vector<std::string>> list_sets(file::FileSystem& fs) {
  std::vector<std::string> names;
  CAIRN_TRY_ASSIGN(all, tier::find_child(fs, format::root_inode, checkpoints_directory));
  if (all == 0) return names;
  CAIRN_TRY_ASSIGN(inode, file::live_inode(fs, all));
  CAIRN_TRY(tier::for_each_name(fs, {inode, all}, false, [&](const file::Listed& listed) {
    std::string name = tier::name_of(listed);
    if (check_set_name(name).ok()) names.push_back(std::move(name));
    return Status();
  }));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace cairn::checkpoint
