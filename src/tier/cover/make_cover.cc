#include "tier/cover/make_cover.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <vector>

#include "file/inode/attributes.h"
#include "file/namespace/names.h"
#include "pool/lanes/seats.h"
#include "tier/lower/lower.h"
#include "tier/lower/lower_base.h"
#include "tier/record/attributes.h"
#include "tier/record/journal.h"
#include "tier/record/parts.h"
#include "tier/record/wipe.h"
#include "tier/system/listing.h"
#include "tier/system/system.h"

namespace cairn::tier {
namespace {

// Removes directories of covers whose process died while it opened or discarded them.
Status remove_unfinished(file::FileSystem& fs, uint64_t covers) {
  auto inode = file::live_inode(fs, covers);
  if (!inode.ok()) return inode.status();
  std::vector<std::string> left;
  CAIRN_TRY(for_each_name(fs, {*inode, covers}, false, [&](const file::Listed& listed) -> Status {
    if (listed.type != S_IFDIR >> 12) return Status();
    auto record = read_record(fs, covers, name_of(listed));
    if (record.code() == ENOENT) left.push_back(name_of(listed));
    return Status();
  }));
  for (const std::string& name : left) CAIRN_TRY(wipe(fs, covers, name));
  return Status();
}

// Makes the directory that stands for lower. It is lazy, and has lower's owner, mode and times.
Status make_top(file::FileSystem& fs, uint64_t covers, const std::string& name,
                const std::string& path) {
  sys::FileStat st = {};
  const int64_t opened = lower_base(path);
  if (opened < 0) return sys::failed(opened, "open", path);
  const sys::Descriptor covered(static_cast<int>(opened));
  if (const int64_t result = sys::fstat(covered.get(), &st); result < 0)
    return sys::failed(result, "stat", path);
  file::CreateRequest request;
  request.mode = st.st_mode;
  auto top = file::create_name(fs, covers, name, request);
  if (!top.ok()) return top.status();
  {
    pool::SeatGuard seat(fs.pool);
    if (!seat.ok()) return pool::no_seat(fs.pool);
    CAIRN_TRY(file::set_owner(fs, *seat, *top, st.st_uid, st.st_gid));
    CAIRN_TRY(file::set_mode(fs, *seat, *top, st.st_mode & 07777));
    CAIRN_TRY(file::set_times(fs, *seat, *top, sys::atime_of(st), sys::mtime_of(st)));
  }
  CAIRN_TRY(import_attributes(fs, covers, name, {covered.get(), ".", st}));
  fs.pool.store_flush(top->inode->ctime, sys::ctime_of(st));
  fs.pool.store_flush(top->inode->drained, sys::ctime_of(st));
  fs.pool.store_flush(top->inode->directory.lower_links, st.st_nlink);
  return file::set_flags(fs, top->number, format::flag_lazy | format::flag_covered, 0);
}

}  // namespace

Status make_cover(file::FileSystem& fs, uint64_t covers, const std::string& name,
                  CoverRecord record) {
  auto before = read_record(fs, covers, name);
  // A run without a launcher may join the cover of a launch, which goes on.
  if (before.ok() && record.launch.empty()) record.launch = before->launch;
  if (before.ok() && *before == record) return Status();
  if (!before.ok() && before.code() != ENOENT) return before.status();
  if (!before.ok()) {
    CAIRN_TRY(remove_unfinished(fs, covers));
    CAIRN_TRY(wipe_parts(fs, name));
    // A journal that is there is about the inodes of an earlier cover. The new one gets its space
    // now, so that a drain of a full pool needs no more.
    CAIRN_TRY(Journal::remove(fs, covers, name));
    CAIRN_TRY(Journal().open(fs, covers, name));
    CAIRN_TRY(make_top(fs, covers, name, record.path));
  }
  const Status status = write_record(fs, covers, name, record);
  // A full pool has no room for the new record, and the earlier one will do.
  const bool is_needed = !before.ok() || before->job != record.job || before->keep != record.keep;
  return status.code() == ENOSPC && !is_needed ? Status() : status;
}

Status remove_cover(file::FileSystem& fs, uint64_t covers, const std::string& name) {
  CAIRN_TRY(remove_record(fs, covers, name));
  CAIRN_TRY(wipe(fs, covers, name));
  CAIRN_TRY(wipe_parts(fs, name));
  return Journal::remove(fs, covers, name);
}

Result<CoverRecord> find_record(file::FileSystem& fs, const std::string& path) {
  CAIRN_TRY_ASSIGN(covers, find_covers(fs, false));
  if (covers != 0) {
    auto record = read_record(fs, covers, cover_name(path));
    if (record.ok() || record.code() != ENOENT) return record;
  }
  return fail(ENOENT, "%s is not covered by pool %s", path.c_str(), fs.pool.path.c_str());
}

}  // namespace cairn::tier
