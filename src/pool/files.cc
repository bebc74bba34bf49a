#include "pool/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "media/media.h"
#include "media/memory_share.h"
#include "persist/streaming.h"
#include "pool/device.h"
#include "pool/lock_file.h"

namespace cairn::pool {
namespace {

std::string segment_path(const std::string& pool, uint32_t number) {
  return pool + "/segment." + std::to_string(number);
}

uint64_t round_down(uint64_t bytes) { return bytes / format::chunk_size * format::chunk_size; }

persist::Granularity granularity_of(const Pool& pool, const media::Description& medium) {
  const uint64_t stored = pool.identity == nullptr ? 0 : pool.identity->granularity.load();
  if (stored >= 1 && stored <= 4) return static_cast<persist::Granularity>(stored);
  return medium.granularity;
}

// Room on tmpfs is asked for before it is taken: a charge beyond the cgroup's limit kills. Asking takes
// 90 us, so a good answer serves for as much as a small part of what it found.
Status check_share(const std::string& path, uint64_t size) {
  static std::atomic<int64_t> granted{0};
  if (granted.fetch_sub(static_cast<int64_t>(size)) >= static_cast<int64_t>(size)) return Status();
  auto share = media::memory_share(path.c_str());
  if (!share.ok()) return Status();  // the system does not say
  if (share->bytes < size)
    return fail(ENOSPC, "%s: no memory for %llu more bytes, limited by %s", path.c_str(),
                static_cast<unsigned long long>(size), share->limited_by.c_str());
  granted.store(static_cast<int64_t>(std::min<uint64_t>(share->bytes / 32, 64ULL << 20)));
  return Status();
}

// Maps segment `number` from `fd`, which it takes over.
Status map_segment(Pool& pool, uint32_t number, int fd, const media::Description& medium,
                   persist::Granularity granularity, size_t stream_min) {
  auto size = media::segment_size(fd);
  if (!size.ok()) {
    close(fd);
    return size.status();
  }
  const uint64_t usable = round_down(*size);
  if (usable == 0) {
    close(fd);
    return fail(EUCLEAN, "%s: segment %u has only %llu bytes; it is cut off or no pool",
                pool.path.c_str(), number, static_cast<unsigned long long>(*size));
  }
  auto mapping = media::map(fd, medium, 0, usable,
                            pool.read_only ? media::Access::read_only : media::Access::read_write);
  if (!mapping.ok()) {
    close(fd);
    return mapping.status();
  }
  auto segment = std::make_unique<Segment>();
  segment->base = mapping->base;
  segment->fd = fd;
  segment->blocks = usable >> format::block_shift;
  segment->fresh_zero = medium.kind != media::Kind::devdax;
  segment->unmap = [fd, mapping = *mapping]() mutable {
    media::unmap(mapping);
    close(fd);
  };
  if (medium.kind != media::Kind::devdax) {
    const bool shared_memory = medium.kind == media::Kind::tmpfs;
    segment->reserve = [fd, shared_memory, path = pool.path](uint64_t offset, uint64_t bytes) {
      if (shared_memory) CAIRN_TRY(check_share(path, bytes));
      return media::reserve(fd, offset, bytes);
    };
  }
  persist::RegionOptions options;
  options.base = mapping->base;
  options.size = usable;
  options.fd = medium.kind == media::Kind::tmpfs && !pool.read_only ? fd : -1;
  options.granularity = granularity;
  options.large_pages = medium.large_pages;
  options.stream_min = stream_min;
  options.writable = !pool.read_only;
  if (Status status = segment->region.open(options); !status.ok()) {
    segment->unmap();
    return status;
  }
  pool.segment[number] = std::move(segment);
  pool.segments.store(number + 1, std::memory_order_release);
  return Status();
}

uint32_t choose_lanes(uint64_t size) {
  return static_cast<uint32_t>(std::clamp<uint64_t>(size >> 20, 64, format::max_lanes));
}

uint32_t choose_segments(uint64_t size, media::Kind kind) {
  if (kind == media::Kind::devdax) return 1;
  const auto processors = static_cast<uint64_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  return static_cast<uint32_t>(std::clamp<uint64_t>(size >> 27, 1, std::min<uint64_t>(processors, 8)));
}

Result<uint64_t> choose_size(const std::string& parent, const media::Description& medium) {
  uint64_t most = medium.size;
  if (medium.kind == media::Kind::tmpfs) {
    auto share = media::memory_share(parent.c_str());
    if (share.ok()) most = std::min(most, share->bytes);
  }
  // Half of what is free: the job itself needs memory too. Pages are taken as they are used.
  const uint64_t size = round_down(medium.kind == media::Kind::devdax ? most : most / 2);
  if (size < least_pool_bytes)
    return fail(ENOSPC, "%s: only %llu bytes are free, a pool needs at least %llu", parent.c_str(),
                static_cast<unsigned long long>(most),
                static_cast<unsigned long long>(least_pool_bytes * 2));
  return size;
}

std::string parent_of(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Makes the names in a directory survive power loss, where anything does.
Status sync_directory(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && fsync(fd) == 0;
  const int error = errno;
  if (fd >= 0) close(fd);
  return synced ? Status() : fail(error, "%s: make its names durable: %s", path.c_str(), strerror(error));
}

void remove_tree(const std::string& path) {
  for (uint32_t s = 0; s < format::max_segments; ++s) {
    if (unlink(segment_path(path, s).c_str()) != 0 && errno == ENOENT) break;
  }
  rmdir((path + "/companion").c_str());
  rmdir(path.c_str());
}

Status create_segments(Pool& pool, const media::Description& medium, uint64_t size, uint32_t count,
                       persist::Granularity granularity, size_t stream_min) {
  for (uint32_t s = 0; s < count; ++s) {
    auto fd = media::create_segment(segment_path(pool.path, s).c_str(), round_down(size / count));
    if (!fd.ok()) return fd.status();
    CAIRN_TRY(map_segment(pool, s, *fd, medium, granularity, stream_min));
  }
  return Status();
}

// The whole device is mapped; the pool may be smaller.
Status create_on_device(Pool& pool, const media::Description& medium, uint64_t size,
                        persist::Granularity granularity, size_t stream_min) {
  CAIRN_TRY(check_no_pool_on(pool.path));
  auto fd = media::open_segment(pool.path.c_str());
  if (!fd.ok()) return fd.status();
  CAIRN_TRY(map_segment(pool, 0, *fd, medium, granularity, stream_min));
  Segment& segment = *pool.segment[0];
  segment.blocks = std::min({segment.blocks, size >> format::block_shift, format::max_segment_blocks});
  return Status();
}

Status store_medium(Pool& pool, const media::Description& medium, persist::Granularity granularity,
                    bool forced, size_t stream_min) {
  auto& a = *reinterpret_cast<format::Superblock*>(pool.segment[0]->base);
  pool.store(a.mapping_unit, medium.mapping_unit);
  pool.store(a.granularity, static_cast<uint64_t>(granularity));
  pool.store(a.forced_granularity, forced ? 1 : 0);
  pool.store(a.medium, static_cast<uint64_t>(medium.kind));
  pool.store(a.large_pages, medium.large_pages ? 1 : 0);
  pool.store(a.stream_min, stream_min);
  return Status();
}

Status check_directory(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0)
    return fail(errno, "%s: %s", path.c_str(), strerror(errno));
  if (!S_ISDIR(st.st_mode)) return fail(ENOTDIR, "%s: a pool is a directory or a dax device", path.c_str());
  if (st.st_uid != geteuid() && geteuid() != 0)
    return fail(EACCES, "%s: the pool belongs to user %u", path.c_str(), st.st_uid);
  if ((st.st_mode & 077) != 0)
    return fail(EACCES, "%s: others may enter this pool (mode %03o); it must be 0700", path.c_str(),
                st.st_mode & 0777);
  return Status();
}

}  // namespace

Result<std::unique_ptr<Pool>> create_files(const std::string& given, const CreateOptions& options) {
  const bool device = is_device(given);
  const std::string path = device ? device_path(given) : given;
  const std::string parent = device ? path : parent_of(path);
  auto medium = media::recognise(parent.c_str());
  if (!medium.ok()) return medium.status();
  uint64_t size = round_down(options.size_bytes);
  if (options.size_bytes == 0) {
    auto chosen = choose_size(parent, *medium);
    if (!chosen.ok()) return chosen.status();
    size = *chosen;
  } else if (options.size_bytes < least_pool_bytes) {
    return fail(EINVAL, "%s: a pool has at least %llu bytes, not %llu", path.c_str(),
                static_cast<unsigned long long>(least_pool_bytes),
                static_cast<unsigned long long>(options.size_bytes));
  } else if (medium->size != 0 && size > medium->size) {
    return fail(ENOSPC, "%s: %llu bytes do not fit, %s has %llu free", path.c_str(),
                static_cast<unsigned long long>(options.size_bytes), parent.c_str(),
                static_cast<unsigned long long>(medium->size));
  }
  if (options.lanes > format::max_lanes)
    return fail(EINVAL, "%s: %u lanes; at most %u", path.c_str(), options.lanes, format::max_lanes);
  const uint32_t lanes = options.lanes != 0 ? options.lanes : choose_lanes(size);
  const uint32_t segments = device                  ? 1
                            : options.segments != 0 ? options.segments
                                                    : choose_segments(size, medium->kind);
  const persist::Granularity granularity =
      options.granularity != 0 ? static_cast<persist::Granularity>(options.granularity)
                               : medium->granularity;
  if (!device && mkdir(path.c_str(), 0700) != 0)
    return fail(errno, "%s: %s", path.c_str(), strerror(errno));
  auto pool = std::make_unique<Pool>();
  pool->path = pool->home = path;
  pool->lock_path = segment_path(path, 0);
  pool->is_volatile = granularity == persist::Granularity::none;
  const size_t stream_min = persist::measure_stream_min();
  Status status = device ? create_on_device(*pool, *medium, size, granularity, stream_min)
                         : create_segments(*pool, *medium, size, segments, granularity, stream_min);
  if (status.ok()) status = write_format(*pool, lanes, 0);
  if (status.ok())
    status = store_medium(*pool, *medium, granularity, options.granularity != 0, stream_min);
  if (status.ok() && device) {
    name_lock_file(*pool);
    status = agree_on_lock_file(*pool);
  } else if (status.ok() && mkdir((path + "/companion").c_str(), 0700) != 0) {
    status = fail(errno, "%s/companion: %s", path.c_str(), strerror(errno));
  }
  if (status.ok() && !device && !medium->is_volatile) {
    status = sync_directory(path);
    if (status.ok()) status = sync_directory(parent);
  }
  if (!status.ok()) {
    pool.reset();
    if (!device) remove_tree(path);
    return annotate(status, "cannot create pool %s", path.c_str());
  }
  return pool;
}

Result<std::unique_ptr<Pool>> open_files(const std::string& path, bool read_only) {
  const bool device = is_device(path);
  if (!device) CAIRN_TRY(check_directory(path));
  auto pool = std::make_unique<Pool>();
  pool->path = pool->home = device ? device_path(path) : path;
  pool->read_only = read_only;
  pool->lock_path = segment_path(path, 0);
  const media::Access access = read_only ? media::Access::read_only : media::Access::read_write;
  auto open_one = [access, device](Pool& into, uint32_t number) -> Status {
    auto fd = media::open_segment(
        device ? into.path.c_str() : segment_path(into.path, number).c_str(), access);
    if (!fd.ok()) return fd.status();
    // What the creator saw is in the superblock; until that is read, what costs nothing to know.
    media::Description medium;
    medium.mapping_unit = format::block_size;
    if (device) {
      auto found = media::recognise_device(*fd, into.path.c_str());
      if (!found.ok()) {
        close(*fd);
        return found.status();
      }
      medium = *found;
    }
    size_t stream_min = 0;
    if (into.identity != nullptr) {
      stream_min = into.identity->stream_min.load();
      medium.kind = static_cast<media::Kind>(into.identity->medium.load());
      medium.large_pages = into.identity->large_pages.load() != 0;
    } else {
      const FirstBlocks blocks = read_first_blocks(*fd, medium);
      const format::Superblock& page = blocks.copy(0);
      if (device && !blocks.are_ours()) {
        close(*fd);
        return fail(ENOENT, "%s: no pool on this device; cairn pool create %s makes one",
                    into.path.c_str(), into.path.c_str());
      }
      if (page.magic.load() == format::superblock_magic) {
        const uint64_t kind = page.medium.load();
        if (kind >= 1 && kind <= 4 && !device) medium.kind = static_cast<media::Kind>(kind);
        medium.large_pages = page.large_pages.load() != 0;
        stream_min = page.stream_min.load();
        const uint64_t stored = page.granularity.load();
        if (stored >= 1 && stored <= 4)
          medium.granularity = static_cast<persist::Granularity>(stored);
      }
      into.is_volatile = medium.granularity == persist::Granularity::none;
    }
    return map_segment(into, number, *fd, medium, granularity_of(into, medium), stream_min);
  };
  CAIRN_TRY(open_one(*pool, 0));
  CAIRN_TRY(read_format(*pool));
  if (device) {
    name_lock_file(*pool);
    CAIRN_TRY(agree_on_lock_file(*pool));
  }
  auto load = [open_one](Pool& into) -> Status {
    const auto count = static_cast<uint32_t>(into.superblock().segments.load());
    for (uint32_t s = into.segments.load(); s < count && s < format::max_segments; ++s) {
      CAIRN_TRY(open_one(into, s));
      Segment& segment = *into.segment[s];
      const uint64_t blocks = into.superblock().segment[s].blocks.load();
      if (blocks > segment.blocks) {
        into.segments.store(s);
        return fail(EUCLEAN, "%s: segment %u is cut off: %llu of %llu bytes are there",
                    into.path.c_str(), s,
                    static_cast<unsigned long long>(segment.blocks * format::block_size),
                    static_cast<unsigned long long>(blocks * format::block_size));
      }
      segment.blocks = blocks;
      lay_out(segment, 0);
      CAIRN_TRY(check_segment_header(into, s));
    }
    return Status();
  };
  CAIRN_TRY(load(*pool));
  pool->load_new_segments = load;
  return pool;
}

Status add_segment(Pool& pool, uint64_t bytes) {
  const uint32_t number = pool.segments.load();
  if (number >= format::max_segments)
    return fail(ENOSPC, "%s: it has %u segments, the most", pool.path.c_str(), number);
  media::Description medium;
  medium.kind = static_cast<media::Kind>(pool.identity->medium.load());
  if (medium.kind == media::Kind::devdax)
    return fail(EOPNOTSUPP, "%s: a device cannot grow", pool.path.c_str());
  medium.large_pages = pool.identity->large_pages.load() != 0;
  const uint64_t size =
      std::max<uint64_t>((bytes + format::chunk_size - 1) / format::chunk_size * format::chunk_size,
                         2 * format::chunk_size);
  auto fd = media::create_segment(segment_path(pool.path, number).c_str(), size);
  if (!fd.ok()) return fd.status();
  Status status = map_segment(pool, number, *fd, medium,
                              static_cast<persist::Granularity>(pool.identity->granularity.load()),
                              pool.identity->stream_min.load());
  if (status.ok()) {
    Segment& segment = *pool.segment[number];
    lay_out(segment, 0);
    if (segment.reserve)
      status = segment.reserve(0, static_cast<uint64_t>(
                                      reinterpret_cast<uint8_t*>(segment.record) - segment.base));
    if (status.ok() && !pool.is_volatile) status = sync_directory(pool.path);
    if (status.ok()) status = publish_segment(pool, number);
  }
  if (!status.ok()) {
    pool.segments.store(number);
    pool.segment[number].reset();
    unlink(segment_path(pool.path, number).c_str());
  }
  return status;
}

Result<media::LivenessLock> lock_attach(Pool& pool) {
  for (;;) {
    auto lock = media::try_lock(pool.lock_path.c_str(), attach_lock_byte);
    if (lock.ok() || lock.code() != EAGAIN) return lock;
    usleep(100);
  }
}

int open_lock_file(const Pool& pool) {
  return open(pool.lock_path.c_str(), (pool.read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC);
}

void close_lock_file(int descriptor) {
  if (descriptor >= 0) close(descriptor);
}

Result<bool> anybody_attached(const std::string& lock_path) {
  const int fd = open(lock_path.c_str(), O_RDWR | O_CLOEXEC);
  // The lock file of a pool on a device is made by the first who attaches in this boot.
  if (fd < 0 && errno == ENOENT) return false;
  if (fd < 0) return fail(errno, "%s: %s", lock_path.c_str(), strerror(errno));
  auto held = media::is_held(fd, lane_lock_byte(0), format::max_lanes);
  close(fd);
  return held;
}

void remove_folder(const std::string& path) {
  if (DIR* folder = opendir(path.c_str()); folder != nullptr) {
    while (const dirent* entry = readdir(folder)) {
      if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
        unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
  }
  rmdir(path.c_str());
}

Status remove_files(const std::string& path) {
  if (is_device(path)) return remove_from_device(device_path(path));
  CAIRN_TRY(check_directory(path));
  const std::string lock_path = segment_path(path, 0);
  if (access(lock_path.c_str(), F_OK) == 0) {
    auto attached = anybody_attached(lock_path);
    if (!attached.ok()) return attached.status();
    if (*attached) return fail(EBUSY, "%s: processes are attached to this pool", path.c_str());
  } else if (errno != ENOENT) {
    return fail(errno, "%s: %s", lock_path.c_str(), strerror(errno));
  } else {
    return fail(ENOENT, "%s: not a Cairn pool (no segment.0)", path.c_str());
  }
  // Companions and an adapter's links go with it; nothing else is expected here.
  for (const char* folder : {"/companion", "/links"}) remove_folder(path + folder);
  remove_tree(path);
  if (access(path.c_str(), F_OK) == 0)
    return fail(ENOTEMPTY, "%s: other files lie in this pool's directory and were left", path.c_str());
  return Status();
}

}  // namespace cairn::pool
