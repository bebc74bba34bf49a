// Names without bytes on all nodes, and what lies in the covered directory and changes.
// name_op.cc makes a change on one node.
#include "cluster/names/names.h"

#include <sys/stat.h>

#include "base/saved_failure.h"
#include "cluster/local/local_entry.h"
#include "cluster/local/name_op.h"
#include "cluster/local/paths_of.h"
#include "cluster/names/free_name.h"
#include "cluster/names/intent.h"
#include "cluster/names/name_lock.h"
#include "cluster/remote/name_broadcast.h"
#include "file/inode/moving.h"
#include "pool/lanes/seats.h"
#include "tier/changes/changes.h"

namespace cairn::cluster {

namespace {

Status make(Job& job, const NameChange& change, NameOp removal) {
  return make_everywhere(
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

Status set_attributes_everywhere(Job& job, const std::string& path,
                                 const file::Remote::Change& attributes) {
  const NameChange change = set_attributes(path, attributes);
  return one_at_a_time(job, {IntentKind::setting_attributes, change, job.self()}, [&]() -> Status {
    CAIRN_TRY(change_name(job, change));
    return on_others(job, change);
  });
}

Status set_attributes_of(Job& job, const file::Seen& inode,
                         const file::Remote::Change& attributes) {
  const auto set = [&](const std::string& path) {
    const NameChange change = set_attributes(path, attributes);
    return one_at_a_time(
        job, {IntentKind::setting_attributes, change, job.self()}, [&]() -> Status {
          CAIRN_TRY(change_name(job, {NameOp::look, 0, path, seen_as_text(inode)}));
          CAIRN_TRY(change_name(job, change));
          return on_others(job, change);
        });
  };
  // Its names may change while they are looked for.
  constexpr int tries = 10;
  Status status;
  for (int i = 0; i < tries; ++i) {
    CAIRN_TRY_ASSIGN(paths, paths_of(job, inode));
    status = paths.empty() ? fail(ENOENT, "it has no name any more") : Status();
    for (const std::string& path : paths)
      if (status.ok()) status = set(path);
    if (status.code() != ENOENT || paths.empty()) break;
  }
  return status;
}

Status remove_directory(Job& job, const std::string& path) {
  CAIRN_TRY_ASSIGN(mode, mode_of_name(job, path));
  const NameChange change = {NameOp::remove_directory, mode, path, ""};
  return one_at_a_time(job, {IntentKind::removing_directory, change, job.self()},
                       [&]() -> Status {
                         CAIRN_TRY(on_others(job, {NameOp::check_removal, 0, path, ""}));
                         return everywhere(job, change, {NameOp::forget_directory, 0, path, ""},
                                           {NameOp::make_directory, mode, path, ""});
                       });
}

Status remove_file(Job& job, const std::string& path) {
  auto entry = local_entry(job, path);
  if (!entry.ok()) return entry.status();
  const auto here = [&] { return file::unlink_name(job.fs(), entry->parent, entry->name); };
  if (!is_on_others(*entry)) return here();
  const NameChange change = {NameOp::forget, 0, path, ""};
  const Intent intent = {IntentKind::removing, change, job.self(), entry->seen()};
  return one_at_a_time(job, intent, [&]() -> Status {
    CAIRN_TRY(here());
    return on_others(job, {NameOp::forget, 0, path, ""});
  });
}

namespace {

Status is_claimed_elsewhere(const std::string& path) {
  return fail(ESTALE, "%s: another node has changed it", path.c_str());
}

// Another node is about to have it. Not under the lock, which may be what that one waits for.
Status await_place(Job& job, const LocalEntry& entry) {
  if (!file::is_moving(*entry.map.inode)) return Status();
  const pool::SeatGuard seat(job.fs().pool);
  if (!seat.ok()) return pool::no_seat(job.fs().pool);
  file::await_place(job.fs(), *seat, entry.map);
  return Status();
}

// It has neither gone to another node, nor is it about to.
bool is_still_here(Job& job, const std::string& path, const file::Seen& seen) {
  const auto entry = local_entry(job, path);
  return entry.ok() && entry->exists() && entry->map.number == seen.number &&
         entry->generation == seen.generation && !file::is_moving(*entry->map.inode);
}

}  // namespace

Status claim_file(Job& job, const std::string& path) {
  CAIRN_TRY_ASSIGN(entry, local_entry(job, path));
  if (!is_on_others(entry)) return Status();
  CAIRN_TRY(await_place(job, entry));
  const NameChange claim = {NameOp::claim, 0, path, ""};
  return one_at_a_time(job, {IntentKind::claiming, claim, job.self()}, [&]() -> Status {
    // Another node was first: nothing is known of it here by now.
    if (!is_still_here(job, path, entry.seen())) return is_claimed_elsewhere(path);
    const bool was_unchanged =
        tier::change_time(job.fs(), entry.map) == entry.map.inode->drained.load();
    // A change of its time, by which they find it here before anything is written.
    file::Remote::Change same;
    same.mode = entry.mode() & 07777;
    CAIRN_TRY(change_name(job, set_attributes(path, same)));
    const Status status = on_others(job, claim);
    if (status.ok()) return status;
    const SavedFailure saved(status);
    // A process that takes a file asks for no lock: another node has it, or both have for this
    // moment.
    if (!is_still_here(job, path, entry.seen())) return is_claimed_elsewhere(path);
    if (was_unchanged)
      tier::set_drained(job.fs(), entry.map, tier::change_time(job.fs(), entry.map));
    return saved.restored();
  });
}

}  // namespace cairn::cluster
