#include "cluster/names/rename_remote.h"

#include "cluster/local/local_entry.h"
#include "cluster/local/local_server.h"
#include "cluster/names/free_name.h"
#include "cluster/remote/find_remote.h"
#include "cluster/remote/name_broadcast.h"
#include "cluster/remote/remote_files.h"

namespace cairn::cluster {
namespace {

// A file of node `holder` has got the name: those of `rest` and of this node go, which may have got
// it meanwhile. What has taken the file's place since is newer.
Status remove_others(Job& job, uint32_t holder, const NodeNumbers& rest, const std::string& path) {
  CAIRN_TRY_ASSIGN(has, has_file(job, {holder}, path));
  if (!has) return Status();
  CAIRN_TRY(ask_nodes(job, rest, request_of(Op::remove_file), path).status);
  const Status own = remove_own(job, path);
  return own.code() == ENOENT ? Status() : own;
}

}  // namespace

Status rename_remote(Job& job, const std::string& from, const std::string& to, bool keep) {
  uint32_t node = 0;
  // Directories above the new name may have been made by this node's programs before it was a job.
  bool has_parents = false;
  const auto make_parents_once = [&]() -> Status {
    if (has_parents) return missing(to);
    has_parents = true;
    return make_parents(job, to);
  };
  const auto rename = [&]() -> Status {
    Request request = request_of(Op::rename_file);
    request.value = keep ? file::rename_no_replace : 0;
    CAIRN_TRY_ASSIGN(asked, ask_its_node(job, from, request, with_bytes(from, to.data(), to.size()),
                                         make_parents_once));
    node = asked;
    return Status();
  };
  if (keep) {
    CAIRN_TRY(rename_if_free(job, to, &node, rename, [&] {
      Request request = request_of(Op::rename_file);
      request.value = file::rename_no_replace;
      return ask_nodes(job, {node}, request, with_bytes(to, from.data(), from.size())).status;
    }));
  } else {
    CAIRN_TRY(rename());
  }
  NodeNumbers rest = other_nodes(job);
  std::erase(rest, node);
  if (!keep) CAIRN_TRY(remove_others(job, node, rest, to));
  change_name(job, {NameOp::displace, 0, to, ""}).ignore();  // as remote_files.h says
  displace_on(job, to, rest);
  return Status();
}

}  // namespace cairn::cluster
