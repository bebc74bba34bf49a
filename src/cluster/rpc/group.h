// Group: the processes that have a file open together, as its user gave it, with results that all
// agree on.
#pragma once

#include <functional>
#include <vector>

#include "base/status.h"
#include "cluster/rpc/transport.h"

namespace cairn::cluster {

using Bytes = std::vector<uint8_t>;

class Group {
 public:
  explicit Group(const GroupCalls& group) : group_(group) {}
  [[nodiscard]] bool is_first() const { return group_.rank == 0; }

  // Everybody's bytes, on rank 0: visit(its rank, bytes) in order of rank.
  Status gather(const Bytes& mine,
                const std::function<void(uint32_t rank, const uint8_t* bytes, size_t size)>& visit);
  // Rank 0's bytes, everywhere.
  Status broadcast(Bytes* bytes);
  // The first failure of any of them, everywhere.
  Status agree(Status mine);

 private:
  GroupCalls group_;
};

}  // namespace cairn::cluster
