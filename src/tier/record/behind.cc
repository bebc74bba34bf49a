#include "tier/record/behind.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <set>
#include <vector>

#include "file/inode/attributes.h"
#include "tier/lower/lower_base.h"
#include "tier/record/locate.h"
#include "tier/system/listing.h"

namespace cairn::tier {
namespace {

// Was one directory changed in lower since it was imported? `below` gets its directories that the
// pool has imported.
Result<bool> is_directory_behind(file::FileSystem& fs, uint64_t number,
                                 std::vector<uint64_t>* below) {
  CAIRN_TRY_ASSIGN(inode, file::live_inode(fs, number));
  if (file::is_lazy(*inode)) return false;
  const auto located = locate(fs, number);
  if (located.code() == ESTALE) return false;  // it was moved out of a directory that was removed
  CAIRN_TRY(located.status());
  const LowerLocation& place = *located;
  const int64_t opened = open_lower(place, O_RDONLY | O_DIRECTORY);
  if (opened == -ENOENT || opened == -ENOTDIR || opened == -ELOOP) return true;
  if (opened < 0) return sys::failed(opened, "cannot be listed", place.path);
  const sys::Descriptor directory(static_cast<int>(opened));
  std::vector<sys::DirectoryEntry> entries;
  if (const int64_t result = sys::list(directory.get(), &entries); result < 0)
    return sys::failed(result, "cannot be listed", place.path);
  std::set<std::string> names;
  for (sys::DirectoryEntry& entry : entries)
    if (place.parent == 0 ? !is_hidden_at_top(entry.name) : !is_hidden(entry.name))
      names.insert(std::move(entry.name));
  bool is_behind = false;
  CAIRN_TRY(for_each_name(fs, {inode, number}, true, [&](const file::Listed& listed) -> Status {
    names.erase(name_of(listed));
    if (is_behind || !listed.has_lower || listed.whiteout) return Status();
    sys::FileStat st = {};
    const int64_t found = sys::lstatat(directory.get(), listed.name, &st);
    if (found < 0 && found != -ENOENT && found != -ENOTDIR)
      return sys::failed(found, "stat", place.path + "/" + name_of(listed));
    if (found == 0 && is_remembered(*place.cover, listed.lower, st)) {
      if (S_ISDIR(st.st_mode)) below->push_back(listed.inode);
      return Status();
    }
    CAIRN_TRY_ASSIGN(named, file::live_inode(fs, listed.inode));
    is_behind = file::attributes_of(fs, {named, listed.inode}).ctime == named->drained.load();
    return Status();
  }));
  return is_behind || !names.empty();
}

}  // namespace

Result<bool> is_behind(file::FileSystem& fs, uint64_t top) {
  std::vector<uint64_t> directories = {top};
  while (!directories.empty()) {
    const uint64_t directory = directories.back();
    directories.pop_back();
    CAIRN_TRY_ASSIGN(behind, is_directory_behind(fs, directory, &directories));
    if (behind) return true;
  }
  return false;
}

}  // namespace cairn::tier
