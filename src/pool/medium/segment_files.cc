#include "pool/medium/segment_files.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "media/cgroup.h"
#include "media/memory_share.h"

namespace cairn::pool {
namespace {

// Records why there is no room, for reports: a larger pool would not help.
void note_shortage(Pool& pool, uint64_t of) {
  if (pool.state != nullptr) pool.store(pool.state->refused_by, of);
}

uint64_t cause_of(int error) {
  if (error == EDQUOT) return format::short_of_quota;
  return error == ENOMEM ? format::short_of_memory : format::short_of_file_system;
}

uint64_t cause_of(const media::MemoryShare& share, const std::string& path) {
  if (share.limited_by == path) return format::short_of_file_system;
  return share.limited_by.starts_with("cgroup ") ? format::short_of_cgroup
                                                 : format::short_of_memory;
}

// Checks that tmpfs has room before it is taken: a charge beyond the cgroup's limit kills. The
// check takes 90 us, so a good answer serves for a small part of the room that it found.
Status check_share(Pool& pool, uint64_t size) {
  static std::atomic<int64_t> granted{0};
  if (granted.fetch_sub(static_cast<int64_t>(size)) >= static_cast<int64_t>(size)) return Status();
  auto share = media::memory_share(pool.home.c_str());
  if (!share.ok()) return Status();  // the system does not say
  if (share->bytes < size) {
    note_shortage(pool, cause_of(*share, pool.home));
    const bool is_its_own = share->limited_by == pool.home;
    return fail(ENOSPC, "%s: no memory for %llu more bytes, limited by %s", pool.path.c_str(),
                static_cast<unsigned long long>(size),
                (is_its_own ? pool.path : share->limited_by).c_str());
  }
  uint64_t lanes = 1;
  if (pool.state != nullptr)
    pool.for_each_lane([&](uint32_t) {
      ++lanes;
      return true;
    });
  const uint64_t part = share->bytes / std::max<uint64_t>(32, 4 * lanes);
  granted.store(static_cast<int64_t>(std::min<uint64_t>(part, 64ULL << 20)));
  return Status();
}

}  // namespace

Status check_cgroup(const std::string& path, const media::Description& medium, uint64_t bytes) {
  if (medium.kind != media::MediumKind::tmpfs) return Status();
  const media::CgroupMemory cgroup = media::cgroup_memory();
  if (bytes <= cgroup.for_pools()) return Status();
  return fail(
      ENOSPC,
      "%s: %llu bytes do not fit, the memory limit of the cgroup (%llu in %s) has %llu left "
      "for pools",
      path.c_str(), static_cast<unsigned long long>(bytes),
      static_cast<unsigned long long>(cgroup.limit), cgroup.file.c_str(),
      static_cast<unsigned long long>(cgroup.for_pools()));
}

std::string segment_name(uint32_t number) { return "segment." + std::to_string(number); }

std::string segment_path(const std::string& pool, uint32_t number) {
  return pool + "/" + segment_name(number);
}

void set_granularity(uint64_t stored, Manner* manner) {
  if (stored >= 1 && stored <= 4) manner->granularity = static_cast<persist::Granularity>(stored);
}

Manner manner_of(const Pool& pool) {
  Manner manner;
  manner.medium.mapping_unit = format::block_size;
  manner.medium.kind = static_cast<media::MediumKind>(pool.identity->medium.load());
  manner.medium.large_pages = pool.identity->large_pages.load() != 0;
  set_granularity(pool.identity->granularity.load(), &manner);
  manner.stream_min = pool.identity->stream_min.load();
  return manner;
}

Status map_segment(Pool& pool, uint32_t number, int fd, const Manner& manner) {
  const media::Description& medium = manner.medium;
  auto size = media::segment_size(fd);
  if (!size.ok()) {
    close(fd);
    return size.status();
  }
  const uint64_t usable = whole_chunks(*size);
  if (usable == 0) {
    close(fd);
    return fail(EUCLEAN, "%s: segment %u has only %llu bytes; it is cut off or not a pool",
                pool.path.c_str(), number, static_cast<unsigned long long>(*size));
  }
  auto mapping = media::map(fd, medium, 0, usable,
                            pool.read_only ? media::Access::read_only : media::Access::read_write);
  if (!mapping.ok()) {
    close(fd);
    return mapping.status();
  }
  auto segment = std::make_unique<Segment>();
  segment->number = number;
  segment->base = mapping->base;
  segment->fd = fd;
  segment->blocks = usable >> format::block_shift;
  segment->fresh_zero = medium.kind != media::MediumKind::devdax;
  segment->unmap = [fd, mapping = *mapping]() mutable {
    media::unmap(mapping);
    close(fd);
  };
  if (medium.kind != media::MediumKind::devdax) {
    const bool shared_memory = medium.kind == media::MediumKind::tmpfs;
    segment->reserve = [fd, shared_memory, &pool](uint64_t offset, uint64_t bytes) {
      if (shared_memory) CAIRN_TRY(check_share(pool, bytes));
      Status status = media::reserve(fd, offset, bytes);
      if (!status.ok()) note_shortage(pool, cause_of(status.code()));
      return status;
    };
    // The medium must be memory: a file's extents would have to be found again.
    if (shared_memory && !pool.read_only) {
      segment->release = [fd](uint64_t offset, uint64_t bytes) {
        return media::release(fd, offset, bytes);
      };
      if (!medium.large_pages)
        segment->releases_seen =
            std::make_unique<std::atomic<uint32_t>[]>(segment->blocks / format::chunk_blocks);
    }
  }
  persist::RegionOptions options;
  options.base = mapping->base;
  options.size = usable;
  options.fd = medium.kind == media::MediumKind::tmpfs && !pool.read_only ? fd : -1;
  options.granularity = manner.granularity;
  options.large_pages = medium.large_pages;
  options.stream_min = manner.stream_min;
  options.writable = !pool.read_only;
  if (Status status = segment->region.open(options); !status.ok()) {
    segment->unmap();
    return status;
  }
  pool.segment[number] = std::move(segment);
  return Status();
}

void unmap_segment(Pool& pool, uint32_t number) {
  Segment& segment = *pool.segment[number];
  segment.region.close();
  segment.unmap();
  pool.segment[number].reset();
}

}  // namespace cairn::pool
