#include "cluster/local/local_entry.h"

#include "pool/lanes/seats.h"
#include "tier/replace/displace.h"
#include "tier/lower/lower.h"
#include "tier/record/locate.h"
#include "tier/record/record.h"

namespace cairn::cluster {

Status missing(const std::string& path) {
  return fail(ENOENT, "%s: no such file or directory", path.c_str());
}

Result<uint64_t> top_of(Job& job) {
  auto covers = tier::find_covers(job.fs(), false);
  if (!covers.ok()) return covers;
  auto top = *covers == 0 ? covers : tier::find_child(job.fs(), *covers, job.cover());
  if (top.ok() && *top == 0) return fail(ENOENT, "%s is not covered", job.directory().c_str());
  return top;
}

Result<LocalEntry> local_entry(Job& job, const std::string& path) {
  auto directory = top_of(job);
  if (!directory.ok()) return directory.status();
  LocalEntry entry;
  entry.parent = *directory;
  size_t from = 0;
  for (size_t slash = 0; (slash = path.find('/', from)) != std::string::npos; from = slash + 1) {
    CAIRN_TRY(file::enter_directory(job.fs(), entry.parent).status());
    auto child = tier::find_child(job.fs(), entry.parent, path.substr(from, slash - from));
    if (!child.ok()) return child.status();
    if (*child == 0) return missing(path.substr(0, slash));
    entry.parent = *child;
  }
  entry.name = path.substr(from);
  auto parent = file::enter_directory(job.fs(), entry.parent);
  if (!parent.ok()) return parent.status();
  auto name = file::make_name(entry.name.data(), entry.name.size());
  if (!name.ok()) return name.status();
  pool::SeatGuard seat(job.fs().pool);
  if (!seat.ok()) return pool::no_seat(job.fs().pool);
  auto slot = file::find_name(job.fs(), *parent, *name);
  if (slot.code() == ENOENT) return entry;
  if (!slot.ok()) return slot.status();
  auto inode = file::live_inode(job.fs(), slot->inode);
  if (!inode.ok()) return inode.status();
  entry.map = {*inode, slot->inode};
  entry.generation = slot->generation;
  entry.has_lower = slot->has_lower;
  return entry;
}

Result<file::Witness> lower_of(Job& job, const LocalEntry& entry) {
  auto parent = file::live_inode(job.fs(), entry.parent);
  if (!parent.ok()) return parent.status();
  const auto found = tier::entry_of(job.fs(), {*parent, entry.parent}, 0, entry.map.number);
  if (!found.ok()) return found.status();
  return found->lower;
}

Status drop_lower(Job& job, const LocalEntry& entry) {
  if (!entry.has_lower) return Status();
  auto parent = file::live_inode(job.fs(), entry.parent);
  if (!parent.ok()) return parent.status();
  return tier::set_witness(job.fs(), {*parent, entry.parent}, entry.name, nullptr);
}

Status forget(Job& job, const LocalEntry& entry, uint64_t ctime) {
  // First, because what is open is read from below by what the pool remembers.
  file::Seen seen = entry.seen();
  seen.ctime = ctime;
  CAIRN_TRY(file::unlink_name(job.fs(), entry.parent, entry.name, &seen));
  return drop_lower(job, entry);
}

bool is_removed(Job& job, const LocalEntry& entry) {
  auto parent = file::live_inode(job.fs(), entry.parent);
  return parent.ok() && tier::removed_name(job.fs(), {*parent, entry.parent}, entry.name).ok();
}

Status displace(Job& job, const LocalEntry& entry) {
  auto parent = file::live_inode(job.fs(), entry.parent);
  if (!parent.ok()) return parent.status();
  return tier::displace(job.fs(), {*parent, entry.parent}, entry.name);
}

Result<uint64_t> directory_at(Job& job, const std::string& path) {
  auto directory = top_of(job);
  if (!path.empty()) {
    auto entry = local_entry(job, path);
    if (!entry.ok()) return entry.status();
    if (!entry->exists()) return missing(path);
    directory = entry->map.number;
  }
  if (!directory.ok()) return directory;
  CAIRN_TRY(file::enter_directory(job.fs(), *directory).status());
  return directory;
}

}  // namespace cairn::cluster
