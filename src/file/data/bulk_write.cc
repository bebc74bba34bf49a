#include "file/data/bulk_write.h"

#include "file/data/access.h"
#include "file/data/write_bytes.h"
#include "file/inode/attributes.h"
#include "file/space/make_room.h"
#include "file/space/missing_space.h"
#include "pool/lanes/seats.h"

namespace cairn::file {

Status write_bulk(File& file, const void* bytes, size_t size, uint64_t offset) {
  FileSystem& fs = *file.fs;
  CAIRN_TRY(check_write(file, offset, size));
  if (size == 0) return Status();
  CAIRN_TRY(check_buffer(file, bytes, size));
  if (is_lazy(file)) return without_lower(file);
  if (offset + size > file.inode->size.load())
    return fail(EFBIG, "inode %llu: %zu bytes at offset %llu reach beyond its end",
                static_cast<unsigned long long>(file.number), size,
                static_cast<unsigned long long>(offset));
  uint64_t done = 0;
  const Status status = with_room(fs, [&] {
    pool::SeatGuard seat(fs.pool, file.number);
    if (!seat.ok()) return pool::no_seat(fs.pool);
    uint64_t written = 0;
    const Status result =
        write_bytes(fs, seat, file.map(), &file, static_cast<const uint8_t*>(bytes) + done,
                    size - done, offset + done, &written);
    done += written;
    return result;
  });
  if (status.code() == ENOSPC) note_missing(fs, size - done);
  if (done != 0) touch_modified(file);
  return is_became_lazy(status) ? without_lower(file) : status;
}

}  // namespace cairn::file
