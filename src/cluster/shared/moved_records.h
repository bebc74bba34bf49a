// Records that go with their directory to another name. The files keep their parts, which their
// uuids name, and may be open meanwhile: a process that commits one looks for its record where it
// is now.
#pragma once

#include <string>

#include "cluster/record/record.h"
#include "cluster/rpc/job.h"

namespace cairn::cluster {

// ENOTEMPTY: there are shared files in the directory or below.
Status check_no_records(const Job& job, const std::string& path);
// Those of the directory `from` and below become those of `to`, which has none. 1, or 0: there are
// none. Nobody may change them meanwhile.
Result<int> rename_records(const RecordsOf& of, const std::string& from, const std::string& to);
// As rename_records(), in a job that lives, with the locks of all these records.
Status move_records(const Job& job, const std::string& from, const std::string& to);

// How often records of this job have been moved; and where the one with this uuid lies now, "" if
// there is none.
Result<int64_t> times_moved(const Job& job);
Result<std::string> find_record(const Job& job, const Uuid& uuid);

}  // namespace cairn::cluster
