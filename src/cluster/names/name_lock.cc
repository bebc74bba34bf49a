#include "cluster/names/name_lock.h"

#include "base/saved_failure.h"
#include "cluster/rpc/job_lock.h"

namespace cairn::cluster {
namespace {

// Whose server holds the lock under which names change, and what it is called there.
constexpr uint32_t keeper = 0;
constexpr uint64_t lock_word = 0x6e616d6573ULL;

Status under_lock(Job& job, const std::string& path, Told told, const Step& call) {
  if (!job.has_messages()) return call();
  CAIRN_TRY(lock(job, keeper, lock_word, path, &told));
  Status status;
  for (const std::string& left : told.left)
    if (status.ok()) status = finish(job, left);
  const bool unfinished = !status.ok();
  if (status.ok()) status = call();
  const SavedFailure saved(status);
  const Status unlocked = unlock(job, keeper, lock_word, unfinished);
  return saved.or_of(unlocked);
}

}  // namespace

Status one_at_a_time(Job& job, const Intent& intent, const Step& call) {
  return under_lock(job, intent.change.path, {packed(intent), {}}, call);
}

Status one_at_a_time(Job& job, const std::string& path, const Step& call) {
  return under_lock(job, path, {}, call);
}

Status make_everywhere(Job& job, const Step& here, const NameChange& there, NameOp removal) {
  return one_at_a_time(job, {IntentKind::making, there, job.self()}, [&]() -> Status {
    const NameChange undo = {removal, 0, there.path, ""};
    const Status status = everywhere_after(job, here, there, undo);
    // Missing here, it would have been missing to the caller.
    if (status.code() != ENOENT || there.path.find('/') == std::string::npos) return status;
    CAIRN_TRY(make_parents(job, there.path));
    return everywhere_after(job, here, there, undo);
  });
}

}  // namespace cairn::cluster
