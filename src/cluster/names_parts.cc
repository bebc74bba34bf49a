#include "cluster/names_parts.h"

#include <sys/stat.h>

#include "cluster/job_lock.h"

namespace cairn::cluster {
namespace {

// Whose server holds the lock under which names change, and what it is called there.
constexpr uint32_t keeper = 0;
constexpr uint64_t lock_word = 0x6e616d6573ULL;

}  // namespace

Status change_on(const Job& job, const NodeNumbers& nodes, const NameChange& change,
                 NodeNumbers* changed) {
  Request request = {};
  request.op = Op::change_name;
  request.which = static_cast<uint32_t>(change.op);
  request.value = change.mode;
  request.home = change.flags;
  const NodeAnswers answers = ask_nodes(job, nodes, request, change.path + '\0' + change.other);
  for (const NodeAnswers::One& one : answers.all)
    if (one.value != 0) changed->push_back(one.node);
  return answers.status;
}

Status on_others(const Job& job, const NameChange& change) {
  NodeNumbers changed;
  return change_on(job, other_nodes(job), change, &changed);
}

Status everywhere_after(Job& job, const Step& here, const NameChange& there,
                        const NameChange& undo) {
  CAIRN_TRY(here());
  NodeNumbers changed;
  const Status status = change_on(job, other_nodes(job), there, &changed);
  if (status.ok()) return status;
  const std::string text = last_detail();
  change_on(job, NodeNumbers(changed), undo, &changed).ignore();
  change_name(job, undo).ignore();
  return fail(status.code(), "%s", text.c_str());
}

Status everywhere(Job& job, const NameChange& here, const NameChange& there,
                  const NameChange& undo) {
  return everywhere_after(
      job, [&] { return change_name(job, here); }, there, undo);
}

bool is_on_others(const Spot& spot) {
  return spot.exists() && !spot.is_directory() && (spot.has_no_bytes() || spot.has_lower);
}

Status make_parents(Job& job, const std::string& path) {
  for (size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string above = path.substr(0, slash);
    auto mode = mode_of_name(job, above);
    if (!mode.ok()) return mode.status();
    CAIRN_TRY(on_others(job, {NameOp::make_directory, *mode, above, ""}));
  }
  return Status();
}

namespace {

Status under_lock(Job& job, const std::string& path, Told told, const Step& call) {
  if (!job.has_messages()) return call();
  CAIRN_TRY(lock(job, keeper, lock_word, path, &told));
  Status status;
  for (const std::string& left : told.left)
    if (status.ok()) status = finish(job, left);
  const bool unfinished = !status.ok();
  if (status.ok()) status = call();
  const std::string text = status.ok() ? "" : last_detail();
  const Status unlocked = unlock(job, keeper, lock_word, unfinished);
  return status.ok() ? unlocked : fail(status.code(), "%s", text.c_str());
}

}  // namespace

Status one_at_a_time(Job& job, const Undertaking& undertaking, const Step& call) {
  return under_lock(job, undertaking.change.path, {packed(undertaking), {}}, call);
}

Status one_at_a_time(Job& job, const std::string& path, const Step& call) {
  return under_lock(job, path, {}, call);
}

Status make_everywhere(Job& job, const Step& here, const NameChange& there, NameOp removal) {
  return one_at_a_time(job, {UndertakingKind::making, there, job.self()}, [&]() -> Status {
    const NameChange undo = {removal, 0, there.path, ""};
    const Status status = everywhere_after(job, here, there, undo);
    // Missing here, it would have been missing to the caller.
    if (status.code() != ENOENT || there.path.find('/') == std::string::npos) return status;
    CAIRN_TRY(make_parents(job, there.path));
    return everywhere_after(job, here, there, undo);
  });
}

Result<int> is_elsewhere(Job& job, const std::string& path) {
  const auto other = find_elsewhere(job, path);
  if (other.ok()) return 1;
  return other.code() == ENOENT ? Result<int>(0) : Result<int>(other.status());
}

}  // namespace cairn::cluster
