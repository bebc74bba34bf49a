#include "tier/drain/undrained.h"

#include <sys/stat.h>

#include "tier/changes/changes.h"
#include "tier/drain/plan.h"

namespace cairn::tier {

Result<bool> is_all_drained(file::FileSystem& fs, uint64_t number) {
  auto top = file::live_inode(fs, number);
  if (!top.ok()) return top.status();
  auto left =
      any_name(fs, top_of(fs, {*top, number}, ""), true,
               [&](const DrainDirectory& where, const file::Listed& listed, file::Inode* inode) {
                 if (listed.whiteout || inode == nullptr) return true;
                 const file::Map map{inode, listed.inode};
                 const bool is_directory = S_ISDIR(inode->mode.load());
                 if (is_left_out(fs, where, listed, map) && !(is_directory && listed.has_lower))
                   return false;
                 return !is_drained(fs, where, listed, map) ||
                        (is_directory && !has_place(where, listed, inode));
               });
  if (!left.ok()) return left.status();
  return !*left;
}

Status for_each_undrained(file::FileSystem& fs, uint64_t number, const VisitUndrained& visit) {
  auto inode = file::live_inode(fs, number);
  if (!inode.ok()) return inode.status();
  Plan plan;
  plan.visit = visit;
  return make_plan(fs, nullptr, top_of(fs, {*inode, number}, ""), &plan);
}

Result<Undrained> undrained_data(file::FileSystem& fs, uint64_t number) {
  auto inode = file::live_inode(fs, number);
  if (!inode.ok()) return inode.status();
  Plan plan;
  CAIRN_TRY(make_plan(fs, nullptr, top_of(fs, {*inode, number}, ""), &plan));
  return Undrained{plan.count,       plan.bytes,    plan.modes,   plan.oldest,
                   plan.oldest_time, plan.left_out, plan.renamed, plan.kept_back};
}

}  // namespace cairn::tier
