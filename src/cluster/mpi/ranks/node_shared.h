// NodeShared holds bytes of which the processes of a host have one copy, in shared memory.
#pragma once

#include <mpi.h>

#include "cluster/mpi/ranks/roster.h"

namespace cairn::mpi {

class NodeShared {
 public:
  NodeShared() = default;
  ~NodeShared();
  NodeShared(const NodeShared&) = delete;
  NodeShared& operator=(const NodeShared&) = delete;

  // Collective over the processes of a host: `bytes` of its first one. Where they share no memory,
  // for example in containers, each gets a copy of its own.
  void share(MPI_Comm comm, Bytes bytes);
  [[nodiscard]] const char* data() const { return mapped_ == nullptr ? own_.data() : mapped_; }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  bool map(MPI_Comm comm, bool first, const Bytes& bytes);

  Bytes own_;
  char* mapped_ = nullptr;
  size_t size_ = 0;
};

}  // namespace cairn::mpi
