// A pool to measure on, and plain helpers around the C API. What cannot work ends the program with
// its cause: a benchmark has nobody to return an error to.
#pragma once

#include <string>
#include <vector>

#include "cairn/cairn.h"

namespace cairn::bench {

// Ends the program (exit code 2) with `what` and the cause if `result` is negative.
void must(int64_t result, const char* what);
// The same for system calls: errno is the cause.
void must_posix(int64_t result, const char* what);

struct Extent {
  uint8_t* data;
  size_t size;
};
// Returns the addresses of [offset, offset + size) of a file in the pool's own mapping: the very
// bytes that reads and writes go to. The file keeps its blocks until it is cut.
std::vector<Extent> extents_of(cairn_file* file, uint64_t offset, size_t size);

// Attached to an existing pool; detaches at its end.
class Attached {
 public:
  explicit Attached(const std::string& path);
  ~Attached();
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

  [[nodiscard]] cairn_pool* pool() const { return pool_; }
  // Opened read-write, created when it is not there; closed by the caller or with the pool.
  [[nodiscard]] cairn_file* open(const char* path, int more_flags = 0) const;

 private:
  cairn_pool* pool_ = nullptr;
};

struct PoolShape {
  size_t size = 0;
  uint32_t granularity = 0;  // as in cairn_pool_options
  bool populate = true;
  uint32_t lanes = 64;
};
void create_pool(const std::string& path, const PoolShape& shape);

// A pool of its own, removed at the end.
class OwnPool {
 public:
  OwnPool(std::string path, const PoolShape& shape) : path_(std::move(path)) {
    create_pool(path_, shape);
  }
  ~OwnPool() { cairn_pool_remove(path_.c_str()); }
  OwnPool(const OwnPool&) = delete;
  OwnPool& operator=(const OwnPool&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Writes [0, size) of the file with bytes that are not zero.
void fill_file(cairn_file* file, size_t size);
// A buffer of `size` bytes that are not zero, aligned to 4 KiB; lives as long as the program.
uint8_t* make_buffer(size_t size);

}  // namespace cairn::bench
