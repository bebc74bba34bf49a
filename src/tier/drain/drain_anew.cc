// Drains new attributes of a file whose bytes lie in lower by writing a new file. Another user may
// have the old one open, or have set its access list; the new one is nobody else's before it has
// its attributes, and has them before it has a name.
//
// A copy may take minutes, in which programs may write the file. So the ImportLock, for which they
// would wait, is held only while the new file gets the name. Whatever has changed until then, in
// the pool or in lower, makes the drain look again.
#include "tier/drain/drain_anew.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "file/inode/file_system.h"
#include "tier/drain/plan.h"
#include "tier/drain/write_temp_file.h"
#include "tier/lower/unreadable.h"
#include "tier/record/attributes.h"
#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"
#include "tier/replace/publish.h"
#include "tier/replace/reporting.h"
#include "tier/replace/while_running.h"
#include "tier/stage/from_pool.h"
#include "tier/system/listing.h"
#include "tier/system/open_files.h"
#include "tier/system/temp_file.h"

namespace cairn::tier {
namespace {

constexpr const char* not_beside = "a new file cannot be written beside it";

// The bytes that a copy of the file writes.
uint64_t bytes_in(const sys::FileStat& st) {
  return std::min(static_cast<uint64_t>(st.st_size), static_cast<uint64_t>(st.st_blocks) * 512);
}

// Compares two looks at an open file.
Result<Tried> compare_looks(const DrainName& item, const sys::FileStat& before,
                            const sys::FileStat& now) {
  const Comparison since = compare(item.state.known, witness_of(item.state.known, before), now);
  if (since.difference == Difference::none) return Tried::done;
  if (since.is_same()) return Tried::again;  // others may change its mode, or make links to it
  return fail(ESTALE, "%s/%s: %s while its attributes were drained", item.where.path.c_str(),
              name_of(item.listed).c_str(), since.reason);
}

// Opens the file for reading, if its mode refuses that to its owner.
int64_t open_up(LazyFile* file) {
  if (file->is_readable) return 0;
  const int64_t opened = reopen_unreadable(file->fd.get(), O_RDONLY | O_NONBLOCK);
  if (opened < 0) return opened;
  file->fd = sys::Descriptor(static_cast<int>(opened));
  file->is_readable = file->is_opened_up = true;
  return 0;
}

// Looks at the file before its bytes are read. It must be as it was when the drain decided which
// attributes it may have. If this drain has changed its mode since, the ctime does not tell that
// any more.
Result<Tried> look_before_copy(const DrainName& item, const LazyFile& old, sys::FileStat* before) {
  if (const int64_t result = sys::fstat(old.fd.get(), before); result < 0)
    return sys::failed(result, "stat", item.where.path + "/" + name_of(item.listed));
  CAIRN_TRY_ASSIGN(same, compare_looks(item, old.st, *before));
  if (same == Tried::done || !old.is_opened_up) return same;
  if (gives_rights(old.st, old.rights) &&
      may_have_been_written_by_others(item.listed.lower, old.st, item.state.owner))
    return Status(ESTALE);
  return Tried::done;
}

// A file without a name, or, on a file system that has none, with the temporary name and mode 0600.
int64_t make_file(int directory, const std::string& temp_name, bool* is_named) {
  const int64_t made = sys::openat(directory, ".", O_RDWR | O_TMPFILE, 0600);
  *is_named = made == -EOPNOTSUPP || made == -EISDIR || made == -EINVAL || made == -ENOENT;
  if (!*is_named) return made;
  return sys::openat(directory, temp_name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
}

Status copy_bytes(DrainState& state, int from, uint64_t size, int to, const std::string& path) {
  if (const int64_t result = sys::ftruncate(to, size); result < 0)
    return sys::failed(result, "truncate", path);
  CheckedCopy copy(to, path, [&](uint64_t bytes) { return report_progress(state, bytes); });
  return copy.within_lower(from, 0, size).status();
}

Status write_file(const DrainName& item, LazyFile* old, const sys::FileStat& before,
                  int directory) {
  DrainState& state = item.state;
  TempFile& temp = old->temp;
  const std::string path = item.where.path + "/" + name_of(item.listed);
  CAIRN_TRY(check_room_for(state, item.map.number, bytes_in(before), directory, path));
  CAIRN_TRY(announce_temp_file(item, temp));
  bool is_named = false;
  const int64_t made = make_file(directory, temp.name, &is_named);
  if (made < 0) return sys::failed(made, not_beside, path);
  temp.file = sys::Descriptor(static_cast<int>(made));
  const int to = temp.file.get();
  drop_access_lists(to);  // those that the directory gives to new files
  const uint64_t done = state.done;
  const Status copied =
      copy_bytes(state, old->fd.get(), static_cast<uint64_t>(before.st_size), to, path);
  temp.copied = state.done - done;
  CAIRN_TRY(copied);
  CAIRN_TRY(set_attributes(state.fs, item.map, old->of_new, to,
                           {.fd = old->fd.get(), .same_bytes = true}, path));
  int64_t result = sys::fsync(to);
  if (result == 0 && !is_named) result = link_open_file(to, directory, temp.name.c_str());
  return result < 0 ? sys::failed(result, not_beside, path) : Status();
}

// Is the file still lazy, and the one in lower what was copied?
Result<Tried> look_after_copy(const DrainName& item, const LazyFile& old,
                              const sys::FileStat& before) {
  if (!file::is_lazy(*item.map.inode)) return Tried::again;
  sys::FileStat now = {};
  if (const int64_t result = sys::fstat(old.fd.get(), &now); result < 0)
    return sys::failed(result, "stat", item.where.path + "/" + name_of(item.listed));
  return compare_looks(item, before, now);
}

Result<Tried> copy_and_take(const DrainName& item, LazyFile* old, const sys::FileStat& before,
                            int directory) {
  const Status written = write_file(item, old, before, directory);
  if (!written.ok()) {
    remove_copy(item.state, directory, old->temp);
    return written;
  }
  const ImportLock lock(item.state.fs, item.map, import_patience_ns(item.state));
  Result<Tried> same = Tried::again;  // a process stages the file
  if (!lock.ok())
    same = pool::no_seat(item.state.fs.pool);
  else if (lock.is_held())
    same = look_after_copy(item, *old, before);
  if (same.ok() && *same == Tried::done) return publish_temp_file(item, 0, &old->temp);
  remove_copy(item.state, directory, old->temp);
  return same;
}

}  // namespace

Result<Tried> drain_anew(const DrainName& item, LazyFile* old) {
  const int64_t directory = item.lower.touch();
  if (directory < 0) {
    postpone(item.state, item.where, item.map);
    return Tried::failed;
  }
  if (is_open_among_nodes(item.state, item.map)) return Tried::again;
  if (const int64_t result = open_up(old); result < 0)
    return sys::failed(result, "open", item.where.path + "/" + name_of(item.listed));
  sys::FileStat before = {};
  CAIRN_TRY_ASSIGN(same, look_before_copy(item, *old, &before));
  if (same != Tried::done) return same;
  item.state.total += bytes_in(before);  // make_plan() does not know which files are copied here
  auto tried = copy_and_take(item, old, before, static_cast<int>(directory));
  if (!tried.ok() || *tried != Tried::done) item.state.total -= bytes_in(before);
  return tried;
}

}  // namespace cairn::tier
