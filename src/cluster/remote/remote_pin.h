// RemotePin keeps an ordinary file of another node's pool open for a process of this node. The
// other node keeps it open as well: it is not moved to another node, and after its removal it can
// still be read and written.
#pragma once

#include <memory>
#include <string>

#include "cluster/rpc/job.h"

namespace cairn::cluster {

class RemotePin {
 public:
  // ENOENT: no other node has a file of the name.
  static Result<std::shared_ptr<RemotePin>> take(Job& job, const std::string& path, bool writing);
  RemotePin(Job& job, uint32_t node, const FileState& state, bool writing)
      : job_(job), node_(node), state_(state), writing_(writing) {}
  ~RemotePin();
  RemotePin(const RemotePin&) = delete;
  RemotePin& operator=(const RemotePin&) = delete;

  [[nodiscard]] Job& job() const { return job_; }
  [[nodiscard]] uint32_t node() const { return node_; }
  [[nodiscard]] const Uuid& file() const { return state_.file; }
  // As it was when it was taken.
  [[nodiscard]] const FileState& state() const { return state_; }

 private:
  Job& job_;
  uint32_t node_;
  FileState state_;
  bool writing_;
};

}  // namespace cairn::cluster
