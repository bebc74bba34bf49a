#include "cluster/local/local_entry.h"

#include "pool/lanes/seats.h"
#include "tier/lower.h"
#include "tier/put_away.h"
#include "tier/record.h"

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

Result<Spot> spot_of(Job& job, const std::string& path) {
  auto directory = top_of(job);
  if (!directory.ok()) return directory.status();
  Spot spot;
  spot.parent = *directory;
  size_t from = 0;
  for (size_t slash = 0; (slash = path.find('/', from)) != std::string::npos; from = slash + 1) {
    CAIRN_TRY(file::enter_directory(job.fs(), spot.parent).status());
    auto child = tier::find_child(job.fs(), spot.parent, path.substr(from, slash - from));
    if (!child.ok()) return child.status();
    if (*child == 0) return missing(path.substr(0, slash));
    spot.parent = *child;
  }
  spot.name = path.substr(from);
  auto parent = file::enter_directory(job.fs(), spot.parent);
  if (!parent.ok()) return parent.status();
  auto name = file::make_name(spot.name.data(), spot.name.size());
  if (!name.ok()) return name.status();
  pool::SeatGuard seat(job.fs().pool);
  if (!seat.ok()) return pool::no_seat(job.fs().pool);
  auto slot = file::find_name(job.fs(), *parent, *name);
  if (slot.code() == ENOENT) return spot;
  if (!slot.ok()) return slot.status();
  auto inode = file::live_inode(job.fs(), slot->inode);
  if (!inode.ok()) return inode.status();
  spot.map = {*inode, slot->inode};
  spot.generation = slot->generation;
  spot.has_lower = slot->has_lower();
  return spot;
}

Result<file::LowerIdentity> lower_of(Job& job, const Spot& spot) {
  auto parent = file::live_inode(job.fs(), spot.parent);
  if (!parent.ok()) return parent.status();
  auto entry = tier::entry_of(job.fs(), {*parent, spot.parent}, 0, spot.map.number);
  if (!entry.ok()) return entry.status();
  return entry->lower;
}

Status drop_lower(Job& job, const Spot& spot) {
  if (!spot.has_lower) return Status();
  auto parent = file::live_inode(job.fs(), spot.parent);
  if (!parent.ok()) return parent.status();
  return tier::set_identity(job.fs(), {*parent, spot.parent}, spot.name, nullptr);
}

Status forget(Job& job, const Spot& spot, uint64_t ctime) {
  // First, because what is open is read from below by what the pool remembers.
  file::Seen seen = spot.seen();
  seen.ctime = ctime;
  CAIRN_TRY(file::unlink_name(job.fs(), spot.parent, spot.name, &seen));
  return drop_lower(job, spot);
}

bool is_removed(Job& job, const Spot& spot) {
  auto parent = file::live_inode(job.fs(), spot.parent);
  return parent.ok() && tier::removed_name(job.fs(), {*parent, spot.parent}, spot.name).ok();
}

Status put_away(Job& job, const Spot& spot) {
  auto parent = file::live_inode(job.fs(), spot.parent);
  if (!parent.ok()) return parent.status();
  return tier::put_away(job.fs(), {*parent, spot.parent}, spot.name);
}

Result<uint64_t> directory_at(Job& job, const std::string& path) {
  auto directory = top_of(job);
  if (!path.empty()) {
    auto spot = spot_of(job, path);
    if (!spot.ok()) return spot.status();
    if (!spot->exists()) return missing(path);
    directory = spot->map.number;
  }
  if (!directory.ok()) return directory;
  CAIRN_TRY(file::enter_directory(job.fs(), *directory).status());
  return directory;
}

}  // namespace cairn::cluster
