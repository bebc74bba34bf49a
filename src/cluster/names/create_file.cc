// New names of files, which one node has: of several that are made in the same moment one stays.
#include <sys/stat.h>

#include <utility>

#include "base/saved_failure.h"
#include "cluster/local/name_op.h"
#include "cluster/names/free_name.h"
#include "cluster/names/name_lock.h"
#include "cluster/names/names.h"
#include "cluster/names/new_name.h"
#include "cluster/remote/remote_files.h"
#include "file/inode/attributes.h"
#include "file/inode/moving.h"
#include "file/space/make_room.h"
#include "pool/lanes/seats.h"
#include "tier/changes/changes.h"

namespace cairn::cluster {
namespace {

struct Made : file::Created {
  uint64_t mover = 0;  // whose mark it has
  uint64_t ctime = 0;
};

// Nobody opens it until it is said to stay.
Result<Made> make_here(Job& job, const std::string& path, uint32_t mode) {
  auto entry = local_entry(job, path);
  if (!entry.ok()) return entry.status();
  file::CreateRequest request;
  request.mode = S_IFREG | (mode & 07777);
  request.moving = true;
  CAIRN_TRY_ASSIGN(created, file::with_room(job.fs(), [&] {
                     return file::create_name(job.fs(), entry->parent, entry->name, request);
                   }));
  return Made{created, created.inode->file.mover.load(), tier::change_time(job.fs(), created)};
}

Status let_stay(Job& job, const Made& made, const UseMade& use) {
  const Status status = use(made);
  const SavedFailure saved(status);
  const pool::SeatGuard seat(job.fs().pool);
  if (seat.ok()) file::end_moving(job.fs(), *seat, made, made.generation, made.mover);
  return saved.restored();
}

Status is_taken(const std::string& path) {
  return fail(EBUSY, "%s: another node has created it, too, and it is in use here", path.c_str());
}

// A process that waits too long for a new file ends its mark. By now it may have written the file,
// and closed it again.
bool is_untouched(const LocalEntry& entry, const Made& made) {
  return entry.generation == made.generation && file::is_moving(*entry.map.inode) &&
         entry.map.inode->file.mover.load() == made.mover;
}

using Others = NewName::Others;

// A name of this node that two nodes may have made in the same moment. The lock is held: the second
// one that comes here finds that the first has given way. ESTALE: this one does. EBUSY: it was a
// new file (`made`), and so long in waiting for the lock that another process may have used it.
Status give_way(Job& job, const NewName& name, file::Seen seen, const Made* made, Others* others) {
  CAIRN_TRY_ASSIGN(now, name.look_at_others(Locked::yes));
  *others = std::move(now);
  if (!others->have_it) return Status();
  const std::string& path = others->path;
  CAIRN_TRY_ASSIGN(entry, local_entry(job, path));
  if (made != nullptr && entry.map.number == made->number) {
    if (!is_untouched(entry, *made)) return is_taken(path);
    // A process that changes a file by its name does not look at the mark.
    seen.ctime = made->ctime;
  }
  // Under the name may be another one by now.
  const Status removed_here = file::unlink_name(job.fs(), entry.parent, entry.name, &seen);
  if (removed_here.code() == ESTALE) return is_taken(path);
  if (!removed_here.ok() && removed_here.code() != ENOENT) return removed_here;
  // Where it had taken the place of what was removed here, that is to be removed again, and stands
  // in the other's way.
  change_name(job, {NameOp::displace, 0, path, ""}).ignore();
  return fail(ESTALE, "%s: another node has created it", path.c_str());
}

// The lock is held, and the name was just given here. Others give theirs without the lock, and look
// for this one then: so no node's look is before all of them are made. EEXIST: another node has
// one.
Status settle_name(Job& job, const NewName& name, const file::Seen& seen, const Made* made) {
  Others others;
  const Status status = give_way(job, name, seen, made, &others);
  if (status.code() == ESTALE) return already_there(name.path());
  if (status.ok()) displace_on(job, others.path, others.removed);
  return status;
}

}  // namespace

Status make_file(Job& job, const std::string& path, uint32_t mode, const UseMade& use) {
  return one_at_a_time(job, path, [&]() -> Status {
    NewName name(job, path);
    CAIRN_TRY_ASSIGN(made, make_here(job, path, mode));
    name.is_given_to({made.number, made.generation});
    const Status status = settle_name(job, name, {made.number, made.generation}, &made);
    if (status.code() == EEXIST) return status;
    if (status.ok()) return let_stay(job, made, use);
    return let_stay(job, made, [&](const file::Created&) { return status; });
  });
}

Status make_or_give_way(Job& job, const std::string& path, uint32_t mode, const UseMade& use) {
  NewName name(job, path);
  CAIRN_TRY_ASSIGN(made, make_here(job, path, mode));
  const file::Seen seen = {made.number, made.generation};
  name.is_given_to(seen);
  auto looked = name.look_at_others(Locked::no);
  Status status = looked.status();
  Others others;
  if (looked.ok()) others = std::move(*looked);
  if (others.have_it || others.are_renaming)
    status = one_at_a_time(job, path, [&] { return give_way(job, name, seen, &made, &others); });
  if (status.code() == ESTALE) return status;
  displace_on(job, others.path, others.removed);
  if (status.ok()) return let_stay(job, made, use);
  return let_stay(job, made, [&](const file::Created&) { return status; });
}

namespace {

Status is_replaced() { return fail(ESTALE, "the file was replaced"); }

// ESTALE: it is gone, or has lost its last name.
Result<file::Map> may_get_name(Job& job, const file::Seen& inode) {
  CAIRN_TRY_ASSIGN(live, file::live_inode(job.fs(), inode.number));
  const file::Map map = {live, inode.number};
  const bool is_named =
      map.inode->links.load() != 0 || (map.inode->flags.load() & format::flag_nameless) != 0;
  if (!file::is_still(map, inode.generation) || !is_named) return is_replaced();
  return map;
}

Status link_here(Job& job, const file::Seen& inode, const std::string& path) {
  CAIRN_TRY_ASSIGN(entry, local_entry(job, path));
  const Status status = file::with_room(job.fs(), [&] {
    return file::link_inode(job.fs(), inode.number, entry.parent, entry.name, inode.generation);
  });
  // Not the directory of the new name: another node has the file now, or nobody.
  return status.code() == ENOENT && may_get_name(job, inode).code() == ESTALE ? is_replaced()
                                                                              : status;
}

// A file has its name immediately, unlike one that is made: it may be open. So other nodes are
// asked before, too.
Status link_file(Job& job, const file::Map& map, const file::Seen& inode, const std::string& path) {
  CAIRN_TRY_ASSIGN(other, is_remote(job, path));
  if (other != 0) return already_there(path);
  const bool is_first = map.inode->links.load() == 0;
  const NewName name(job, path, inode);
  CAIRN_TRY(link_here(job, inode, path));
  const Status status = settle_name(job, name, inode, nullptr);
  if (!is_first || status.code() != EEXIST) return status;
  // Without a name again, it may get another one.
  CAIRN_TRY(file::set_flags(job.fs(), inode.number, format::flag_nameless, 0));
  return already_there(path);
}

}  // namespace

Status link_inode(Job& job, const file::Seen& inode, const std::string& path) {
  CAIRN_TRY_ASSIGN(map, may_get_name(job, inode));
  const auto mode = static_cast<uint32_t>(map.inode->mode.load());
  if (S_ISREG(mode)) {
    // Before others wait for this one.
    if ((map.inode->flags.load() & format::flag_lazy) != 0)
      CAIRN_TRY(job.fs().lower->stage(inode.number));
    return one_at_a_time(job, path, [&] { return link_file(job, map, inode, path); });
  }
  // A device is nothing that other nodes could make.
  if (!S_ISLNK(mode) && !S_ISFIFO(mode) && !S_ISSOCK(mode))
    return fail(EPERM, "%s: a directory or a device cannot have another name", path.c_str());
  std::string target;
  if (S_ISLNK(mode)) {
    const pool::SeatGuard seat(job.fs().pool);
    if (!seat.ok()) return pool::no_seat(job.fs().pool);
    CAIRN_TRY_ASSIGN(text, file::link_text(job.fs(), map));
    target = std::move(text);
  }
  const auto here = [&]() -> Status {
    // The others' names take no place of what was removed here, so this one must not either: any
    // node may be drained first.
    change_name(job, {NameOp::displace, 0, path, ""}).ignore();
    return link_here(job, inode, path);
  };
  // The others' are of their own.
  return make_everywhere(job, here, {NameOp::make_special, mode, path, target}, NameOp::forget);
}

}  // namespace cairn::cluster
