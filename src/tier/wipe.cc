#include "tier/wipe.h"

#include <sys/stat.h>

#include <vector>

#include "file/names.h"
#include "tier/listing.h"
#include "tier/record.h"

namespace cairn::tier {
namespace {

Status gone_is_fine(Status status) {
  return status.code() == ENOENT || status.code() == ESTALE ? Status() : status;
}

// Removes the files of one directory and tells of its directories.
Status wipe_files(file::FileSystem& fs, uint64_t number, std::vector<std::string>* directories) {
  auto inode = file::live_inode(fs, number);
  if (!inode.ok()) return Status();
  // Nothing is imported any more for the sake of being removed.
  CAIRN_TRY(gone_is_fine(file::set_flags(fs, number, 0, format::flag_lazy)));
  return for_each_name(fs, {*inode, number}, false, [&](const file::Listed& listed) -> Status {
    if (listed.type == S_IFDIR >> 12) {
      directories->push_back(name_of(listed));
      return Status();
    }
    return gone_is_fine(file::unlink_name(fs, number, name_of(listed)));
  });
}

}  // namespace

Status wipe(file::FileSystem& fs, uint64_t parent, const std::string& name) {
  struct Level {
    uint64_t parent;
    std::string name;
    uint64_t inode;
    std::vector<std::string> directories;  // still to be removed
  };
  std::vector<Level> way;
  const auto enter = [&](uint64_t above, const std::string& child) -> Status {
    auto inode = find_child(fs, above, child);
    if (!inode.ok()) return gone_is_fine(inode.status());
    if (*inode == 0) return Status();
    way.push_back({above, child, *inode, {}});
    return wipe_files(fs, *inode, &way.back().directories);
  };
  CAIRN_TRY(enter(parent, name));
  while (!way.empty()) {
    Level& level = way.back();
    if (!level.directories.empty()) {
      const std::string child = std::move(level.directories.back());
      level.directories.pop_back();
      CAIRN_TRY(enter(level.inode, child));
      continue;
    }
    CAIRN_TRY(gone_is_fine(file::remove_directory(fs, level.parent, level.name)));
    way.pop_back();
  }
  return Status();
}

}  // namespace cairn::tier
