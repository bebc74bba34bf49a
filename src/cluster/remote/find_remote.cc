#include "cluster/remote/find_remote.h"

#include <bit>
#include <cstring>

#include "cluster/local/local_entry.h"

namespace cairn::cluster {

std::string with_bytes(const std::string& path, const void* bytes, size_t size) {
  return path + '\0' + std::string(static_cast<const char*>(bytes), size);
}

Request request_of(Op op, int64_t value) {
  Request request = {};
  request.op = op;
  request.value = value;
  return request;
}

FileState state_in(const NodeAnswers::One& one) {
  FileState state;
  std::memcpy(&state, one.bytes, sizeof state);
  return state;
}

Result<RemoteFile> find_remote(Job& job, const std::string& path, bool asks_busy,
                               OtherNodes* around) {
  if (!job.has_messages()) return missing(path);
  Request request = request_of(Op::look_file);
  request.which = asks_busy ? 1 : 0;
  std::vector<Past> past = job.heard();
  while (true) {
    const NodeAnswers answers = ask_nodes(job, other_nodes(job), request, path, sizeof(FileState));
    CAIRN_TRY(answers.status);
    bool any_taken = false;
    NodeNumbers removed;
    const NodeAnswers::One* first = nullptr;
    for (const NodeAnswers::One& one : answers.all) {
      const auto now = std::bit_cast<Past>(one.value);
      any_taken = any_taken || past[one.node].taken != now.taken;
      past[one.node] = now;
      if (one.size != sizeof(FileState)) continue;
      if (state_in(one).removed == 0 && first == nullptr) first = &one;
      if (state_in(one).removed != 0) removed.push_back(one.node);
    }
    job.note_taken(past);
    if (around != nullptr) *around = {std::move(removed), past};
    if (first != nullptr) return RemoteFile{first->node, state_in(*first)};
    // One that went from a node that was asked last to one that was asked first is on none.
    if (!any_taken) return missing(path);
  }
}

Result<uint32_t> ask_its_node(Job& job, const std::string& path, const Request& request,
                              const std::string& text, const Step& lacks) {
  uint32_t asked = job.nodes();
  for (int i = 0; i < most_nodes_asked; ++i) {
    CAIRN_TRY_ASSIGN(found, find_remote(job, path));
    if (found.node == asked) CAIRN_TRY(lacks());
    asked = found.node;
    const NodeAnswers answers = ask_nodes(job, {found.node}, request, text);
    CAIRN_TRY(answers.status);
    if (!answers.all.empty() && answers.all.front().value != 0) return found.node;
  }
  return fail(EBUSY, "%s: it moves between nodes faster than it can be found; retry", path.c_str());
}

}  // namespace cairn::cluster
