#include "cluster/rpc/file_change.h"

#include "file/data/truncate.h"
#include "file/inode/attributes.h"
#include "file/space/make_room.h"
#include "pool/lanes/seats.h"

namespace cairn::cluster {

Status change_file(file::FileSystem& fs, const file::Map& map, uint64_t generation,
                   const FileChange& change) {
  constexpr uint64_t same = FileChange::same;
  if (change.size != same)
    CAIRN_TRY(
        file::with_room(fs, [&] { return file::truncate(fs, map, change.size, generation); }));
  const pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  const file::Remote::Change& to = change.attributes;
  // The same as no number of theirs.
  if (to.uid != same || to.gid != same)
    CAIRN_TRY(file::set_owner(fs, *seat, map, static_cast<uint32_t>(to.uid),
                              static_cast<uint32_t>(to.gid), generation));
  if (to.mode != same)
    CAIRN_TRY(file::set_mode(fs, *seat, map, static_cast<uint32_t>(to.mode), generation));
  static_assert(file::time_omit == file::Remote::Change::same_time);
  if (to.atime == file::time_omit && to.mtime == file::time_omit) return Status();
  return file::set_times(fs, *seat, map, to.atime, to.mtime, generation);
}

}  // namespace cairn::cluster
