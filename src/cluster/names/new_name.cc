#include "cluster/names/new_name.h"

#include <algorithm>

#include "cluster/local/paths_of.h"
#include "cluster/remote/find_remote.h"
#include "cluster/rpc/broadcast.h"

namespace cairn::cluster {
namespace {

bool is_same(const std::vector<Past>& a, const std::vector<Past>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Past& one, const Past& other) {
    return one.renamings == other.renamings;
  });
}

bool is_one_under_way(const std::vector<Past>& past) {
  return std::any_of(past.begin(), past.end(),
                     [](const Past& one) { return (one.renamings & 1) != 0; });
}

}  // namespace

Result<NewName::Others> NewName::look_at_others(Locked locked) const {
  Others others;
  others.path = path_;
  std::vector<Past> before = heard_;
  for (bool is_first = true;; is_first = false) {
    OtherNodes around;
    const auto found = find_remote(job_, others.path, false, &around);
    if (!found.ok() && found.code() != ENOENT) return found.status();
    // Where nobody can be asked, nobody renames.
    const bool is_news = !around.past.empty() && !is_same(before, around.past);
    if (!is_news) {
      if (!is_first) job_.note_renamings(around.past);
      others.have_it = found.ok();
      others.removed = std::move(around.removed);
      return others;
    }
    if (locked == Locked::no && is_one_under_way(around.past)) {
      others.are_renaming = true;
      return others;
    }
    before = std::move(around.past);
    CAIRN_TRY_ASSIGN(path, path_now(job_, others.path, inode_));
    others.path = path;
    if (path.empty()) return others;
  }
}

Status tell_of_renaming(Job& job, bool begins) {
  if (!job.has_messages()) return Status();
  NodeNumbers all(job.nodes());
  for (uint32_t node = 0; node < job.nodes(); ++node) all[node] = node;
  Request request = {};
  request.op = Op::note_renaming;
  request.value = begins ? 1 : 0;
  return ask_nodes(job, all, request, "").status;
}

}  // namespace cairn::cluster
