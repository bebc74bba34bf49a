// RunTransport: the messages of a program whose ranks are processes of one or several nodes, such
// as its MPI's. The layer above implements it; Membership joins a run through it.
#pragma once

#include <vector>

#include "checkpoint/run/exchange.h"

namespace cairn::checkpoint {

class RunTransport : public Exchange {
 public:
  // Joins all ranks. Called by all of them, also by a rank that has failed. `has_pool`: this
  // process has the pool of its node.
  virtual Status join(bool has_pool) = 0;
  // Leaves. Called by all ranks. A transport that a rank does not leave stays in use by the others,
  // so its memory must stay as well.
  virtual void leave() = 0;

  // Return this process's rank in the job, and the number of ranks of the job.
  [[nodiscard]] virtual uint32_t rank() const = 0;
  [[nodiscard]] virtual uint32_t ranks() const = 0;
  // Returns the ranks of this node, ascending.
  [[nodiscard]] virtual std::vector<uint32_t> own_ranks() const = 0;
  // Sends the bytes of rank 0 to all ranks.
  virtual Status broadcast(void* bytes, size_t size) = 0;
};

}  // namespace cairn::checkpoint
