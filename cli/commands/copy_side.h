// One side of a copy: ordinary files, or a pool. `cp` sees no difference.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pools/pool_handle.h"

namespace cairn::cli {

struct SideStat {
  uint32_t mode = 0;
  uint64_t size = 0;
  uint64_t device = 0;  // with inode: the same file?
  uint64_t inode = 0;
  int64_t atime_ns = 0;
  int64_t mtime_ns = 0;
};

class OpenFile {
 public:
  virtual ~OpenFile() = default;
  // Bytes read; 0 at the end.
  virtual size_t read(void* buffer, size_t size, uint64_t offset) = 0;
  virtual void write(const void* buffer, size_t size, uint64_t offset) = 0;
  // Finds where data (a hole) begins at or after `offset`; nothing if there are no more data.
  virtual std::optional<uint64_t> next_data(uint64_t offset) = 0;
  virtual uint64_t next_hole(uint64_t offset) = 0;
  virtual void set_size(uint64_t size) = 0;
  // Makes it durable (where asked) and closes it, and throws what that reports.
  virtual void finish(bool sync) = 0;
};

class Side {
 public:
  virtual ~Side() = default;
  // The user has named this path, which must be said before it is used. Links in it are followed;
  // others may have made those below it.
  virtual void name_argument(const std::string& /*path*/) {}
  // Looks at the file at `path`, if there is one. `follow` a symbolic link at the end.
  virtual std::optional<SideStat> look(const std::string& path, bool follow) = 0;
  // Lists as many names as it can; problem(text) reports why it cannot list the others.
  virtual std::vector<std::string> names(
      const std::string& path, const std::function<void(const std::string&)>& problem) = 0;
  // Each directory has one name; another one would be damage.
  [[nodiscard]] virtual bool is_tree() const { return false; }
  virtual std::string link_target(const std::string& path) = 0;
  virtual void make_directory(const std::string& path, uint32_t mode) = 0;
  // Something is going to be put into this directory.
  virtual void enter(const std::string& /*path*/) {}
  // Replaces what is there, unless it is a directory.
  virtual void make_link(const std::string& target, const std::string& path) = 0;
  virtual std::unique_ptr<OpenFile> open_to_read(const std::string& path) = 0;
  virtual std::unique_ptr<OpenFile> open_to_write(const std::string& path, uint32_t mode) = 0;
  virtual void set_mode(const std::string& path, uint32_t mode) = 0;
  virtual void set_times(const std::string& path, const SideStat& st) = 0;
  // Bytes that new files can take; nothing if that is not known.
  virtual std::optional<uint64_t> free_bytes() = 0;
  // How the path is shown in messages.
  [[nodiscard]] virtual std::string show(const std::string& path) const = 0;
};

std::unique_ptr<Side> local_side();
// `pool` must outlive the side.
std::unique_ptr<Side> pool_side(const Pool& pool);

}  // namespace cairn::cli
