#include "harness/pools.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cairn::bench {

void must(int64_t result, const char* what) {
  if (result >= 0) return;
  std::fprintf(stderr, "bench: %s: %s (%s)\n", what, cairn_last_error(),
               strerror(static_cast<int>(-result)));
  std::exit(2);
}

void must_posix(int64_t result, const char* what) {
  if (result >= 0) return;
  std::fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
  std::exit(2);
}

std::vector<Extent> extents_of(cairn_file* file, uint64_t offset, size_t size) {
  std::vector<Extent> extents;
  for (size_t done = 0; done < size;) {
    cairn_view view = {};
    must(cairn_view_open(file, offset + done, size - done, &view), "cairn_view_open");
    // The limit stores through it: the same bytes as a write to the file.
    auto* data = const_cast<uint8_t*>(static_cast<const uint8_t*>(view.data));
    const size_t n = view.size;
    cairn_view_close(file, &view);
    if (!extents.empty() && extents.back().data + extents.back().size == data)
      extents.back().size += n;
    else
      extents.push_back({data, n});
    done += n;
  }
  return extents;
}

Attached::Attached(const std::string& path) {
  must(cairn_pool_attach(path.c_str(), 0, &pool_), "cairn_pool_attach");
}

Attached::~Attached() { cairn_pool_detach(pool_); }

cairn_file* Attached::open(const char* path, int more_flags) const {
  cairn_file* file = nullptr;
  must(cairn_open(pool_, CAIRN_ROOT, path, O_RDWR | O_CREAT | more_flags, 0600, &file), path);
  return file;
}

void create_pool(const std::string& path, const PoolShape& shape) {
  cairn_pool_options options = {};
  options.struct_size = sizeof options;
  options.size = shape.size;
  options.lanes = shape.lanes;
  options.granularity = shape.granularity;
  options.populate = shape.populate ? 1 : 0;
  must(cairn_pool_create(path.c_str(), &options), "cairn_pool_create");
}

void fill_file(cairn_file* file, size_t size) {
  constexpr size_t piece = size_t{1} << 20;
  static uint8_t* const buffer = make_buffer(piece);
  for (size_t at = 0; at < size; at += piece) {
    const size_t n = std::min(piece, size - at);
    must(cairn_pwrite(file, buffer, n, at), "filling a file");
  }
}

uint8_t* make_buffer(size_t size) {
  auto* buffer = static_cast<uint8_t*>(std::aligned_alloc(4096, (size + 4095) / 4096 * 4096));
  if (buffer == nullptr) std::abort();
  for (size_t i = 0; i < size; ++i) buffer[i] = static_cast<uint8_t>(i * 7 + 1);
  return buffer;
}

}  // namespace cairn::bench
