// Writes files in lower under temporary names: those that a drain writes whole, and those that are
// put together from parts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "file/open/open_file.h"
#include "tier/system/cache_limit.h"

namespace cairn::tier {

// Copies in pieces. What goes through this process is read back and compared.
class CheckedCopy {
 public:
  // `advance` is called with the size of each piece; false: stop. `path` is for messages.
  CheckedCopy(int to, const std::string& path, std::function<bool(uint64_t bytes)> advance);
  // Returns where the copy ended: before `end` if the source is shorter. ECANCELED: it was stopped.
  Result<uint64_t> from_pool(file::File& from, uint64_t offset, uint64_t end);
  // Copies from a file in lower. Its holes stay holes.
  Result<uint64_t> from_lower(int from, uint64_t offset, uint64_t end);
  // Copies from a file of the same file system, whose holes stay holes. The kernel copies if it
  // can, or shares blocks: the bytes do not go through this process, so nothing is read back.
  Result<uint64_t> within_lower(int from, uint64_t offset, uint64_t end);

 private:
  using Read = std::function<Result<size_t>(void* buffer, size_t size, uint64_t offset)>;
  Result<uint64_t> copy(const Read& read, uint64_t offset, uint64_t end);
  Result<uint64_t> copy_through(int from, uint64_t offset, uint64_t end);
  Result<uint64_t> copy_in_kernel(int from, uint64_t offset, uint64_t end);
  Status stopped() const;
  Status write(size_t size, uint64_t offset);

  int to_;
  const std::string& path_;
  std::function<bool(uint64_t bytes)> advance_;
  std::vector<uint8_t> buffer_;
  std::vector<uint8_t> back_;
  CacheLimit cache_;
};

// Sets owner and group of a file, before its mode, because chown clears the set-ID bits. Returns
// which of `permissions` the file may have. If the process may not give files away, it keeps the
// file, without the set-ID bits, which would run another user's bytes with its rights. If the file
// cannot get its group either, the group that it has may do no more than all other users.
Result<uint32_t> give_owner(int fd, uint32_t uid, uint32_t gid, uint32_t permissions,
                            const std::string& path);
Status set_mode_and_times(int fd, uint32_t permissions, uint64_t atime, uint64_t mtime,
                          const std::string& path);

// Finds the next range of data of a file in lower from `offset` on. False: there is none before
// `size`.
bool next_data(int fd, uint64_t offset, uint64_t size, uint64_t* from, uint64_t* to);

// Renames `temp_name` in directory `from` to the name in directory `to`. -EEXIST: a file has the
// name.
int64_t rename_to_free(int from, const std::string& temp_name, int to, const char* name);

}  // namespace cairn::tier
