#include "checkpoint/store/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "file/data/io.h"
#include "file/data/sync.h"
#include "file/namespace/names.h"
#include "file/space/make_room.h"
#include "pool/lanes/seats.h"

namespace cairn::checkpoint {
namespace {

using file::File;
using file::FileSystem;

Result<std::unique_ptr<File>> open_new(FileSystem& fs, uint64_t directory) {
  CAIRN_TRY_ASSIGN(inode, file::live_inode(fs, directory));
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  CAIRN_TRY_ASSIGN(made, file::create_unnamed(fs, *seat, *inode, S_IFREG | 0600, true));
  return file::open_unnamed(fs, *seat, made, O_RDWR);
}

Status fill_in(File& file, const NewFile& what) {
  if (what.size > what.bytes.size()) CAIRN_TRY(file::grow_size(file, what.size));
  if (what.is_allocated) CAIRN_TRY(file::allocate(file, 0, what.size));
  CAIRN_TRY_ASSIGN(written, file::write_at(file, what.bytes.data(), what.bytes.size(), 0));
  if (written != what.bytes.size())
    return fail(ENOSPC, "pool %s: no room for %zu bytes", file.fs->pool.path.c_str(),
                what.bytes.size() - written);
  return file::sync_file(*file.fs, file.map());
}

}  // namespace

Status publish_file(FileSystem& fs, uint64_t directory, const std::string& name,
                    const NewFile& what) {
  CAIRN_TRY_ASSIGN(file, file::with_room(fs, [&] { return open_new(fs, directory); }));
  Status status = fill_in(*file, what);
  if (status.ok())
    status =
        file::with_room(fs, [&] { return file::link_inode(fs, file->number, directory, name); });
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  file::close_file(*seat, std::move(file));
  return status.ok() ? status : annotate(status, "%s", name.c_str());
}

Result<std::vector<uint8_t>> read_begin(File& file, uint64_t most) {
  std::vector<uint8_t> bytes(static_cast<size_t>(std::min(file.inode->size.load(), most)));
  CAIRN_TRY_ASSIGN(n, file::read_at(file, bytes.data(), bytes.size(), 0));
  bytes.resize(n);
  return bytes;
}

}  // namespace cairn::checkpoint
