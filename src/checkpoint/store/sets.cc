#include "checkpoint/store/sets.h"

#include <algorithm>

#include "checkpoint/store/set_names.h"
#include "checkpoint/store/set_record.h"
#include "file/recovery/damaged_names.h"
#include "tier/system/listing.h"

namespace cairn::checkpoint {

Result<std::vector<std::string>> list_sets(file::FileSystem& fs) {
  std::vector<std::string> names;
  CAIRN_TRY_ASSIGN(all, find_sets(fs));
  if (all == 0) return names;
  CAIRN_TRY_ASSIGN(inode, file::live_inode(fs, all));
  const file::Map map{inode, all};
  CAIRN_TRY_ASSIGN(finding, file::first_finding(fs, map));
  const auto add = [&](std::string name) {
    if (check_set_name(name).ok()) names.push_back(std::move(name));
  };
  if (finding.empty()) {
    CAIRN_TRY(tier::for_each_name(fs, map, false, [&](const file::Listed& listed) {
      add(tier::name_of(listed));
      return Status();
    }));
  } else {
    file::check_names(
        fs, map, [](const char* /*finding*/) {},
        [&](const file::Listed& listed) {
          const std::string recorded = recorded_name(fs, listed.inode);
          add(recorded.empty() ? tier::name_of(listed) : recorded);
        });
    for (const uint64_t number : file::find_unnamed(fs, map)) add(recorded_name(fs, number));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace cairn::checkpoint
