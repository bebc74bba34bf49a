// Remote: the way to the bytes of a file that lie in another node's pool and stay there while they
// are written. In this pool it is a lazy file without a name, which only the process that opened it
// knows how to write (Lower::remote).
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace cairn::file {

// Each is called without locks held, by several threads concurrently.
class Remote {
 public:
  Remote() = default;
  virtual ~Remote() = default;
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;

  // As write_at().
  virtual Result<size_t> write(const void* buffer, size_t size, uint64_t offset) = 0;
  // As append().
  virtual Result<size_t> append(const iovec* vector, int count, uint64_t* offset) = 0;
  virtual Status set_size(uint64_t size) = 0;
  // What was written is as durable there as fsync(2) makes it.
  virtual Status sync() = 0;
  // As set_mode(), set_owner() and set_times(); what is `same` stays, of times what is `same_time`:
  // all others are times.
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
  struct State {
    uint64_t size = 0;
    uint64_t atime = 0;  // ns, as the inode's
    uint64_t mtime = 0;
    uint64_t ctime = 0;
    uint64_t mode = 0;   // permissions
    uint64_t owner = 0;  // as the inode's
  };
  virtual Status look(State* state) = 0;
};

}  // namespace cairn::file
