// Sends one request to the servers of several nodes concurrently, and collects their answers.
#pragma once

#include <string>
#include <vector>

#include "cluster/rpc/job.h"

namespace cairn::cluster {

using NodeNumbers = std::vector<uint32_t>;
// All nodes of the job but this one.
NodeNumbers other_nodes(const Job& job);

struct NodeAnswers {
  struct One {
    uint32_t node;
    int64_t value;
    const uint8_t* bytes;  // in `replies`
    size_t size;
  };
  Status status;         // the first failure; its text is the thread's last
  std::vector<One> all;  // of those that did not fail, in the order of the nodes
  std::vector<uint8_t> replies;
};
// `text` follows the request; `room`: for what follows a reply.
NodeAnswers ask_nodes(const Job& job, const NodeNumbers& nodes, Request request,
                      const std::string& text, size_t room = 0);

}  // namespace cairn::cluster
