#include "tier/parts.h"

#include <sys/stat.h>

#include "file/attributes.h"
#include "file/names.h"
#include "pool/seats.h"
#include "tier/listing.h"
#include "tier/record.h"
#include "tier/records_directory.h"
#include "tier/wipe.h"

namespace cairn::tier {

Result<uint64_t> find_parts(file::FileSystem& fs, const std::string& cover_name, bool make) {
  auto all = find_or_make(fs, format::root_inode, parts_directory, make ? S_IFDIR | 0700 : 0);
  if (!all.ok() || *all == 0) return all;
  return find_or_make(fs, *all, cover_name, make ? S_IFDIR | 0700 : 0);
}

Result<uint64_t> find_part(file::FileSystem& fs, const std::string& cover_name,
                           const std::string& uuid, bool make) {
  auto parts = find_parts(fs, cover_name, make);
  if (!parts.ok() || *parts == 0) return parts;
  return find_or_make(fs, *parts, uuid, make ? S_IFREG | 0600 : 0);
}

Status remove_part(file::FileSystem& fs, const std::string& cover_name, const std::string& uuid) {
  auto parts = find_parts(fs, cover_name, false);
  if (!parts.ok()) return parts.status();
  if (*parts == 0) return Status();
  const Status status = file::unlink_name(fs, *parts, uuid);
  return status.code() == ENOENT ? Status() : status;
}

Status for_each_part(file::FileSystem& fs, const std::string& cover_name,
                     const std::function<Status(const std::string& uuid, uint64_t bytes)>& visit) {
  auto parts = find_parts(fs, cover_name, false);
  if (!parts.ok()) return parts.status();
  if (*parts == 0) return Status();
  auto directory = file::live_inode(fs, *parts);
  if (!directory.ok()) return directory.status();
  return for_each_name(fs, {*directory, *parts}, false, [&](const file::Listed& listed) -> Status {
    auto inode = file::live_inode(fs, listed.inode);
    if (!inode.ok()) return Status();  // removed since it was listed
    uint64_t bytes = 0;
    {
      pool::SeatGuard seat(fs.pool);
      if (!seat.ok()) return pool::no_seat(fs.pool);
      bytes = file::attributes_of(fs, {*inode, listed.inode}).blocks * format::block_size;
    }
    return visit(name_of(listed), bytes);
  });
}

Result<bool> has_parts(file::FileSystem& fs, const std::string& cover_name) {
  bool any = false;
  CAIRN_TRY(for_each_part(fs, cover_name, [&](const std::string&, uint64_t) {
    any = true;
    return Status();
  }));
  return any;
}

bool are_records_missing(const std::string& directory, uint64_t owner) {
  RecordsFound found;
  return find_records(directory, owner, &found) == 0 && !found.fd.ok();
}

Result<bool> are_records_lost(file::FileSystem& fs, const std::string& cover_name) {
  CAIRN_TRY_ASSIGN(covers, find_covers(fs, false));
  if (covers == 0) return false;
  auto record = read_record(fs, covers, cover_name);
  if (record.code() == ENOENT) return false;
  if (!record.ok()) return record.status();
  return record->records_lost;
}

Status wipe_parts(file::FileSystem& fs, const std::string& cover_name) {
  auto all = find_child(fs, format::root_inode, parts_directory);
  if (!all.ok()) return all.status();
  return *all == 0 ? Status() : wipe(fs, *all, cover_name);
}

}  // namespace cairn::tier
