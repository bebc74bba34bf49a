#include "file/data/mapping.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "file/data/io.h"
#include "file/data/sync.h"
#include "file/data/truncate.h"
#include "file/inode/attributes.h"
#include "file/inode/shape.h"
#include "pool/lanes/seats.h"

namespace cairn::file {
namespace {

using format::block_shift;
using format::block_size;

constexpr uint64_t round_up(uint64_t bytes) { return (bytes + block_size - 1) & ~(block_size - 1); }

Status failed(const char* what) { return fail(errno, "mmap: %s: %s", what, strerror(errno)); }

Status not_aligned(const FileSystem& fs, uint64_t unit) {
  return fail(
      ENODEV,
      "mmap: %s maps in units of %llu bytes only, and the file's blocks are not aligned to them; a "
      "namespace created with ndctl create-namespace --mode=devdax --align=4k can map any file",
      fs.pool.path.c_str(), static_cast<unsigned long long>(unit));
}

// Makes a private mapping as a copy, because a dax device refuses private mappings. A private
// mapping may or may not show others' later stores; this one does not.
Status place_copy(uint8_t* at, uint64_t size, int protection, const uint8_t* from) {
  if (mprotect(at, size, PROT_READ | PROT_WRITE) != 0) return failed("a private copy");
  std::memcpy(at, from, size);
  if (mprotect(at, size, protection) != 0) return failed("a private copy");
  return Status();
}

// Maps the file's blocks over a reserved range, run by run.
Status place(File& file, uint8_t* at, uint64_t size, int protection, int flags, uint64_t offset) {
  FileSystem& fs = *file.fs;
  const uint64_t first = offset >> block_shift;
  const uint64_t last = first + (size >> block_shift);
  const bool on_device = fs.pool.lock_identity != 0;
  const bool copied = on_device && (flags & MAP_TYPE) == MAP_PRIVATE;
  const uint64_t unit = on_device ? fs.pool.superblock().mapping_unit.load() : block_size;
  for (uint64_t b = first; b < last;) {
    MapCursor cursor;
    CAIRN_TRY(walk(fs.pool, file.map(), b, &cursor));
    if (!cursor.block) return fail(EAGAIN, "the file was truncated while it was being mapped");
    // Runs are joined across nodes: a process has a limited number of mappings.
    uint64_t n = contiguous(fs.pool, file.map(), b, cursor, last - b);
    while (b + n < last) {
      MapCursor next;
      CAIRN_TRY(walk(fs.pool, file.map(), b + n, &next));
      if (!next.block || next.block.value != cursor.block.value + n ||
          next.block.segment() != cursor.block.segment())
        break;
      n += contiguous(fs.pool, file.map(), b + n, next, last - b - n);
    }
    const pool::Segment& segment = *fs.pool.segment[cursor.block.segment()];
    uint8_t* target = at + ((b - first) << block_shift);
    if (copied) {
      CAIRN_TRY(place_copy(target, n << block_shift, protection, fs.pool.at(cursor.block)));
      b += n;
      continue;
    }
    if (((reinterpret_cast<uintptr_t>(target) | cursor.block.index() << block_shift |
          n << block_shift) &
         (unit - 1)) != 0)
      return not_aligned(fs, unit);
    void* mapped = mmap(target, n << block_shift, protection,
                        (flags & ~(MAP_FIXED_NOREPLACE | MAP_ANONYMOUS)) | MAP_FIXED, segment.fd,
                        static_cast<off_t>(cursor.block.index() << block_shift));
    if (mapped == MAP_FAILED) return failed("placing blocks");
    b += n;
  }
  return Status();
}

bool is_shared_type(int flags) {
  return (flags & MAP_TYPE) == MAP_SHARED || (flags & MAP_TYPE) == MAP_SHARED_VALIDATE;
}

// Fills the holes, so that no store through the mapping can fail.
Status fill_holes(File& file, uint64_t offset, uint64_t size) {
  Status status = allocate_for_mapping(file, offset, size);
  if (status.code() == ENOSPC)
    return fail(ENOMEM, "mmap: the holes of the file do not fit into pool %s",
                file.fs->pool.path.c_str());
  return status;
}

// Maps the part beyond the end of file: pages of an empty file, where the kernel raises SIGBUS by
// itself.
void map_nothing(uint8_t* at, uint64_t size, int protection, int flags) {
  const int empty = memfd_create("beyond the end of file", MFD_CLOEXEC);
  if (empty < 0) return;  // the range stays without access
  const int type = is_shared_type(flags) ? MAP_SHARED : MAP_PRIVATE;
  static_cast<void>(mmap(at, size, protection, type | MAP_FIXED, empty, 0));
  close(empty);
}

// Places the blocks under a writer's announcement: a change of structure waits until they are
// placed, and sees the pin afterwards.
Status place_now(File& file, uint8_t* at, uint64_t size, int protection, int flags,
                 uint64_t offset) {
  pool::SeatGuard seat(file.fs->pool, file.number);
  if (!seat.ok()) return pool::no_seat(file.fs->pool);
  if (is_changing(*file.inode)) wait_for_shape(*file.fs, seat, *file.inode, file.number);
  return place(file, at, size, protection, flags, offset);
}

}  // namespace

Result<void*> Mappings::map(File& file, void* address, size_t size, int protection, int flags,
                            uint64_t offset) {
  FileSystem& fs = *file.fs;
  if (!S_ISREG(file.inode->mode.load())) return fail(ENODEV, "mmap: not a regular file");
  if (size == 0 || (offset & (block_size - 1)) != 0)
    return fail(EINVAL, "mmap: invalid size %zu or offset %llu", size,
                static_cast<unsigned long long>(offset));
  const bool shared = is_shared_type(flags);
  if (!file.readable || (shared && (protection & PROT_WRITE) != 0 && !file.writable))
    return fail(EACCES, "mmap: the file is not open for this access");
  if (is_lazy(*file.inode) && fs.lower != nullptr) CAIRN_TRY(fs.lower->stage(file.number));
  CAIRN_TRY_ASSIGN(pin, pin_of(fs, file.number));
  // A process that cuts the file from here on leaves the blocks.
  const uint64_t length = round_up(size);
  const uint64_t end_of_file = round_up(file.inode->size.load());
  const uint64_t backed = offset >= end_of_file ? 0 : std::min(length, end_of_file - offset);
  if (backed != 0) CAIRN_TRY(fill_holes(file, offset, backed));
  if (shared && (protection & PROT_WRITE) != 0 && !fs.pool.is_volatile)
    CAIRN_TRY(set_flags(fs, file.number, format::flag_mapped, 0));
  const int reserve_flags =
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE));
  void* base = mmap(address, length, PROT_NONE, reserve_flags, -1, 0);
  if (base == MAP_FAILED) return failed("no address range");
  if (backed != length)
    map_nothing(static_cast<uint8_t*>(base) + backed, length - backed, protection, flags);
  Status status = place_now(file, static_cast<uint8_t*>(base), backed, protection, flags, offset);
  if (!status.ok()) {
    unmap(fs, base, length).ignore();  // also what it has replaced
    return status;
  }
  // Making the mapping counts as a change, because stores through it are not observed.
  if (shared && (protection & PROT_WRITE) != 0) touch_modified(file);
  replaced(fs, base, length);
  std::lock_guard guard(lock_);
  const auto begin = reinterpret_cast<uintptr_t>(base);
  ranges_[begin] = {begin + length, file.number,   begin + backed, offset - begin,
                    flags,          file.writable, std::move(pin)};
  return base;
}

Result<std::shared_ptr<PinHandle>> Mappings::pin_of(FileSystem& fs, uint64_t number) {
  {
    std::lock_guard guard(lock_);
    if (auto found = pins_.find(number); found != pins_.end())
      if (auto pin = found->second.lock()) return pin;
  }
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  CAIRN_TRY_ASSIGN(taken, pin_inode(fs, *seat, number));
  auto pin = std::make_shared<PinHandle>(std::move(taken));
  std::lock_guard guard(lock_);
  pins_[number] = pin;
  return pin;
}

Result<uint64_t> Mappings::grow(File& file, void* address, size_t size, int protection) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const uintptr_t end = begin + round_up(size);
  std::lock_guard guard(lock_);
  // Each part has one protection.
  split(begin);
  split(end);
  uint64_t within = 0;
  for (auto at = first_beyond(begin); at != ranges_.end() && at->first < end; ++at) {
    MappedRange& range = at->second;
    if (range.inode != file.number) continue;
    const uintptr_t from = std::max(range.placed, at->first);
    const uint64_t first = from + range.shift;
    const uint64_t last = std::min(round_up(file.inode->size.load()), range.end + range.shift);
    if (last > first) {
      CAIRN_TRY(fill_holes(file, first, last - first));
      CAIRN_TRY(place_now(file, reinterpret_cast<uint8_t*>(from), last - first, protection,
                          range.flags, first));
      range.placed = from + (last - first);
    }
    if (range.placed > at->first) within += std::min(range.placed, range.end) - at->first;
  }
  return within;
}

Mappings::Ranges::iterator Mappings::first_beyond(uintptr_t at) {
  auto next = ranges_.upper_bound(at);
  if (next == ranges_.begin()) return next;
  auto before = std::prev(next);
  return before->second.end > at ? before : next;
}

void Mappings::split(uintptr_t at) {
  auto found = first_beyond(at);
  if (found == ranges_.end() || found->first >= at) return;
  ranges_[at] = found->second;
  found->second.end = at;
}

std::vector<Mappings::MappedRange> Mappings::forget(const void* address, size_t size) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const uintptr_t end = begin + round_up(size);
  split(begin);
  split(end);
  const auto first = first_beyond(begin);
  const auto last = ranges_.lower_bound(end);
  std::vector<MappedRange> dropped;
  for (auto at = first; at != last; ++at) dropped.push_back(std::move(at->second));
  ranges_.erase(first, last);
  return dropped;
}

void Mappings::let_go(FileSystem& fs, std::vector<MappedRange> dropped) {
  std::vector<uint64_t> inodes;
  inodes.reserve(dropped.size());
  for (const MappedRange& range : dropped) inodes.push_back(range.inode);
  dropped.clear();  // dropping the last of a file's ranges releases its pin
  {
    std::lock_guard guard(lock_);
    for (const uint64_t number : inodes) {
      if (auto found = pins_.find(number); found != pins_.end() && found->second.expired())
        pins_.erase(found);
    }
  }
  for (const uint64_t number : inodes) {
    auto inode = live_inode(fs, number);
    if (inode.ok()) trim(fs, {*inode, number});
  }
}

Status Mappings::unmap(FileSystem& fs, void* address, size_t size) {
  std::vector<MappedRange> dropped;
  {
    // One step under the lock: as soon as the addresses are free, another thread's mapping may get
    // them.
    std::lock_guard guard(lock_);
    if (munmap(address, size) != 0) return failed("unmapping");
    dropped = forget(address, size);
  }
  let_go(fs, std::move(dropped));
  return Status();
}

void Mappings::replaced(FileSystem& fs, void* address, size_t size) {
  std::vector<MappedRange> dropped;
  {
    std::lock_guard guard(lock_);
    dropped = forget(address, size);
  }
  let_go(fs, std::move(dropped));
}

Status Mappings::sync(FileSystem& fs, void* address, size_t size) {
  std::vector<uint64_t> inodes;
  {
    std::lock_guard guard(lock_);
    const auto begin = reinterpret_cast<uintptr_t>(address);
    for (auto at = first_beyond(begin); at != ranges_.end() && at->first < begin + size; ++at)
      inodes.push_back(at->second.inode);
  }
  for (uint64_t number : inodes) {
    auto inode = live_inode(fs, number);
    if (inode.ok()) CAIRN_TRY(sync_file(fs, {*inode, number}));
  }
  return Status();
}

Status Mappings::make_writable(FileSystem& fs, void* address, size_t size) {
  std::vector<uint64_t> inodes;
  {
    std::lock_guard guard(lock_);
    const auto begin = reinterpret_cast<uintptr_t>(address);
    for (auto at = first_beyond(begin); at != ranges_.end() && at->first < begin + size; ++at) {
      const MappedRange& range = at->second;
      if (!is_shared_type(range.flags)) continue;
      if (!range.writable) return fail(EACCES, "mprotect: the file was not open for writing");
      inodes.push_back(range.inode);
    }
  }
  for (uint64_t number : inodes) {
    auto inode = live_inode(fs, number);
    if (!inode.ok()) continue;
    if (!fs.pool.is_volatile) CAIRN_TRY(set_flags(fs, number, format::flag_mapped, 0));
    note_modified(fs, **inode);
  }
  return Status();
}

bool Mappings::contains(const void* address, size_t size) {
  std::lock_guard guard(lock_);
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const auto found = first_beyond(begin);
  return found != ranges_.end() && found->first < begin + size;
}

}  // namespace cairn::file
