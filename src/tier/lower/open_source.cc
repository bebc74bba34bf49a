#include "tier/lower/open_source.h"

#include <sys/stat.h>

#include "file/namespace/names.h"
#include "file/space/make_room.h"
#include "format/inode.h"
#include "pool/lanes/seats.h"
#include "tier/lower/lower.h"

namespace cairn::tier {
namespace {

// Makes a lazy inode. It counts one open more than there is, so that it stays.
Result<file::Map> make_lazy(file::FileSystem& fs, pool::LocalSeat& seat,
                            const SourceAttributes& attributes, ContentSource& source) {
  constexpr uint64_t root = 1;
  auto directory = file::live_inode(fs, root);
  if (!directory.ok()) return directory.status();
  auto made =
      file::create_unnamed(fs, seat, **directory, S_IFREG | (attributes.mode & 07777), false);
  if (!made.ok()) return made.status();
  file::Inode& inode = *made->inode;
  fs.pool.store(inode.owner, attributes.uid | static_cast<uint64_t>(attributes.gid) << 32);
  fs.pool.store(inode.atime, attributes.mtime);
  fs.pool.store(inode.mtime, attributes.mtime);
  fs.pool.store(inode.ctime, attributes.mtime);
  fs.pool.store(inode.size, attributes.size);
  if (attributes.size != 0 || source.remote() != nullptr)
    fs.pool.store(inode.flags, format::flag_lazy);
  return made;
}

}  // namespace

Result<std::unique_ptr<file::File>> open_source(file::FileSystem& fs,
                                                const SourceAttributes& attributes, int flags,
                                                std::shared_ptr<ContentSource> source) {
  LowerTree& lower = lower_of(fs);
  lower.sources().clean(fs);
  return file::with_room(fs, [&]() -> Result<std::unique_ptr<file::File>> {
    pool::SeatGuard seat(fs.pool);
    if (!seat.ok()) return pool::no_seat(fs.pool);
    auto made = make_lazy(fs, *seat, attributes, *source);
    if (!made.ok()) return made.status();
    lower.sources().add(*made, source);
    return file::open_unnamed(fs, *seat, *made, flags);
  });
}

}  // namespace cairn::tier
