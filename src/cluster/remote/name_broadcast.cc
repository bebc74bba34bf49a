#include "cluster/remote/name_broadcast.h"

#include <algorithm>
#include <cstring>

#include "base/saved_failure.h"

namespace cairn::cluster {

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
  const SavedFailure saved(status);
  change_on(job, NodeNumbers(changed), undo, &changed).ignore();
  change_name(job, undo).ignore();
  return saved.restored();
}

Status everywhere(Job& job, const NameChange& here, const NameChange& there,
                  const NameChange& undo) {
  return everywhere_after(
      job, [&] { return change_name(job, here); }, there, undo);
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

}  // namespace cairn::cluster
