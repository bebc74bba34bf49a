#include "cluster/remote/remote_pin.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "cluster/local/local_entry.h"
#include "cluster/remote/find_remote.h"
#include "cluster/rpc/broadcast.h"

namespace cairn::cluster {

namespace {

void let_go(const Job& job, uint32_t node, const FileState& state, bool writing) {
  Request request = {};
  request.op = Op::release_file;
  request.which = writing ? 1 : 0;
  request.uuid = state.file;
  job.ask(node, request)
      .status()
      .ignore();  // a node that does not answer is told of by other calls
}

// A file that is moving has its place in a few messages' time, unless who moves it was killed.
NodeAnswers ask_until_settled(const Job& job, Request request, const std::string& path) {
  using std::chrono::steady_clock;
  constexpr auto longest = std::chrono::seconds(5);
  constexpr auto longest_pause = std::chrono::microseconds(1000);
  const auto until = steady_clock::now() + longest;
  for (auto pause = std::chrono::microseconds(50);; pause = std::min(pause * 2, longest_pause)) {
    NodeAnswers answers = ask_nodes(job, other_nodes(job), request, path, sizeof(FileState));
    if (answers.status.code() != EAGAIN || request.value != 0) return answers;
    for (const NodeAnswers::One& one : answers.all)
      if (one.size == sizeof(FileState)) let_go(job, one.node, state_in(one), request.which != 0);
    if (steady_clock::now() >= until) request.value = 1;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

Result<std::shared_ptr<RemotePin>> RemotePin::take(Job& job, const std::string& path,
                                                   bool writing) {
  if (!job.has_messages()) return missing(path);
  Request request = {};
  request.op = Op::hold_file;
  request.which = writing ? 1 : 0;
  const NodeAnswers answers = ask_until_settled(job, request, path);
  // If several have one, those that are not wanted let go of theirs here.
  std::shared_ptr<RemotePin> first;
  for (const NodeAnswers::One& one : answers.all) {
    if (one.size != sizeof(FileState)) continue;
    auto hold = std::make_shared<RemotePin>(job, one.node, state_in(one), writing);
    if (first == nullptr) first = std::move(hold);
  }
  CAIRN_TRY(answers.status);
  return first == nullptr ? Result<std::shared_ptr<RemotePin>>(missing(path)) : first;
}

RemotePin::~RemotePin() {
  // With the job its servers let go of everything.
  if (!job_.has_ended()) let_go(job_, node_, state_, writing_);
}

}  // namespace cairn::cluster
