#include "cluster/names/free_name.h"

#include <algorithm>

#include "base/saved_failure.h"
#include "cluster/remote/find_remote.h"

namespace cairn::cluster {

bool is_on_others(const LocalEntry& entry) {
  return entry.exists() && !entry.is_directory() && (entry.has_no_bytes() || entry.has_lower);
}

Result<int> is_remote(Job& job, const std::string& path) {
  const auto other = find_remote(job, path);
  if (other.ok()) return 1;
  return other.code() == ENOENT ? Result<int>(0) : Result<int>(other.status());
}

Status already_there(const std::string& path) {
  return fail(EEXIST, "%s: file exists", path.c_str());
}

namespace {

bool is_none(int error) { return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG; }

// `holder`: not what this node has.
Status check_free(Job& job, const std::string& path, uint32_t holder, bool is_shared) {
  CAIRN_TRY_ASSIGN(entry, local_entry(job, path));
  if (holder != job.self() && entry.exists()) return already_there(path);
  if (!is_shared) {
    const auto record = read_record(job.records(), path);
    if (record.ok()) return already_there(path);
    if (!is_none(record.code())) return record.status();
  }
  NodeNumbers others = other_nodes(job);
  if (holder == job.self() || holder == job.nodes()) {
    CAIRN_TRY_ASSIGN(other, is_remote(job, path));
    return other == 0 ? Status() : already_there(path);
  }
  std::erase(others, holder);
  CAIRN_TRY_ASSIGN(has, has_file(job, others, path));
  return has ? already_there(path) : Status();
}

}  // namespace

Status check_free(Job& job, const std::string& path) {
  return check_free(job, path, job.nodes(), false);
}

Status rename_if_free(Job& job, const std::string& path, const uint32_t* holder, const Step& rename,
                      const Step& back) {
  CAIRN_TRY(check_free(job, path));
  CAIRN_TRY(rename());
  const Status status = check_free(job, path, *holder, *holder == job.nodes());
  if (status.ok()) return status;
  const SavedFailure saved(status);
  if (back().ok()) return saved.restored();
  return fail(
      EIO, "%s: another node has created it, and the old name as well: the name has two files now",
      path.c_str());
}

}  // namespace cairn::cluster
