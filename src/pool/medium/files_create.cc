// Creates pools: their segments, and the format in them.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "media/memory_share.h"
#include "media/process_limits.h"
#include "persist/machine/measure_streaming.h"
#include "pool/medium/device.h"
#include "pool/medium/files.h"
#include "pool/medium/format_io.h"
#include "pool/medium/lock_file.h"
#include "pool/medium/segment_files.h"

namespace cairn::pool {
namespace {

// Chooses the number of lanes: at most a thirty-second of a pool, and enough for eighty programs
// that start others in a pool of 64 MiB. Each may take three while it does.
uint32_t choose_lanes(uint64_t size) {
  constexpr uint64_t bytes_for_each = 32 * sizeof(format::Lane);
  return static_cast<uint32_t>(std::clamp<uint64_t>(size / bytes_for_each, 64, format::max_lanes));
}

uint32_t choose_segments(uint64_t size, media::MediumKind kind) {
  if (kind == media::MediumKind::devdax) return 1;
  const auto processors = static_cast<uint64_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(size >> 27, 1, std::min<uint64_t>(processors, 8)));
}

// Returns the space available for a pool, and the reason for the limit.
media::MemoryShare room_for(const std::string& parent, const media::Description& medium) {
  media::MemoryShare room{medium.size, parent};
  const auto narrow = [&room](uint64_t bytes, const std::string& what) {
    if (bytes < room.bytes) room = {bytes, what};
  };
  if (medium.kind == media::MediumKind::tmpfs) {
    auto share = media::memory_share(parent.c_str());
    if (share.ok()) narrow(share->bytes, share->limited_by);
  }
  const media::ProcessLimit space = media::address_space_left();
  narrow(space.bytes, space.name);
  return room;
}

// Checks that no file of a pool of this size exceeds the process's file size limit.
Status check_file_size(const std::string& path, uint64_t size, uint32_t segments) {
  const media::ProcessLimit limit = media::file_size_limit();
  if (whole_chunks(size / segments) <= limit.bytes) return Status();
  return fail(EFBIG, "%s: %llu bytes in %u segment(s) do not fit: %s is limited to %llu",
              path.c_str(), static_cast<unsigned long long>(size), segments, limit.name.c_str(),
              static_cast<unsigned long long>(limit.bytes));
}

Result<uint64_t> choose_size(const std::string& parent, const media::Description& medium) {
  media::MemoryShare room = room_for(parent, medium);
  // The default is half of the free memory, because the job itself needs memory too. Pages are
  // taken as they are used.
  const bool device = medium.kind == media::MediumKind::devdax;
  uint64_t size = whole_chunks(device ? room.bytes : room.bytes / 2);
  // A pool with more segments may be larger, and a smaller pool has fewer segments.
  const media::ProcessLimit file = media::file_size_limit();
  while (!device && size >= least_pool_bytes) {
    const uint64_t most = file.bytes / format::chunk_size * choose_segments(size, medium.kind);
    if (most >= size / format::chunk_size) break;
    room = {file.bytes, file.name};
    size = most * format::chunk_size;
  }
  if (size < least_pool_bytes)
    return fail(ENOSPC, "%s: a pool needs at least %llu bytes, and only %llu are left by %s",
                parent.c_str(), static_cast<unsigned long long>(least_pool_bytes) * 2,
                static_cast<unsigned long long>(room.bytes), room.limited_by.c_str());
  return size;
}

Status create_segments(Pool& pool, const Directory& directory, const Manner& manner, uint64_t size,
                       uint32_t count) {
  for (uint32_t s = 0; s < count; ++s) {
    auto fd = media::create_segment(directory.descriptor(), segment_name(s).c_str(),
                                    segment_path(pool.path, s).c_str(), whole_chunks(size / count));
    if (!fd.ok()) return fd.status();
    CAIRN_TRY(map_segment(pool, s, *fd, manner));
    pool.segments.store(s + 1);
  }
  return Status();
}

// Creates a pool on a device; the whole device is mapped, and the pool may be smaller.
Status create_on_device(Pool& pool, const Manner& manner, uint64_t size) {
  CAIRN_TRY(check_no_pool_on(pool.path));
  auto fd = media::open_segment(pool.path.c_str());
  if (!fd.ok()) return fd.status();
  CAIRN_TRY(map_segment(pool, 0, *fd, manner));
  pool.segments.store(1);
  Segment& segment = *pool.segment[0];
  segment.blocks =
      std::min({segment.blocks, size >> format::block_shift, format::max_segment_blocks});
  return Status();
}

void store_manner(Pool& pool, const Manner& manner, bool forced) {
  auto& a = *reinterpret_cast<format::Superblock*>(pool.segment[0]->base);
  pool.store(a.mapping_unit, manner.medium.mapping_unit);
  pool.store(a.granularity, static_cast<uint64_t>(manner.granularity));
  pool.store(a.forced_granularity, forced ? 1 : 0);
  pool.store(a.medium, static_cast<uint64_t>(manner.medium.kind));
  pool.store(a.large_pages, manner.medium.large_pages ? 1 : 0);
  pool.store(a.stream_min, manner.stream_min);
}

// Returns the requested size, or the size that the machine allows.
Result<uint64_t> size_for(const std::string& path, const std::string& parent,
                          const CreateOptions& options, const media::Description& medium) {
  if (options.size_bytes == 0) return choose_size(parent, medium);
  const uint64_t size = whole_chunks(options.size_bytes);
  if (options.size_bytes < least_pool_bytes)
    return fail(EINVAL, "%s: a pool has at least %llu bytes, not %llu", path.c_str(),
                static_cast<unsigned long long>(least_pool_bytes),
                static_cast<unsigned long long>(options.size_bytes));
  const media::ProcessLimit space = media::address_space_left();
  if (size > space.bytes)
    return fail(ENOSPC, "%s: %llu bytes do not fit, %s has %llu left", path.c_str(),
                static_cast<unsigned long long>(options.size_bytes), space.name.c_str(),
                static_cast<unsigned long long>(space.bytes));
  if (medium.size != 0 && size > medium.size)
    return fail(ENOSPC, "%s: %llu bytes do not fit, %s has %llu free", path.c_str(),
                static_cast<unsigned long long>(options.size_bytes), parent.c_str(),
                static_cast<unsigned long long>(medium.size));
  CAIRN_TRY(check_cgroup(path, medium, size));
  return size;
}

// Makes the companions' folder, and makes the names durable.
Status finish_directory(const Directory& pool, bool is_volatile) {
  CAIRN_TRY(pool.make("companion"));
  return is_volatile ? Status() : pool.sync();
}

// Checks before anything is made; a pool that appears after that is seen when this one gets its
// name.
Status check_free(const Directory& above, const std::string& name) {
  struct stat st {};
  if (!name.empty() && !above.look(name, &st)) {
    if (errno == ENOENT) return Status();
  } else if (S_ISDIR(st.st_mode)) {
    const auto directory = above.enter(name);
    if (directory.ok() && directory->is_empty()) return Status();
  }
  return fail(EEXIST, "%s: %s", above.path_of(name).c_str(), strerror(EEXIST));
}

// Makes the pool's directory in `place`.
Status make_place(const std::string& path, HiddenPlace* place) {
  CAIRN_TRY_ASSIGN(above, Directory::open(parent_of(path)));
  CAIRN_TRY(check_free(above, last_of(path)));
  CAIRN_TRY(place->make(above, last_of(path)));
  return place->make_pool();
}

}  // namespace

Result<std::unique_ptr<Pool>> create_files(const std::string& given, const CreateOptions& options,
                                           HiddenPlace* place) {
  const bool device = is_device(given);
  const std::string path = device ? device_path(given) : given;
  const std::string parent = device ? path : parent_of(path);
  auto medium = media::recognise(parent.c_str());
  if (!medium.ok()) return medium.status();
  auto size = size_for(path, parent, options, *medium);
  if (!size.ok()) return size.status();
  if (options.lanes > format::max_lanes)
    return fail(EINVAL, "%s: %u lanes; at most %u", path.c_str(), options.lanes, format::max_lanes);
  const uint32_t lanes = options.lanes != 0 ? options.lanes : choose_lanes(*size);
  const uint32_t segments =
      options.segments != 0 ? options.segments : choose_segments(*size, medium->kind);
  constexpr unsigned long long most = format::max_segment_blocks * format::block_size;
  if (!device && *size / segments > most)
    return fail(EFBIG, "%s: %llu bytes are too many for %u segment(s) of at most %llu",
                path.c_str(), static_cast<unsigned long long>(*size), segments, most);
  if (!device) CAIRN_TRY(check_file_size(path, *size, segments));
  const bool forced = options.granularity != 0;
  const Manner manner{
      *medium,
      forced ? static_cast<persist::Granularity>(options.granularity) : medium->granularity,
      persist::measure_stream_min()};
  if (!device) CAIRN_TRY(make_place(path, place));
  auto pool = std::make_unique<Pool>();
  pool->path = path;
  pool->home = device ? path : place->inside();
  pool->lock_path = segment_path(pool->home, 0);
  pool->is_volatile = manner.granularity == persist::Granularity::none;
  Status status = device ? create_on_device(*pool, manner, *size)
                         : create_segments(*pool, place->pool(), manner, *size, segments);
  if (status.ok()) status = write_format(*pool, lanes, 0);
  if (status.ok()) {
    store_manner(*pool, manner, forced);
    if (device) {
      status = name_lock_file(*pool);
      if (status.ok()) status = agree_on_lock_file(*pool);
    } else {
      status = finish_directory(place->pool(), medium->is_volatile);
    }
  }
  if (!status.ok()) return annotate(status, "cannot create pool %s", path.c_str());
  return pool;
}

Status give_name(const Pool& pool, const std::string& path, HiddenPlace& place) {
  return is_device(path) ? Status() : place.give_name(pool.is_volatile);
}

}  // namespace cairn::pool
