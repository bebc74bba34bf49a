#include "cluster/shared/held_record.h"

#include <cstring>

#include "base/saved_failure.h"
#include "cluster/rpc/job_lock.h"

namespace cairn::cluster {
namespace {

// Whose server it is, and where there.
constexpr uint32_t open_groups = 0;

uint64_t home_of(const Uuid& uuid) {
  uint64_t word = 0;
  std::memcpy(&word, uuid.data(), sizeof word);
  return ~word;
}

}  // namespace

// A job without messages is of one process: nobody else is there.
Status lock_record(const Job& job, const Uuid& uuid, const std::string& path) {
  return job.has_messages() ? lock(job, keeper, home_of(uuid), path) : Status();
}

Status unlock_record(const Job& job, const Uuid& uuid) {
  return job.has_messages() ? unlock(job, keeper, home_of(uuid)) : Status();
}

Status with_record(const Job& job, const std::string& path,
                   const std::function<Status(Record& record)>& change) {
  while (true) {
    auto seen = read_record(job.records(), path);
    if (!seen.ok()) return seen.status();
    CAIRN_TRY(lock_record(job, seen->uuid, path));
    auto record = read_record(job.records(), path);
    // Another life of the name has another lock.
    const bool same = record.ok() && record->uuid == seen->uuid;
    Status status = record.status();
    if (same) status = change(*record);
    const SavedFailure saved(status);
    const Status unlocked = unlock_record(job, seen->uuid);
    CAIRN_TRY(saved.or_of(unlocked));
    if (same) return Status();
  }
}

Status count_open(const Job& job, const Uuid& uuid, int64_t by) {
  if (!job.has_messages()) return Status();
  Request ask = {};
  ask.op = Op::fetch_add;
  ask.home = home_of(uuid);
  ask.which = open_groups;
  ask.value = by;
  return job.ask(keeper, ask).status();
}

Result<bool> is_open(const Job& job, const Uuid& uuid) {
  if (!job.has_messages()) return false;
  Request ask = {};
  ask.op = Op::fetch_add;
  ask.home = home_of(uuid);
  ask.which = open_groups;
  auto groups = job.ask(keeper, ask);
  if (!groups.ok()) return groups.status();
  return *groups != 0;
}

Status check_closed(const Job& job, const Record& record, const std::string& path) {
  auto open = is_open(job, record.uuid);
  if (!open.ok()) return open.status();
  return *open
             ? fail(EBUSY,
                    "%s: it is open through MPI-IO; other calls cannot write it until it is closed",
                    path.c_str())
             : Status();
}

}  // namespace cairn::cluster
