#include "cluster/local/name_op.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstring>

#include "cluster/local/local_entry.h"
#include "cluster/rpc/file_change.h"
#include "file/inode/open_table.h"
#include "file/inode/pins.h"
#include "file/namespace/names.h"
#include "file/space/make_room.h"
#include "pool/lanes/seats.h"
#include "tier/changes/changes.h"

namespace cairn::cluster {
namespace {

Status check_empty(Job& job, const LocalEntry& directory, const std::string& path) {
  auto entered = file::enter_directory(job.fs(), directory.map.number);
  if (!entered.ok()) return entered.status();
  return entered->inode->directory.entries.load() == 0
             ? Status()
             : fail(ENOTEMPTY, "%s: directory not empty", path.c_str());
}

// Another node may be drained before this one has removed there what had the name.
void make_room(Job& job, const LocalEntry& entry) {
  if (!entry.exists()) displace(job, entry).ignore();  // a drain tells what stands in its way
}

Status make(Job& job, const LocalEntry& entry, const NameChange& change) {
  make_room(job, entry);
  file::CreateRequest request;
  const std::string_view target = change.other;
  const bool is_directory = change.op == NameOp::make_directory;
  request.mode = is_directory ? S_IFDIR | (change.mode & 07777) : change.mode;
  if (S_ISLNK(request.mode)) request.target = &target;
  return file::with_room(
             job.fs(),
             [&] { return file::create_name(job.fs(), entry.parent, entry.name, request); })
      .status();
}

Status set(Job& job, const LocalEntry& entry, const std::string& attributes) {
  FileChange change;
  if (attributes.size() != sizeof change.attributes) return fail(EINVAL, "invalid attributes");
  std::memcpy(&change.attributes, attributes.data(), sizeof change.attributes);
  return change_file(job.fs(), entry.map, entry.generation, change);
}

// As rename(2) would say of this node's pool.
Status check_rename(Job& job, const LocalEntry& from, const LocalEntry& to,
                    const NameChange& change) {
  const char* path = change.other.c_str();
  if (from.is_directory() && from.has_lower)
    return fail(EXDEV, "%s: the covered directory has it too", change.path.c_str());
  if (!to.exists()) return Status();
  const bool directory = S_ISDIR(change.mode);
  if (to.is_directory() && !directory) return fail(EISDIR, "%s: is a directory", path);
  if (!to.is_directory() && directory) return fail(ENOTDIR, "%s: not a directory", path);
  return directory ? check_empty(job, to, change.other) : Status();
}

Status rename(Job& job, const LocalEntry& from, const NameChange& change) {
  auto to = local_entry(job, change.other);
  if (!to.ok()) return to.status();
  make_room(job, *to);
  return file::with_room(job.fs(), [&] {
    return file::rename(job.fs(), {from.parent, from.name, false}, {to->parent, to->name, false},
                        change.flags);
  });
}

// What is written here would be lost with the name.
Status check_untouched(Job& job, const LocalEntry& entry, const std::string& path) {
  file::FileSystem& fs = job.fs();
  constexpr uint64_t evicted = format::flag_lazy | format::flag_evicted;
  const bool is_imported = (entry.map.inode->flags.load() & evicted) == format::flag_lazy;
  const bool is_changed =
      !is_imported && tier::change_time(fs, entry.map) != entry.map.inode->drained.load();
  if (is_changed || file::is_pinned(fs, entry.map.number))
    return fail(EBUSY, "%s: it was changed there, too", path.c_str());
  const bool is_read_only = file::for_each_open_file(fs, [&](format::OpenFile& open) {
    return open.inode.load() != entry.map.number || (open.flags.load() & O_ACCMODE) == O_RDONLY;
  });
  return is_read_only ? Status() : fail(EBUSY, "%s: it is open for writing there", path.c_str());
}

Status apply(Job& job, const LocalEntry& entry, const NameChange& change) {
  switch (change.op) {
    case NameOp::make_directory:
    case NameOp::make_special:
      return make(job, entry, change);
    case NameOp::set_attributes:
      return set(job, entry, change.other);
    case NameOp::check_removal:
      return entry.is_directory() ? check_empty(job, entry, change.path) : Status();
    case NameOp::remove_directory:
      return file::remove_directory(job.fs(), entry.parent, entry.name);
    case NameOp::forget_directory:
      CAIRN_TRY(file::remove_directory(job.fs(), entry.parent, entry.name));
      return drop_lower(job, entry);
    case NameOp::claim:
      CAIRN_TRY(check_untouched(job, entry, change.path));
      return forget(job, entry);
    case NameOp::forget:
      if (entry.is_directory() || (!entry.has_no_bytes() && !entry.has_lower)) return Status();
      return forget(job, entry);
    case NameOp::forget_unchanged:
      if (entry.is_directory() || (!entry.has_no_bytes() && !entry.has_lower)) return Status();
      if (!entry.has_no_bytes()) CAIRN_TRY(check_untouched(job, entry, change.path));
      return forget(job, entry);
    case NameOp::rename:
      return rename(job, entry, change);
    case NameOp::look:
      return change.other == seen_as_text(entry.seen()) ? Status() : missing(change.path);
    case NameOp::displace:
      return entry.exists() ? Status() : displace(job, entry);
    case NameOp::check_rename: {
      auto to = local_entry(job, change.other);
      if (to.code() == ENOENT) return Status();
      return to.ok() ? check_rename(job, entry, *to, change) : to.status();
    }
  }
  return fail(EINVAL, "invalid change of a name");
}

}  // namespace

NameChange set_attributes(const std::string& path, const file::Remote::Change& to) {
  return {NameOp::set_attributes, 0, path, {reinterpret_cast<const char*>(&to), sizeof to}};
}

std::string seen_as_text(const file::Seen& seen) {
  const uint64_t words[] = {seen.number, seen.generation};
  return {reinterpret_cast<const char*>(words), sizeof words};
}

Result<uint32_t> mode_of_name(Job& job, const std::string& path) {
  auto entry = local_entry(job, path);
  if (!entry.ok()) return entry.status();
  return entry->exists() ? Result<uint32_t>(entry->mode()) : missing(path);
}

namespace {

bool makes(const NameChange& change) {
  return change.op == NameOp::make_directory || change.op == NameOp::make_special;
}

// The FIFO or socket that a change takes the last name of, if it does.
LocalEntry special_removed_by(Job& job, const NameChange& change) {
  const bool replaces = change.op == NameOp::rename;
  if (!replaces && change.op != NameOp::forget && change.op != NameOp::forget_unchanged) return {};
  auto entry = local_entry(job, replaces ? change.other : change.path);
  if (!entry.ok() || !entry->exists() || entry->map.inode->links.load() != 1) return {};
  return S_ISFIFO(entry->mode()) || S_ISSOCK(entry->mode()) ? *entry : LocalEntry();
}

}  // namespace

Status change_name(Job& job, const NameChange& change) {
  auto entry = local_entry(job, change.path);
  if (!entry.ok()) return entry.status();
  const bool may_be_missing =
      makes(change) || change.op == NameOp::check_rename || change.op == NameOp::displace;
  return entry->exists() || may_be_missing ? apply(job, *entry, change) : missing(change.path);
}

Result<int64_t> serve_change(Job& job, const NameChange& change) {
  const LocalEntry special = special_removed_by(job, change);
  const uint32_t special_mode = special.mode();
  const Status status = change_name(job, change);
  if (status.ok() && special.exists())
    job.special_removed(special.map.number, special.generation, special_mode);
  if (status.ok()) return 1;
  if (status.code() == ENOENT && !makes(change)) return 0;
  if (status.code() != EEXIST || change.op != NameOp::make_directory) return status;
  auto mode = mode_of_name(job, change.path);
  if (mode.ok() && S_ISDIR(*mode)) return 0;
  return fail(EEXIST, "%s: it is a file there", change.path.c_str());
}

}  // namespace cairn::cluster
