#include <fcntl.h>

#include "tier/lower/lower.h"

namespace cairn::tier {

DescriptorCache::~DescriptorCache() {
  for (CachedDescriptor& kept : kept_) {
    if (kept.fd >= 0) drop(kept);
  }
}

bool DescriptorCache::is_still(const CachedDescriptor& kept) {
  sys::FileStat st = {};
  return sys::fstat(kept.fd, &st) == 0 && is_same_file(st, kept.st) &&
         st.st_size == kept.st.st_size && sys::mtime_of(st) == sys::mtime_of(kept.st) &&
         sys::ctime_of(st) == sys::ctime_of(kept.st);
}

// Closes the descriptor only if it still is ours: the program may have closed its number and opened
// another file.
void DescriptorCache::drop(CachedDescriptor& kept) {
  sys::FileStat st = {};
  if (sys::fstat(kept.fd, &st) == 0 && is_same_file(st, kept.st)) sys::close(kept.fd);
  kept.fd = -1;
}

int64_t DescriptorCache::pread(const DescriptorKey& key, void* buffer, size_t size,
                               uint64_t offset) {
  CachedDescriptor& kept = kept_[key.inode % capacity];
  if (kept.busy.test_and_set(std::memory_order_acquire)) return -EBADF;
  int64_t result = -EBADF;
  if (kept.fd >= 0 && kept.key == key) {
    // Checked before and after the read: so the bytes are those of the file that was imported.
    if (is_still(kept)) result = sys::pread(kept.fd, buffer, size, offset);
    if (result == -EBADF || !is_still(kept)) {
      drop(kept);
      result = -EBADF;
    }
  }
  kept.busy.clear(std::memory_order_release);
  return result;
}

void DescriptorCache::keep(const DescriptorKey& key, const sys::FileStat& st, sys::Descriptor fd) {
  CachedDescriptor& kept = kept_[key.inode % capacity];
  if (kept.busy.test_and_set(std::memory_order_acquire)) return;
  if (kept.fd >= 0) drop(kept);
  sys::Descriptor moved = sys::out_of_the_way(fd.take());
  kept.key = key;
  kept.st = st;
  kept.fd = moved.take();
  kept.busy.clear(std::memory_order_release);
}

}  // namespace cairn::tier
