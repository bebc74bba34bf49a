#include "tier/record/announced.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "tier/lower/lower.h"
#include "tier/lower/lower_base.h"
#include "tier/record/journal.h"
#include "tier/record/locate.h"
#include "tier/record/record.h"

namespace cairn::tier {
namespace {

// The record that the journal of the cover with this top holds; empty: it announces nothing.
Result<JournalRecord> announced_in(file::FileSystem& fs, uint64_t top) {
  CAIRN_TRY_ASSIGN(covers, find_covers(fs, false));
  if (covers == 0) return JournalRecord();
  std::string name;
  CAIRN_TRY(for_each_record(fs, [&](const std::string& each, const CoverRecord&) -> Status {
    CAIRN_TRY_ASSIGN(found, find_child(fs, covers, each));
    if (found == top) name = each;
    return Status();
  }));
  if (name.empty()) return JournalRecord();
  return Journal::last(fs, covers, name);
}

bool is_about(const JournalRecord& record, const LowerLocation& place, const file::Map& map) {
  return record.inode == map.number && record.generation == map.inode->generation.load() &&
         record.pool_directory == place.parent && record.name == place.name;
}

}  // namespace

Status take_announced(file::FileSystem& fs, const file::Map& map) {
  CAIRN_TRY_ASSIGN(place, locate(fs, map.number));
  if (place.parent == 0) return Status(ESTALE);
  CAIRN_TRY_ASSIGN(record, announced_in(fs, place.cover->top));
  if (!is_about(record, place, map)) return Status(ESTALE);
  const int64_t opened = open_lower(place, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  if (opened < 0) return sys::failed(opened, "open", place.path);
  const sys::Descriptor fd(static_cast<int>(opened));
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(fd.get(), &st); result < 0)
    return sys::failed(result, "stat", place.path);
  if (!S_ISREG(st.st_mode) || !is_announced(record, *place.cover, st)) return Status(ESTALE);
  // The pool must not rely on times that a power loss can undo.
  if (const int64_t result = sys::fsync(fd.get()); result < 0)
    return sys::failed(result, "fsync", place.path);
  CAIRN_TRY_ASSIGN(parent, file::live_inode(fs, place.parent));
  const file::Witness witness = witness_of(*place.cover, st);
  return set_witness(fs, {parent, place.parent}, place.name, &witness);
}

}  // namespace cairn::tier
