// What is done to every file in lower that has not got its name yet, be it drained whole or put
// together out of parts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "file/open/open_file.h"

namespace cairn::tier {

// Copies in pieces, and reads each back to compare.
class CheckedCopy {
 public:
  // `advance` is told of each piece; false: stop. `path` is for messages.
  CheckedCopy(int to, const std::string& path, std::function<bool(uint64_t bytes)> advance);
  // Returns where it ended: before `end` if the source is shorter. ECANCELED if it was stopped.
  Result<uint64_t> from_pool(file::File& from, uint64_t offset, uint64_t end);
  // From a file in lower, whose holes stay holes.
  Result<uint64_t> from_lower(int from, uint64_t offset, uint64_t end);

 private:
  using Read = std::function<Result<size_t>(void* buffer, size_t size, uint64_t offset)>;
  Result<uint64_t> copy(const Read& read, uint64_t offset, uint64_t end);
  Status write(size_t size, uint64_t offset);

  int to_;
  const std::string& path_;
  std::function<bool(uint64_t bytes)> advance_;
  std::vector<uint8_t> buffer_;
  std::vector<uint8_t> back_;
};

// Gives the file away, which comes first: a change of owner takes set-user-id bits away. Returns
// which of `permissions` it may have. A process that may not give files away keeps them, without
// the set-ID bits, which would run another user's bytes with its rights. If the file cannot even
// get its group, the group that it has may do no more than all others.
Result<uint32_t> give_owner(int fd, uint32_t uid, uint32_t gid, uint32_t permissions,
                            const std::string& path);
Status set_mode_and_times(int fd, uint32_t permissions, uint64_t atime, uint64_t mtime,
                          const std::string& path);

// The next stretch of data of a file in lower from `offset` on; false if there is none before
// `size`.
bool next_data(int fd, uint64_t offset, uint64_t size, uint64_t* from, uint64_t* to);

// Gives `aside` in directory `from` the name in directory `to` if nothing has it. -EEXIST.
int64_t rename_to_free(int from, const std::string& aside, int to, const char* name);

}  // namespace cairn::tier
