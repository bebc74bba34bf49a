// Renaming to a name that must be free, on all nodes. Files get their names without the lock under
// which this is done: who finds one after he has renamed his goes back to the old name.
#include <algorithm>
#include <cstring>

#include "cluster/names_parts.h"

namespace cairn::cluster {

Result<bool> has_file(const Job& job, const NodeNumbers& nodes, const std::string& path) {
  Request request = {};
  request.op = Op::look_file;
  const NodeAnswers answers = ask_nodes(job, nodes, request, path, sizeof(FileState));
  CAIRN_TRY(answers.status);
  return std::any_of(answers.all.begin(), answers.all.end(), [](const NodeAnswers::One& one) {
    FileState state = {};
    if (one.size != sizeof state) return false;
    std::memcpy(&state, one.bytes, sizeof state);
    return state.removed == 0;
  });
}

namespace {

Status is_there(const std::string& path) { return fail(EEXIST, "%s: file exists", path.c_str()); }

bool is_none(int error) { return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG; }

// `holder`: not what this node has.
Status check_free(Job& job, const std::string& path, uint32_t holder, bool is_shared) {
  CAIRN_TRY_ASSIGN(spot, spot_of(job, path));
  if (holder != job.self() && spot.exists()) return is_there(path);
  if (!is_shared) {
    const auto record = read_record(job.records(), path);
    if (record.ok()) return is_there(path);
    if (!is_none(record.code())) return record.status();
  }
  NodeNumbers others = other_nodes(job);
  if (holder == job.self() || holder == job.nodes()) {
    CAIRN_TRY_ASSIGN(other, is_elsewhere(job, path));
    return other == 0 ? Status() : is_there(path);
  }
  std::erase(others, holder);
  CAIRN_TRY_ASSIGN(has, has_file(job, others, path));
  return has ? is_there(path) : Status();
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
  const std::string text = last_detail();
  if (back().ok()) return fail(status.code(), "%s", text.c_str());
  return fail(
      EIO, "%s: another node has created it, and the old name as well: the name has two files now",
      path.c_str());
}

}  // namespace cairn::cluster
