// RemoteReader serves bytes of other nodes as an ordinary open file without a name. It fetches
// bytes when the process reads them.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cluster/rpc/contents.h"
#include "cluster/rpc/job.h"
#include "tier/lower/open_source.h"

namespace cairn::cluster {

class RemoteReader final : public RemoteContents {
 public:
  // Reads a piece; short at the end of file only.
  using Read = std::function<Result<uint64_t>(const Target& piece)>;
  explicit RemoteReader(Read read) : read_(std::move(read)) {}
  Result<size_t> read(void* buffer, size_t size, uint64_t offset) override;
  void end() override;

 private:
  Status fetch(uint64_t offset);

  std::mutex mutex_;
  Read read_;  // none: the job has ended
  // What was read last. A header is small, and a process that reads on wants more.
  std::vector<uint8_t> window_;
  uint64_t window_at_ = 0;
  size_t next_ = 0;  // size of the next window, 0: the smallest
};

// `flags` as for open(2); no permission is looked at.
Result<std::unique_ptr<file::File>> open_with_reader(Job& job,
                                                     const tier::SourceAttributes& attributes,
                                                     int flags, RemoteReader::Read read);

}  // namespace cairn::cluster
