#include "tier/stage/import.h"

#include <fcntl.h>

#include <algorithm>
#include <vector>

#include "base/coarse_clock.h"
#include "file/inode/attributes.h"
#include "file/inode/xattr.h"
#include "file/namespace/names.h"
#include "tier/claim/claim.h"
#include "tier/lower/import_lock.h"
#include "tier/lower/lower.h"
#include "tier/lower/lower_base.h"
#include "tier/record/attributes.h"
#include "tier/record/locate.h"
#include "tier/record/record.h"

namespace cairn::tier {

Status Importer::fill_directory(uint64_t number) {
  auto inode = file::live_inode(fs_, number);
  if (!inode.ok()) return inode.status();
  const file::Map map{*inode, number};
  if (fs_.pool.read_only)
    return fail(EROFS, "a directory that was not entered yet; pool %s is attached read-only",
                fs_.pool.path.c_str());
  const ImportLock lock(fs_, map);
  if (!lock.ok()) return pool::no_seat(fs_.pool);
  if ((map.inode->flags.load() & format::flag_lazy) == 0) return Status();
  auto place = locate(fs_, number);
  if (!place.ok()) return place.status();
  CAIRN_TRY(import_names(*place, number));
  return file::set_flags(fs_, number, 0, format::flag_lazy);
}

Status Importer::import_names(const LowerLocation& place, uint64_t number) {
  const int64_t opened = open_lower(place, O_RDONLY | O_DIRECTORY);
  if (opened < 0) return sys::failed(opened, "cannot be listed", place.path);
  const sys::Descriptor directory(static_cast<int>(opened));
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(directory.get(), &st); result < 0)
    return sys::failed(result, "stat", place.path);
  if (place.parent != 0 && !is_remembered(*place.cover, place.witness, st))
    return fail(ESTALE, "%s: it was replaced by another directory outside Cairn",
                place.path.c_str());
  CAIRN_TRY_ASSIGN(inode, file::live_inode(fs_, number));
  CAIRN_TRY(note_default_list(fs_, {inode, number}, directory.get()));
  std::vector<sys::DirectoryEntry> entries;
  if (const int64_t result = sys::list(directory.get(), &entries); result < 0)
    return sys::failed(result, "cannot be listed", place.path);
  for (const sys::DirectoryEntry& entry : entries)
    if (entry.name == claim_file && place.parent != 0)
      CAIRN_TRY(refuse_covered(fs_, directory.get(), place.path));
  uint64_t newest = sys::ctime_of(st);
  for (const sys::DirectoryEntry& entry : entries) {
    if (place.parent == 0 ? !is_hidden_at_top(entry.name) : !is_hidden(entry.name))
      CAIRN_TRY(import_one(place, number, directory.get(), entry.name, &newest));
  }
  return raise_newest(fs_, number, newest);
}

Status Importer::import_one(const LowerLocation& place, uint64_t directory, int fd,
                            const std::string& name, uint64_t* newest) {
  sys::FileStat st = {};
  const int64_t result = sys::lstatat(fd, name.c_str(), &st);
  if (result == -ENOENT) return Status();  // it was removed since it was listed
  const std::string path = place.path + "/" + name;
  if (result < 0) return sys::failed(result, "stat", path);
  file::ImportedInode imported = {};
  imported.mode = st.st_mode;
  imported.uid = st.st_uid;
  imported.gid = st.st_gid;
  imported.size = S_ISREG(st.st_mode) ? static_cast<uint64_t>(st.st_size) : 0;
  imported.units = static_cast<uint64_t>(st.st_blocks);
  imported.links = st.st_nlink;
  imported.atime = sys::atime_of(st);
  imported.mtime = sys::mtime_of(st);
  // Every later change must have a later ctime, even if the clock of lower's host is ahead of this
  // one's.
  imported.ctime = std::min(sys::ctime_of(st), coarse_now_ns() - 1);
  imported.rdev = S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode) ? st.st_rdev : 0;
  if (S_ISLNK(st.st_mode)) {
    if (const int64_t read = sys::read_link(fd, name.c_str(), &imported.target); read < 0)
      return read == -ENOENT || read == -EINVAL ? Status() : sys::failed(read, "readlink", path);
  }
  *newest = std::max(*newest, sys::ctime_of(st));
  const file::Witness witness =
      S_ISDIR(st.st_mode) ? directory_witness(*place.cover, st, 0) : witness_of(*place.cover, st);
  const Status status = file::import_name(fs_, directory, name, imported, witness);
  // EEXIST: a process that was killed here may have made the name only.
  if (!status.ok() && status.code() != EEXIST) return annotate(status, "%s", path.c_str());
  if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) return Status();
  return import_attributes(fs_, directory, name, {fd, name.c_str(), st});
}

}  // namespace cairn::tier
