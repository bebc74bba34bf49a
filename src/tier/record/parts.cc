#include "tier/record/parts.h"

#include <sys/stat.h>

#include <charconv>

#include "file/inode/attributes.h"
#include "file/inode/xattr.h"
#include "file/namespace/names.h"
#include "pool/lanes/seats.h"
#include "tier/lower/lower.h"
#include "tier/record/record.h"
#include "tier/record/records_directory.h"
#include "tier/record/wipe.h"
#include "tier/system/listing.h"

namespace cairn::tier {
namespace {

// An attribute of the directory `/.parts/NAME`.
constexpr const char* records_attribute = "cairn.records";

// Identifies a directory of records: by its inode number, which a file system can use again, and on
// a local file system by the time at which it was made.
struct RecordsMark {
  uint64_t inode = 0;
  uint64_t birth = 0;  // 0: not known
};

Result<RecordsMark> mark_of(int records) {
  sys::FileStat st = {};
  DirectoryMarks marks;
  int64_t result = sys::fstat(records, &st);
  if (result == 0) result = marks_of(records, &marks);
  if (result < 0) return sys::failed(result, "stat", records_directory);
  return RecordsMark{st.st_ino, marks.birth};
}

bool are_same(const RecordsMark& a, const RecordsMark& b) {
  return a.inode == b.inode && (a.birth == b.birth || a.birth == 0 || b.birth == 0);
}

// Reads the mark that was noted. ENODATA: there is none.
Result<RecordsMark> noted_mark(file::FileSystem& fs, const file::Map& parts) {
  CAIRN_TRY_ASSIGN(text, file::get_xattr(fs, parts, records_attribute));
  RecordsMark mark;
  const char* end = text.data() + text.size();
  const auto inode = std::from_chars(text.data(), end, mark.inode);
  if (inode.ptr != end) std::from_chars(inode.ptr + 1, end, mark.birth);
  return mark;
}

// The map of the directory of the cover's parts; its inode is null if there is none.
Result<file::Map> map_of_parts(file::FileSystem& fs, const std::string& cover_name, bool make) {
  CAIRN_TRY_ASSIGN(number, find_parts(fs, cover_name, make));
  if (number == 0) return file::Map{};
  CAIRN_TRY_ASSIGN(inode, file::live_inode(fs, number));
  return file::Map{inode, number};
}

}  // namespace

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
    if (!inode.ok()) return Status();  // it was removed since it was listed
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

Status note_records(file::FileSystem& fs, const std::string& cover_name, int records) {
  CAIRN_TRY_ASSIGN(parts, map_of_parts(fs, cover_name, true));
  CAIRN_TRY_ASSIGN(mark, mark_of(records));
  const auto noted = noted_mark(fs, parts);
  if (noted.ok() && are_same(*noted, mark)) return Status();
  if (!noted.ok() && noted.code() != ENODATA) return noted.status();
  if (noted.ok()) {
    // Another directory of records was noted, and the parts that are there belong to it.
    CAIRN_TRY_ASSIGN(any, has_parts(fs, cover_name));
    if (any) return Status();
  }
  const std::string text = std::to_string(mark.inode) + " " + std::to_string(mark.birth);
  return file::set_xattr(fs, parts, records_attribute, text.data(), text.size(), 0);
}

Result<bool> are_records_exchanged(file::FileSystem& fs, const std::string& cover_name,
                                   int records) {
  CAIRN_TRY_ASSIGN(parts, map_of_parts(fs, cover_name, false));
  if (parts.inode == nullptr) return false;
  const auto noted = noted_mark(fs, parts);
  // An earlier version of Cairn, which noted no mark, wrote the parts.
  if (noted.code() == ENODATA) return false;
  CAIRN_TRY(noted.status());
  CAIRN_TRY_ASSIGN(mark, mark_of(records));
  return !are_same(*noted, mark);
}

Status wipe_parts(file::FileSystem& fs, const std::string& cover_name) {
  auto all = find_child(fs, format::root_inode, parts_directory);
  if (!all.ok()) return all.status();
  return *all == 0 ? Status() : wipe(fs, *all, cover_name);
}

}  // namespace cairn::tier
