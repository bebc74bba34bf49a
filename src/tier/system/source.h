// Source is where the contents of a file come from that has no name, and whose bytes lie neither in
// the pool nor in a covered directory. To the rest it is a lazy file (lower.h): read through, and
// copied into the pool when it is mapped; or, if it can be written, always written and read
// through, and not mapped.
//
// Only the process that made it knows it: in others, which inherit it, reading and writing are
// errors.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "file/open/open_file.h"

namespace cairn::tier {

class Source {
 public:
  virtual ~Source() = default;
  // As file::read_at; by several threads concurrently.
  virtual Result<size_t> read(void* buffer, size_t size, uint64_t offset) = 0;
  // Null: it can only be read.
  virtual file::Remote* remote() { return nullptr; }
};

// Those of one attached pool.
class Sources {
 public:
  void add(const file::Map& map, std::shared_ptr<Source> source);
  // Null if there is none.
  std::shared_ptr<Source> find(const file::Map& map);
  // Those of files that are gone go. The caller is in no seat: what they hold open is closed.
  void clean(file::FileSystem& fs);

 private:
  using Key = std::pair<uint64_t, uint64_t>;  // an inode and its generation
  static Key key_of(const file::Map& map) { return {map.number, map.inode->generation.load()}; }
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Source>> sources_;
};

}  // namespace cairn::tier
