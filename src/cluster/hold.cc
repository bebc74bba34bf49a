#include "cluster/hold.h"

#include <cstring>

#include "cluster/ask.h"
#include "cluster/spot.h"

namespace cairn::cluster {

Result<std::shared_ptr<Hold>> Hold::take(Job& job, const std::string& path, bool writing) {
  if (!job.has_messages()) return missing(path);
  Request request = {};
  request.op = Op::hold_file;
  request.which = writing ? 1 : 0;
  const Answers answers = ask_nodes(job, other_nodes(job), request, path, sizeof(FileState));
  // If several have one, those that are not wanted let go of theirs here.
  std::shared_ptr<Hold> first;
  for (const Answers::One& one : answers.all) {
    if (one.size != sizeof(FileState)) continue;
    FileState state;
    std::memcpy(&state, one.bytes, sizeof state);
    auto hold = std::make_shared<Hold>(job, one.node, state, writing);
    if (first == nullptr) first = std::move(hold);
  }
  CAIRN_TRY(answers.status);
  return first == nullptr ? Result<std::shared_ptr<Hold>>(missing(path)) : first;
}

Hold::~Hold() {
  // With the job its servers let go of everything.
  if (job_.has_ended()) return;
  Request request = {};
  request.op = Op::release_file;
  request.which = writing_ ? 1 : 0;
  request.uuid = state_.file;
  job_.ask(node_, request)
      .status()
      .ignore();  // a node that does not answer is told of by other calls
}

}  // namespace cairn::cluster
