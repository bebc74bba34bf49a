// The record of a shared file while one process changes it: nobody else does meanwhile. And how
// many groups of processes have the file open. Both lie in the memory of one server, and go with
// the job.
#pragma once

#include <functional>
#include <string>

#include "cluster/rpc/job.h"

namespace cairn::cluster {

// The node whose server keeps the locks and counts of shared files.
constexpr uint32_t keeper = 0;

Status lock_record(const Job& job, const Uuid& uuid, const std::string& path);
Status unlock_record(const Job& job, const Uuid& uuid);

// Calls change(record) with the record locked and as it is then. ENOENT if there is none.
Status with_record(const Job& job, const std::string& path,
                   const std::function<Status(Record& record)>& change);

// A group opens (1) or closes (-1) the file.
Status count_open(const Job& job, const Uuid& uuid, int64_t by);
Result<bool> is_open(const Job& job, const Uuid& uuid);
// EBUSY if it is.
Status check_closed(const Job& job, const Record& record, const std::string& path);

}  // namespace cairn::cluster
