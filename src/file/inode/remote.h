// Remote: access to the bytes of a file that lie in another node's pool and stay there while they
// are written. In this pool the file is lazy and has no name. Only the process that opened it knows
// how to write it (Lower::remote).
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace cairn::file {

// The interface of such a file. Callers hold no locks; several threads may call it concurrently.
class Remote {
 public:
  Remote() = default;
  virtual ~Remote() = default;
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;

  // Does what write_at() does.
  virtual Result<size_t> write(const void* buffer, size_t size, uint64_t offset) = 0;
  // Does what append() does.
  virtual Result<size_t> append(const iovec* vector, int count, uint64_t* offset) = 0;
  virtual Status set_size(uint64_t size) = 0;
  // Makes written bytes as durable on the other node as fsync(2) does.
  virtual Status sync() = 0;
  // Does what set_mode(), set_owner() and set_times() do. A value of `same`, or a time of
  // `same_time`, leaves the attribute as it is.
  struct Change {
    static constexpr uint64_t same = UINT64_MAX;
    static constexpr auto same_time = static_cast<uint64_t>(INT64_MAX);
    uint64_t mode = same;
    uint64_t uid = same;
    uint64_t gid = same;
    uint64_t atime = same_time;
    uint64_t mtime = same_time;
  };
  virtual Status change(const Change& change) = 0;
  struct RemoteAttributes {
    uint64_t size = 0;
    uint64_t atime = 0;  // ns, as the inode's
    uint64_t mtime = 0;
    uint64_t ctime = 0;
    uint64_t mode = 0;   // permissions
    uint64_t owner = 0;  // as the inode's
  };
  virtual Status look(RemoteAttributes* state) = 0;
};

}  // namespace cairn::file
