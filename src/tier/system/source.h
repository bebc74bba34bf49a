// ContentSource gives the contents of a file without a name whose bytes lie neither in the pool nor
// in a covered directory. Other code sees a lazy file (lower.h). Its bytes are read from the
// source, and copied into the pool when it is mapped. A source that can be written is always read
// and written, and its file cannot be mapped.
//
// Only the process that made the source has it. In others, which inherit the file, reads and writes
// fail.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "file/open/open_file.h"

namespace cairn::tier {

class ContentSource {
 public:
  virtual ~ContentSource() = default;
  // Reads as file::read_at() does. Several threads may call it concurrently.
  virtual Result<size_t> read(void* buffer, size_t size, uint64_t offset) = 0;
  // Null: it can only be read.
  virtual file::Remote* remote() { return nullptr; }
};

// The sources of one attached pool.
class Sources {
 public:
  void add(const file::Map& map, std::shared_ptr<ContentSource> source);
  // Null if there is none.
  std::shared_ptr<ContentSource> find(const file::Map& map);
  // Removes the sources of files that are gone. They close files, so the caller is in no seat.
  void clean(file::FileSystem& fs);

 private:
  using Key = std::pair<uint64_t, uint64_t>;  // an inode and its generation
  static Key key_of(const file::Map& map) { return {map.number, map.inode->generation.load()}; }
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<ContentSource>> sources_;
};

}  // namespace cairn::tier
