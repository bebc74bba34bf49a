// Imports a name from lower into its lazy directory.
#include "file/namespace/names.h"
#include "file/namespace/new_named.h"

namespace cairn::file {

using namespace names;  // NOLINT(google-build-using-namespace): the parts of this file

Status import_name(FileSystem& fs, uint64_t parent, std::string_view text,
                   const ImportedInode& imported, const Witness& lower) {
  // The directory is not entered by enter(): it is being filled just now.
  LockedName at(fs);
  auto name = checked_name(text);
  if (!name.ok()) return name.status();
  auto directory = live_map(fs, parent);
  if (!directory.ok()) return directory.status();
  at.name = *name;
  at.directory = *directory;
  CAIRN_TRY(at.lock());
  auto before = find_name(fs, at.directory, at.name, true);
  if (before.ok())
    return fail(EEXIST, "%.*s: file exists", static_cast<int>(text.size()), text.data());
  if (before.code() != ENOENT) return before.status();
  CAIRN_TRY(grow_index(fs, at.seat(), at.directory));
  NewNamed made(fs, at.seat());
  CAIRN_TRY(made.make(imported.mode));
  const Map map = made.map();
  const bool lazy = S_ISDIR(imported.mode) || (S_ISREG(imported.mode) && imported.size != 0);
  Pool& pool = fs.pool;
  pool.store(made->owner, imported.uid | static_cast<uint64_t>(imported.gid) << 32);
  pool.store(made->atime, imported.atime);
  pool.store(made->mtime, imported.mtime);
  pool.store(made->ctime, imported.ctime);
  pool.store(made->flags, lazy ? format::flag_lazy : 0);
  if (S_ISREG(imported.mode)) {
    pool.store(made->size, imported.size);
    pool.store(made->file.lower_units, imported.units + 1);
  }
  if (S_ISDIR(imported.mode)) pool.store(made->directory.lower_links, imported.links);
  pool.store(made->rdev, imported.rdev);
  pool.store(made->lower_parent, parent);
  pool.store(made->drained, imported.ctime);
  if (S_ISLNK(imported.mode)) CAIRN_TRY(made.write_target(imported.target));
  // The directory keeps its times: an import is not a user's change.
  CAIRN_TRY(made.name(at, DirentSlot(), &lower, 0));
  // A hint that saves a search; without it (killed just here) the directory is searched.
  auto slot = find_name(fs, at.directory, at.name);
  if (slot.ok()) pool.store_flush(map.inode->lower_unit, slot->unit + 1);
  return Status();
}

}  // namespace cairn::file
