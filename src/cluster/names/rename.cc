// Renaming: what all nodes have on all of them, a file on the node that has it.
#include <sys/stat.h>

#include "base/saved_failure.h"
#include "cluster/local/local_entry.h"
#include "cluster/local/name_op.h"
#include "cluster/names/free_name.h"
#include "cluster/names/intent.h"
#include "cluster/names/name_lock.h"
#include "cluster/names/names.h"
#include "cluster/names/new_name.h"
#include "cluster/names/rename_intent.h"
#include "cluster/names/rename_remote.h"
#include "cluster/remote/name_broadcast.h"
#include "cluster/remote/remote_files.h"
#include "cluster/shared/by_name.h"
#include "cluster/shared/moved_records.h"
#include "file/space/make_room.h"

namespace cairn::cluster {
namespace {

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

// A directory that had the new name and was empty is there again where its place was taken.
void remake(Job& job, const std::string& path, uint32_t mode) {
  const NameChange change = {NameOp::make_directory, mode, path, ""};
  change_name(job, change).ignore();  // where it is still there
  on_others(job, change).ignore();
}

// Others may make files of the names meanwhile, without the lock: `keep` leaves them, also where it
// is taken back.
Status rename_announced(Job& job, uint32_t mode, const std::string& from, const std::string& to,
                        bool keep) {
  const auto replaced = mode_of_name(job, to);
  const NameChange change = {NameOp::rename, 0, from, to, keep ? file::rename_no_replace : 0};
  const NameChange undo = {NameOp::rename, 0, to, from, file::rename_no_replace};
  Status status = everywhere(job, change, change, undo);
  if (status.ok() && S_ISDIR(mode)) {
    status = move_records(job, from, to);
    if (status.ok()) return status;
    const SavedFailure saved(status);
    on_others(job, undo).ignore();
    change_name(job, undo).ignore();
    status = saved.restored();
  }
  if (status.ok() || !replaced.ok() || !S_ISDIR(*replaced)) return status;
  const SavedFailure saved(status);
  remake(job, to, *replaced);
  return saved.restored();
}

// After all checks.
Status rename_noted(Job& job, uint32_t mode, const RenameIntent& renaming, bool keep) {
  CAIRN_TRY(announce(job, renaming));
  const Status status = rename_announced(job, mode, renaming.from, renaming.to, keep);
  const SavedFailure saved(status);
  const Status ended = end_renaming(job.records(), renaming.id);
  return saved.or_of(ended);
}

Status rename_everywhere(Job& job, uint32_t mode, const RenameIntent& renaming, bool keep) {
  const std::string& from = renaming.from;
  const std::string& to = renaming.to;
  const NameChange check = {NameOp::check_rename, mode, from, to};
  CAIRN_TRY(change_name(job, check));
  if (S_ISDIR(mode)) CAIRN_TRY(check_no_records(job, to));
  if (keep) CAIRN_TRY(check_free(job, to));
  CAIRN_TRY(on_others(job, check));
  if (directory_of(from) != directory_of(to)) CAIRN_TRY(make_parents(job, to));
  if (!S_ISDIR(mode)) return rename_noted(job, mode, renaming, keep);
  Status status = tell_of_renaming(job, true);
  if (status.ok()) status = rename_noted(job, mode, renaming, keep);
  const SavedFailure saved(status);
  tell_of_renaming(job, false).ignore();  // who has not heard of that takes the lock
  return saved.restored();
}

// A file that is this node's. What others know of the two names is void.
Status rename_here(Job& job, const LocalEntry& from, const LocalEntry& to,
                   const std::string& old_path, const std::string& new_path, bool keep) {
  const auto rename = [&](const LocalEntry& of, const LocalEntry& into, unsigned flags) {
    return file::with_room(job.fs(), [&] {
      return file::rename(job.fs(), {of.parent, of.name, false}, {into.parent, into.name, false},
                          flags);
    });
  };
  const uint32_t self = job.self();
  if (keep)
    CAIRN_TRY(rename_if_free(
        job, new_path, &self, [&] { return rename(from, to, file::rename_no_replace); },
        [&] { return rename(to, from, file::rename_no_replace); }));
  else
    CAIRN_TRY(rename(from, to, 0));
  if (is_on_others(from)) CAIRN_TRY(on_others(job, {NameOp::forget, 0, old_path, ""}));
  return is_on_others(to) ? on_others(job, {NameOp::forget, 0, new_path, ""}) : Status();
}

// Another node may have made a file of the new name meanwhile. The lock is held: of two that do
// this, one file stays.
Status replace_others(Job& job, const NewName& name, bool keep) {
  CAIRN_TRY_ASSIGN(others, name.look_at_others(Locked::yes));
  displace_on(job, others.path, others.removed);
  // With `keep` there was none: a node that makes one from then on finds this one, and gives way.
  if (!others.have_it || keep) return Status();
  const auto entry = local_entry(job, others.path);
  // Something has taken its place here since.
  if (!entry.ok() || !name.is_at(*entry)) return Status();
  const Status removed = remove_remote(job, others.path);
  if (!removed.ok()) return removed.code() == ENOENT ? Status() : removed;
  // It may have taken the place of one of the covered directory.
  displace_on(job, others.path, other_nodes(job));
  return Status();
}

}  // namespace

Status rename_name(Job& job, const std::string& from, const std::string& to, bool keep) {
  const RenameIntent renaming = {random_uuid(), from, to, {}};
  const auto call = [&](const LocalEntry& source, const LocalEntry& target) -> Status {
    if (keep && target.exists()) return fail(EEXIST, "%s: file exists", to.c_str());
    if (source.has_no_bytes()) return rename_everywhere(job, source.mode(), renaming, keep);
    return rename_here(job, source, target, from, to, keep);
  };
  const auto look = [&](LocalEntry* source, LocalEntry* target) -> Status {
    for (const auto& [path, entry] : {std::pair(&from, source), std::pair(&to, target)}) {
      auto found = local_entry(job, *path);
      if (!found.ok()) return found.status();
      *entry = std::move(*found);
    }
    return source->exists() ? Status() : missing(from);
  };
  LocalEntry source;
  LocalEntry target;
  CAIRN_TRY(look(&source, &target));
  const bool only_here =
      !keep && !source.has_no_bytes() && !is_on_others(source) && !is_on_others(target);
  const NewName name(job, to, source.seen());
  if (only_here) {
    CAIRN_TRY(call(source, target));
    CAIRN_TRY_ASSIGN(others, name.look_at_others(Locked::no));
    if (others.have_it || others.are_renaming)
      return one_at_a_time(job, to, [&] { return replace_others(job, name, false); });
    displace_on(job, others.path, others.removed);
    return Status();
  }
  const IntentKind doing = source.has_no_bytes() ? IntentKind::renaming : IntentKind::moving_file;
  const NameChange change = {NameOp::rename, 0, from, to, keep ? file::rename_no_replace : 0};
  const Intent intent = {doing, change, job.self(), source.seen(), renaming.id};
  return one_at_a_time(job, intent, [&]() -> Status {
    CAIRN_TRY(look(&source, &target));
    CAIRN_TRY(call(source, target));
    // Of what all nodes have, each has done so.
    if (source.has_no_bytes()) return Status();
    return replace_others(job, NewName(job, to, source.seen()), keep);
  });
}

namespace {

// Also where a name is too long for a record, or what stands for a directory is none.
bool is_missing(int error) { return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG; }

Status none_is_fine(const Status& status) { return is_missing(status.code()) ? Status() : status; }

Status rename_shared_or_other(Job& job, const std::string& from, const std::string& to) {
  const Status shared = rename_shared(job, from, to, false);
  if (shared.ok()) return none_is_fine(remove_remote(job, to));
  if (!is_missing(shared.code())) return shared;
  CAIRN_TRY(rename_remote(job, from, to, false));
  return none_is_fine(remove_shared(job, to));
}

}  // namespace

// Under the lock: files elsewhere are found by their paths at each step, and a directory that gets
// another name changes these.
Status rename_of_job(Job& job, const std::string& from, const std::string& to, bool keep) {
  return one_at_a_time(job, from, [&] {
    if (!keep) return rename_shared_or_other(job, from, to);
    const uint32_t of_all = job.nodes();
    const Status shared = rename_if_free(
        job, to, &of_all, [&] { return rename_shared(job, from, to, true); },
        [&] { return rename_shared(job, to, from, true); });
    return is_missing(shared.code()) ? rename_remote(job, from, to, true) : shared;
  });
}

}  // namespace cairn::cluster
