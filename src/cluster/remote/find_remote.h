// Finding the node that has an ordinary file of a name (remote_files.h), and asking it.
#pragma once

#include <string>
#include <vector>

#include "cluster/remote/name_broadcast.h"
#include "cluster/rpc/broadcast.h"
#include "cluster/rpc/job.h"

namespace cairn::cluster {

struct RemoteFile {
  uint32_t node = 0;
  FileState state = {};
};
// What is told of the nodes besides, also where none has the file.
struct OtherNodes {
  // Those that have removed or moved away what the covered directory has under the name.
  std::vector<uint32_t> removed;
  std::vector<Past> past;  // of all
};
// Whether it could be taken is told if it is asked for.
Result<RemoteFile> find_remote(Job& job, const std::string& path, bool asks_busy = false,
                               OtherNodes* around = nullptr);
// A file that moves is asked for again at the node that it has moved to. Each taking of a file is a
// step ahead for some process, so this many tries are enough.
inline constexpr int most_nodes_asked = 1000;

Request request_of(Op op, int64_t value = 0);
// What a node says of a file.
FileState state_in(const NodeAnswers::One& one);
// The text of a request: a path, and what follows it.
std::string with_bytes(const std::string& path, const void* bytes, size_t size);
// Asks the node that has the file, and returns its number. ENOENT: no other node has it, though
// this one may have it by now. A node that has the file may say that something else is missing:
// then `lacks` is called once before that node is asked again.
Result<uint32_t> ask_its_node(Job& job, const std::string& path, const Request& request,
                              const std::string& text, const Step& lacks);

}  // namespace cairn::cluster
