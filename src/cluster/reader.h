// A shared file as an ordinary open file, for reading by name: one without a name of its own, whose bytes come from other nodes
// when they are read. It is what the last commit before left.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "cluster/shared_file.h"
#include "tier/source.h"

namespace cairn::cluster {

class SharedReader final : public tier::Source {
 public:
  explicit SharedReader(std::unique_ptr<SharedFile> file) : file_(std::move(file)) {}
  Result<size_t> read(void* buffer, size_t size, uint64_t offset) override;
  // Its job has ended: nothing can be read from here on.
  void end();

 private:
  Status fetch(uint64_t offset);

  std::mutex mutex_;
  std::unique_ptr<SharedFile> file_;  // null: the job has ended
  // What was read last. A header is small, and who reads on wants more at once.
  Bytes window_;
  uint64_t window_at_ = 0;
  size_t next_ = 0;  // size of the next window, 0: the smallest
};

// ENOENT if there is none. `flags` as for open(2); no permission is looked at.
Result<std::unique_ptr<file::File>> open_reader(Job& job, const std::string& path, int flags);

}  // namespace cairn::cluster
