// Names without bytes on all nodes, and what lies in the covered directory and changes. name_change.cc makes a change on one node.
#include "cluster/names.h"

#include <sys/stat.h>

#include "cluster/names_parts.h"
#include "tier/drain_state.h"

namespace cairn::cluster {

namespace {

Status make(Job& job, const NameChange& change, NameOp removal) {
  return make_everywhere(
      job, [&] { return change_name(job, change); }, change, removal);
}

}  // namespace

Status make_directory(Job& job, const std::string& path, uint32_t mode) {
  return make(job, {NameOp::make_directory, mode, path, ""}, NameOp::remove_directory);
}

Status make_symbolic_link(Job& job, const std::string& path, const std::string& target) {
  return make(job, {NameOp::make_special, S_IFLNK | 0777, path, target}, NameOp::forget);
}

Status make_special(Job& job, const std::string& path, uint32_t mode) {
  return make(job, {NameOp::make_special, mode, path, ""}, NameOp::forget);
}

Status set_mode_everywhere(Job& job, const std::string& path, uint32_t mode) {
  return one_at_a_time(job, path, [&]() -> Status {
    const NameChange change = {NameOp::set_mode, mode, path, ""};
    CAIRN_TRY(change_name(job, change));
    return on_others(job, change);
  });
}

Status remove_directory(Job& job, const std::string& path) {
  return one_at_a_time(job, path, [&]() -> Status {
    CAIRN_TRY(on_others(job, {NameOp::check_removal, 0, path, ""}));
    auto mode = mode_of_name(job, path);
    if (!mode.ok()) return mode.status();
    return everywhere(job, {NameOp::remove_directory, 0, path, ""},
                      {NameOp::forget_directory, 0, path, ""},
                      {NameOp::make_directory, *mode, path, ""});
  });
}

Status remove_file(Job& job, const std::string& path) {
  auto spot = spot_of(job, path);
  if (!spot.ok()) return spot.status();
  const auto here = [&] { return file::unlink_name(job.fs(), spot->parent, spot->name); };
  if (!is_on_others(*spot)) return here();
  return one_at_a_time(job, path, [&]() -> Status {
    CAIRN_TRY(here());
    return on_others(job, {NameOp::forget, 0, path, ""});
  });
}

Status claim_file(Job& job, const std::string& path) {
  auto spot = spot_of(job, path);
  if (!spot.ok()) return spot.status();
  if (!is_on_others(*spot)) return Status();
  return one_at_a_time(job, path, [&]() -> Status {
    // Another node was first: nothing is known of it here by now.
    auto now = spot_of(job, path);
    if (!now.ok()) return now.status();
    if (!now->exists()) return fail(ESTALE, "%s: another node has changed it", path.c_str());
    const bool was_unchanged =
        tier::change_time(job.fs(), now->map) == now->map.inode->drained.load();
    // A change of its time, by which they find it here before anything is written.
    CAIRN_TRY(change_name(job, {NameOp::set_mode, now->mode(), path, ""}));
    const Status status = on_others(job, {NameOp::claim, 0, path, ""});
    if (!status.ok() && was_unchanged)
      tier::set_drained(job.fs(), now->map, tier::change_time(job.fs(), now->map));
    return status;
  });
}

}  // namespace cairn::cluster
