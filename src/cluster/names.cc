// What one process does to make a change of names on all nodes. name_change.cc makes it on one.
#include "cluster/names.h"

#include <sys/stat.h>

#include <utility>

#include "cluster/ask.h"
#include "cluster/elsewhere.h"
#include "cluster/job_lock.h"
#include "cluster/name_change.h"
#include "cluster/spot.h"
#include "file/fill_ahead.h"
#include "file/moving.h"
#include "pool/seats.h"
#include "tier/drain_state.h"

namespace cairn::cluster {
namespace {

// Whose server holds the lock under which names change, and what it is called there.
constexpr uint32_t keeper = 0;
constexpr uint64_t lock_word = 0x6e616d6573ULL;

// Asks these nodes; those where something has changed go to `changed`.
Status change_on(const Job& job, const NodeNumbers& nodes, const NameChange& change,
                 NodeNumbers* changed) {
  Request request = {};
  request.op = Op::change_name;
  request.which = static_cast<uint32_t>(change.op);
  request.value = change.mode;
  const Answers answers = ask_nodes(job, nodes, request, change.path + '\0' + change.other);
  for (const Answers::One& one : answers.all)
    if (one.value != 0) changed->push_back(one.node);
  return answers.status;
}

Status on_others(const Job& job, const NameChange& change) {
  NodeNumbers changed;
  return change_on(job, other_nodes(job), change, &changed);
}

// here() first, then `there` on the others; where these cannot, `undo` takes it back.
template <typename Here>
Status everywhere_after(Job& job, Here here, const NameChange& there, const NameChange& undo) {
  CAIRN_TRY(here());
  NodeNumbers changed;
  const Status status = change_on(job, other_nodes(job), there, &changed);
  if (status.ok()) return status;
  const std::string text = last_detail();
  change_on(job, NodeNumbers(changed), undo, &changed).ignore();
  change_name(job, undo).ignore();
  return fail(status.code(), "%s", text.c_str());
}

Status everywhere(Job& job, const NameChange& here, const NameChange& there,
                  const NameChange& undo) {
  return everywhere_after(
      job, [&] { return change_name(job, here); }, there, undo);
}

// Other nodes' pools have the name too: what has no bytes, or what they know from the covered directory.
bool is_on_others(const Spot& spot) {
  return spot.exists() && !spot.is_directory() && (spot.has_no_bytes() || spot.has_lower);
}

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

// Directories that were here before the job began need not be on the others.
Status make_parents(Job& job, const std::string& path) {
  for (size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string above = path.substr(0, slash);
    auto mode = mode_of_name(job, above);
    if (!mode.ok()) return mode.status();
    CAIRN_TRY(on_others(job, {NameOp::make_directory, *mode, above, ""}));
  }
  return Status();
}

template <typename Call>
Status one_at_a_time(const Job& job, const std::string& path, Call call) {
  if (!job.has_messages()) return call();
  CAIRN_TRY(lock(job, keeper, lock_word, path));
  const Status status = call();
  const std::string text = status.ok() ? "" : last_detail();
  const Status unlocked = unlock(job, keeper, lock_word);
  return status.ok() ? unlocked : fail(status.code(), "%s", text.c_str());
}

// here() makes it on this node, `there` on the others.
template <typename Here>
Status make(Job& job, Here here, const NameChange& there, NameOp removal) {
  return one_at_a_time(job, there.path, [&]() -> Status {
    const NameChange undo = {removal, 0, there.path, ""};
    const Status status = everywhere_after(job, here, there, undo);
    // Missing here, it would have been missing to the caller.
    if (status.code() != ENOENT || there.path.find('/') == std::string::npos) return status;
    CAIRN_TRY(make_parents(job, there.path));
    return everywhere_after(job, here, there, undo);
  });
}

Status make(Job& job, const NameChange& change, NameOp removal) {
  return make(
      job, [&] { return change_name(job, change); }, change, removal);
}

}  // namespace

Status make_directory(Job& job, const std::string& path, uint32_t mode) {
  return make(job, {NameOp::make_directory, mode, path, ""}, NameOp::remove_directory);
}

Status make_symbolic_link(Job& job, const std::string& path, const std::string& target) {
  return make(job, {NameOp::make_special, S_IFLNK | 0777, path, target}, NameOp::forget);
}

Status make_special(Job& job, const std::string& path, uint32_t mode) {
  return make(job, {NameOp::make_special, mode, path, ""}, NameOp::forget);
}

Status set_mode_everywhere(Job& job, const std::string& path, uint32_t mode) {
  return one_at_a_time(job, path, [&]() -> Status {
    const NameChange change = {NameOp::set_mode, mode, path, ""};
    CAIRN_TRY(change_name(job, change));
    return on_others(job, change);
  });
}

Status remove_directory(Job& job, const std::string& path) {
  return one_at_a_time(job, path, [&]() -> Status {
    CAIRN_TRY(on_others(job, {NameOp::check_removal, 0, path, ""}));
    auto mode = mode_of_name(job, path);
    if (!mode.ok()) return mode.status();
    return everywhere(job, {NameOp::remove_directory, 0, path, ""},
                      {NameOp::forget_directory, 0, path, ""},
                      {NameOp::make_directory, *mode, path, ""});
  });
}

Status remove_file(Job& job, const std::string& path) {
  auto spot = spot_of(job, path);
  if (!spot.ok()) return spot.status();
  const auto here = [&] { return file::unlink_name(job.fs(), spot->parent, spot->name); };
  if (!is_on_others(*spot)) return here();
  return one_at_a_time(job, path, [&]() -> Status {
    CAIRN_TRY(here());
    return on_others(job, {NameOp::forget, 0, path, ""});
  });
}

namespace {

struct Made : file::Created {
  uint64_t mover = 0;  // whose mark it has
  uint64_t ctime = 0;
};

// Nobody opens it until it is said to stay.
Result<Made> make_here(Job& job, const std::string& path, uint32_t mode) {
  auto spot = spot_of(job, path);
  if (!spot.ok()) return spot.status();
  file::CreateRequest request;
  request.mode = S_IFREG | (mode & 07777);
  request.moving = true;
  CAIRN_TRY_ASSIGN(created, file::with_room(job.fs(), [&] {
                     return file::create_name(job.fs(), spot->parent, spot->name, request);
                   }));
  return Made{created, created.inode->file.mover.load(), tier::change_time(job.fs(), created)};
}

Status let_stay(Job& job, const Made& made, const UseMade& use) {
  const Status status = use(made);
  const std::string text = status.ok() ? "" : last_detail();
  const pool::SeatGuard seat(job.fs().pool);
  if (seat.ok()) file::end_moving(job.fs(), *seat, made, made.generation, made.mover);
  return status.ok() ? status : fail(status.code(), "%s", text.c_str());
}

// Whether another node has a file of the name; 0 or 1. `removed` as for find_elsewhere().
Result<int> is_elsewhere(Job& job, const std::string& path, NodeNumbers* removed = nullptr) {
  const auto other = find_elsewhere(job, path, false, removed);
  if (other.ok()) return 1;
  return other.code() == ENOENT ? Result<int>(0) : Result<int>(other.status());
}

Status is_taken(const std::string& path) {
  return fail(EBUSY, "%s: another node has made it, too, and it is used here", path.c_str());
}

// Who waits too long for a new file ends its mark. By now he may have written it, and closed it again.
bool is_untouched(const Spot& spot, const Made& made) {
  return spot.generation == made.generation && file::is_moving(*spot.map.inode) &&
         spot.map.inode->file.mover.load() == made.mover;
}

// A name of this node that two nodes have made in the same moment. The lock is held: the second one that comes here finds that the
// first has given way. ESTALE: this one does. EBUSY: it was a new file (`made`), and so long in waiting for the lock that somebody
// else may have used it.
Status give_way(Job& job, const std::string& path, file::Seen seen, const Made* made,
                NodeNumbers* removed) {
  // What the other one took the place of in the covered directory is removed again where it has given way.
  removed->clear();
  CAIRN_TRY_ASSIGN(other, is_elsewhere(job, path, removed));
  if (other == 0) return Status();
  CAIRN_TRY_ASSIGN(spot, spot_of(job, path));
  if (made != nullptr && spot.map.number == made->number) {
    if (!is_untouched(spot, *made)) return is_taken(path);
    // Who changes a file by its name does not look at the mark.
    seen.ctime = made->ctime;
  }
  // Under the name may be another one by now.
  const Status removed_here = file::unlink_name(job.fs(), spot.parent, spot.name, &seen);
  if (removed_here.code() == ESTALE) return is_taken(path);
  if (!removed_here.ok() && removed_here.code() != ENOENT) return removed_here;
  // Where it had taken the place of what was removed here, that is to be removed again, and stands in the other's way.
  change_name(job, {NameOp::put_away, 0, path, ""}).ignore();
  return fail(ESTALE, "%s: another node has made it", path.c_str());
}

Status is_there(const std::string& path) { return fail(EEXIST, "%s: file exists", path.c_str()); }

// The lock is held, and the name was just given here. Others give theirs without the lock, and look for this one then: so no node's look
// is before all of them are made. EEXIST: another node has one.
Status settle_name(Job& job, const std::string& path, const file::Seen& seen, const Made* made) {
  NodeNumbers removed;
  const Status status = give_way(job, path, seen, made, &removed);
  if (status.code() == ESTALE) return is_there(path);
  if (status.ok()) put_away_elsewhere(job, path, removed);
  return status;
}

}  // namespace

Status make_file(Job& job, const std::string& path, uint32_t mode, const UseMade& use) {
  return one_at_a_time(job, path, [&]() -> Status {
    CAIRN_TRY_ASSIGN(made, make_here(job, path, mode));
    const Status status = settle_name(job, path, {made.number, made.generation}, &made);
    if (status.code() == EEXIST) return status;
    if (status.ok()) return let_stay(job, made, use);
    return let_stay(job, made, [&](const file::Created&) { return status; });
  });
}

Status make_or_give_way(Job& job, const std::string& path, uint32_t mode, const UseMade& use) {
  CAIRN_TRY_ASSIGN(made, make_here(job, path, mode));
  NodeNumbers removed;
  auto other = is_elsewhere(job, path, &removed);
  Status status = other.status();
  if (other.ok() && *other != 0)
    status = one_at_a_time(job, path, [&] {
      return give_way(job, path, {made.number, made.generation}, &made, &removed);
    });
  if (status.code() == ESTALE) return status;
  put_away_elsewhere(job, path, removed);
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
  CAIRN_TRY_ASSIGN(spot, spot_of(job, path));
  const Status status = file::with_room(job.fs(), [&] {
    return file::link_inode(job.fs(), inode.number, spot.parent, spot.name, inode.generation);
  });
  // Not the directory of the new name: another node has the file now, or nobody.
  return status.code() == ENOENT && may_get_name(job, inode).code() == ESTALE ? is_replaced()
                                                                              : status;
}

// A file has its name at once, unlike one that is made: it may be open. So other nodes are asked before, too.
Status link_file(Job& job, const file::Map& map, const file::Seen& inode, const std::string& path) {
  CAIRN_TRY_ASSIGN(other, is_elsewhere(job, path));
  if (other != 0) return is_there(path);
  const bool is_first = map.inode->links.load() == 0;
  CAIRN_TRY(link_here(job, inode, path));
  const Status status = settle_name(job, path, inode, nullptr);
  if (!is_first || status.code() != EEXIST) return status;
  // Without a name again, it may get another one.
  CAIRN_TRY(file::set_flags(job.fs(), inode.number, format::flag_nameless, 0));
  return is_there(path);
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
    return fail(EPERM, "%s: neither a directory nor a device gets a further name", path.c_str());
  std::string target;
  if (S_ISLNK(mode)) {
    const pool::SeatGuard seat(job.fs().pool);
    if (!seat.ok()) return pool::no_seat(job.fs().pool);
    CAIRN_TRY_ASSIGN(text, file::link_text(job.fs(), map));
    target = std::move(text);
  }
  const auto here = [&]() -> Status {
    // The others' names take no place of what was removed here, so this one must not either: any node may be drained first.
    change_name(job, {NameOp::put_away, 0, path, ""}).ignore();
    return link_here(job, inode, path);
  };
  // The others' are of their own.
  return make(job, here, {NameOp::make_special, mode, path, target}, NameOp::forget);
}

Status claim_file(Job& job, const std::string& path) {
  auto spot = spot_of(job, path);
  if (!spot.ok()) return spot.status();
  if (!is_on_others(*spot)) return Status();
  return one_at_a_time(job, path, [&]() -> Status {
    // Another node was first: nothing is known of it here by now.
    auto now = spot_of(job, path);
    if (!now.ok()) return now.status();
    if (!now->exists()) return fail(ESTALE, "%s: another node has changed it", path.c_str());
    const bool was_unchanged =
        tier::change_time(job.fs(), now->map) == now->map.inode->drained.load();
    // A change of its time, by which they find it here before anything is written.
    CAIRN_TRY(change_name(job, {NameOp::set_mode, now->mode(), path, ""}));
    const Status status = on_others(job, {NameOp::claim, 0, path, ""});
    if (!status.ok() && was_unchanged)
      tier::set_drained(job.fs(), now->map, tier::change_time(job.fs(), now->map));
    return status;
  });
}

namespace {

Status rename_everywhere(Job& job, uint32_t mode, const std::string& from, const std::string& to) {
  const NameChange check = {NameOp::check_rename, mode, from, to};
  CAIRN_TRY(change_name(job, check));
  CAIRN_TRY(on_others(job, check));
  if (directory_of(from) != directory_of(to)) CAIRN_TRY(make_parents(job, to));
  const NameChange change = {NameOp::rename, 0, from, to};
  return everywhere(job, change, change, {NameOp::rename, 0, to, from});
}

// A file that is this node's. What others know of the two names is void.
Status rename_here(Job& job, const Spot& from, const Spot& to, const std::string& old_path,
                   const std::string& new_path, bool keep) {
  // The new name may have come since it was looked for.
  const unsigned flags = keep ? file::rename_no_replace : 0;
  CAIRN_TRY(file::with_room(job.fs(), [&] {
    return file::rename(job.fs(), {from.parent, from.name, false}, {to.parent, to.name, false},
                        flags);
  }));
  if (is_on_others(from)) CAIRN_TRY(on_others(job, {NameOp::forget, 0, old_path, ""}));
  return is_on_others(to) ? on_others(job, {NameOp::forget, 0, new_path, ""}) : Status();
}

// Another node has made a file of the new name meanwhile. The lock is held: of two that do this, one file stays.
Status replace_others(Job& job, const std::string& path, uint64_t inode) {
  auto spot = spot_of(job, path);
  if (!spot.ok()) return spot.status();
  if (spot->map.number != inode) return Status();
  const Status removed = remove_elsewhere(job, path);
  if (!removed.ok()) return removed.code() == ENOENT ? Status() : removed;
  // It may have taken the place of one of the covered directory.
  put_away_elsewhere(job, path, other_nodes(job));
  return Status();
}

}  // namespace

Status rename_name(Job& job, const std::string& from, const std::string& to, bool keep) {
  const auto call = [&](const Spot& source, const Spot& target) -> Status {
    if (keep && target.exists()) return fail(EEXIST, "%s: file exists", to.c_str());
    if (source.has_no_bytes()) return rename_everywhere(job, source.mode(), from, to);
    return rename_here(job, source, target, from, to, keep);
  };
  const auto look = [&](Spot* source, Spot* target) -> Status {
    for (const auto& [path, spot] : {std::pair(&from, source), std::pair(&to, target)}) {
      auto found = spot_of(job, *path);
      if (!found.ok()) return found.status();
      *spot = std::move(*found);
    }
    return source->exists() ? Status() : missing(from);
  };
  Spot source;
  Spot target;
  CAIRN_TRY(look(&source, &target));
  const bool only_here = !source.has_no_bytes() && !is_on_others(source) && !is_on_others(target);
  if (only_here) {
    CAIRN_TRY(call(source, target));
    NodeNumbers removed;
    auto other = is_elsewhere(job, to, &removed);
    put_away_elsewhere(job, to, removed);
    if (!other.ok() || *other == 0) return other.status();
    return one_at_a_time(job, to, [&] { return replace_others(job, to, source.map.number); });
  }
  return one_at_a_time(job, from, [&]() -> Status {
    CAIRN_TRY(look(&source, &target));
    CAIRN_TRY(call(source, target));
    // Of what all nodes have, each has done so.
    if (source.has_no_bytes()) return Status();
    NodeNumbers removed;
    CAIRN_TRY_ASSIGN(other, is_elsewhere(job, to, &removed));
    put_away_elsewhere(job, to, removed);
    return other == 0 ? Status() : replace_others(job, to, source.map.number);
  });
}

}  // namespace cairn::cluster
