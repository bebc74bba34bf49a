// HeldFiles keeps files of this node's pool open for processes of other nodes (remote_pin.h).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "cluster/rpc/protocol.h"
#include "file/inode/remote.h"
#include "tier/system/pool_file.h"

namespace cairn::cluster {

class HeldFiles {
 public:
  explicit HeldFiles(file::FileSystem& fs) : fs_(fs) {}

  // Holds the file until it has been released as often. EAGAIN: the file is moving, and the server
  // cannot wait for an answer that it may have to give itself.
  Status hold(const Uuid& file, bool writing);
  void release(const Uuid& file, bool writing);

  // What is asked of one that is held for writing; `bytes` are those that follow the request. The
  // reply's value; what follows the reply goes to `reply`, its size to *size.
  Result<int64_t> answer(const Request& request, const ByteRun* runs, const uint8_t* bytes,
                         uint8_t* reply, uint64_t* size);

 private:
  struct Held {
    std::shared_ptr<tier::PoolFile> file;
    uint64_t count = 0;
  };
  Result<std::shared_ptr<tier::PoolFile>> find(const Uuid& file);

  file::FileSystem& fs_;
  std::mutex mutex_;
  std::map<std::pair<Uuid, bool>, Held> held_;
};

}  // namespace cairn::cluster
