// C API: pools.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "capi/core/handles.h"
#include "file/inode/reclaim.h"
#include "file/recovery/attach.h"
#include "file/recovery/check.h"
#include "media/cgroup.h"
#include "media/lifetime.h"
#include "media/media.h"
#include "media/memory_share.h"
#include "media/own_place.h"
#include "persist/region/file_size_limit.h"
#include "pool/lanes/attach_lock.h"
#include "pool/lanes/seats.h"
#include "pool/lanes/stopped.h"
#include "pool/medium/growth.h"
#include "pool/medium/removal.h"
#include "pool/space/chunk.h"
#include "pool/space/space.h"
#include "tier/cover/cover_lower.h"

using cairn::fail;
using cairn::Status;
using cairn::capi::check_flags;
using cairn::capi::check_given;
using cairn::capi::code;
using cairn::capi::fs_of;

namespace {

const char* granularity_name(cairn::persist::Granularity granularity) {
  switch (granularity) {
    case cairn::persist::Granularity::none:
      return "none";
    case cairn::persist::Granularity::page:
      return "page";
    case cairn::persist::Granularity::cache_line:
      return "cache line";
    case cairn::persist::Granularity::byte:
      return "byte";
  }
  return "unknown";
}

static_assert(cairn::format::short_of_file_system == CAIRN_SHORT_OF_FILE_SYSTEM &&
              cairn::format::short_of_quota == CAIRN_SHORT_OF_QUOTA &&
              cairn::format::short_of_memory == CAIRN_SHORT_OF_MEMORY &&
              cairn::format::short_of_cgroup == CAIRN_SHORT_OF_CGROUP);

constexpr unsigned attach_flags =
    CAIRN_ATTACH_READ_ONLY | CAIRN_ATTACH_NO_RECOVERY | CAIRN_ATTACH_WRITE_WINDOW;

// Frees the blocks that unlink and truncate have left behind, because they count as free space.
void reclaim(cairn::file::FileSystem& fs) {
  if (!fs.pool.read_only) cairn::file::reclaim_withheld(fs);
}

bool is_alive(int probe, uint32_t lane) {
  const auto held = cairn::media::is_held(probe, cairn::pool::lane_lock_byte(lane));
  return held.ok() && *held;
}

// Processes that have ended leave their lanes to whoever comes next.
uint32_t live_lanes(const cairn::pool::Pool& pool) {
  const int probe = cairn::pool::open_lock_file(pool);
  uint32_t live = 0;
  pool.for_each_lane([&](uint32_t lane) {
    if (is_alive(probe, lane)) ++live;
    return true;
  });
  cairn::pool::close_lock_file(probe);
  return live;
}

}  // namespace

extern "C" {

const char* cairn_last_error(void) { return cairn::last_detail(); }
const char* cairn_version(void) { return CAIRN_VERSION; }

int cairn_pool_create(const char* path, const cairn_pool_options* options) {
  const WriteWindow window;
  if (Status status = check_given(path, "the pool's path"); !status.ok()) return code(status);
  cairn::pool::CreateOptions create;
  uint32_t mode = 0700;
  bool populate = false;
  if (options != nullptr) {
    if (options->struct_size < sizeof(cairn_pool_options))
      return code(fail(EINVAL, "cairn_pool_create: invalid struct_size %u", options->struct_size));
    if (options->reserved != 0)
      return code(fail(EINVAL, "cairn_pool_create: reserved must be 0, not %u", options->reserved));
    // A later version's options are all right as long as they ask for nothing.
    const auto* bytes = reinterpret_cast<const uint8_t*>(options);
    if (std::any_of(bytes + sizeof *options, bytes + options->struct_size,
                    [](uint8_t byte) { return byte != 0; }))
      return code(fail(EINVAL, "cairn_pool_create: options unknown to this version"));
    if (options->granularity > 4)
      return code(fail(EINVAL, "cairn_pool_create: invalid granularity %u", options->granularity));
    create.lanes = options->lanes;
    create.size_bytes = options->size;
    create.granularity = options->granularity;
    if (options->mode != 0) mode = options->mode & 07777;
    populate = options->populate != 0;
  }
  if (Status status = cairn::file::create(path, create, mode); !status.ok()) return code(status);
  if (!populate) return 0;
  cairn_pool* pool = nullptr;
  int result = cairn_pool_attach(path, 0, &pool);
  if (result == 0) result = cairn_pool_populate(pool, nullptr, nullptr);
  cairn_pool_detach(pool);
  return result;
}

int cairn_pool_attach(const char* path, unsigned flags, cairn_pool** pool) {
  if ((flags & CAIRN_ATTACH_WRITE_WINDOW) != 0) {
    if (Status status = cairn::persist::switch_on_write_window(); !status.ok()) return code(status);
  }
  const WriteWindow window;
  if (Status status = check_given(path, "the pool's path"); !status.ok()) return code(status);
  if (Status status = check_flags(flags, attach_flags, "cairn_pool_attach"); !status.ok())
    return code(status);
  cairn::file::AttachOptions options;
  options.read_only = (flags & CAIRN_ATTACH_READ_ONLY) != 0;
  options.no_recovery = (flags & CAIRN_ATTACH_NO_RECOVERY) != 0;
  auto fs = cairn::file::attach(path, options);
  if (!fs.ok()) return code(fs.status());
  auto handle = std::make_unique<cairn_pool>();
  handle->fs = std::move(*fs);
  handle->fs->handle = handle.get();
  // Any process may meet a lazy file, whether it has joined the cover or not.
  cairn::tier::make_lower_later(*handle->fs);
  if (!options.read_only) {
    handle->lower = cairn::tier::make_lower(*handle->fs);
    handle->fs->lower = handle->lower.get();
  }
  *pool = handle.release();
  return 0;
}

void cairn_pool_detach(cairn_pool* pool) {
  const WriteWindow window;
  if (pool == nullptr) return;
  cairn::file::detach(*pool->fs);
  delete pool;
}

void cairn_pool_set_user(cairn_pool* pool, uint32_t uid, uint32_t gid) {
  const WriteWindow window;
  fs_of(pool).uid.store(uid);
  fs_of(pool).gid.store(gid);
}

const char* cairn_pool_lock_path(cairn_pool* pool) {
  const WriteWindow window;
  return fs_of(pool).pool.lock_path.c_str();
}

void cairn_file_size_limit_changed(void) {
  const WriteWindow window;
  cairn::persist::note_file_size_limit();
}

int cairn_pool_set_durability(cairn_pool* pool, int durability) {
  const WriteWindow window;
  if (durability != CAIRN_DURABILITY_FSYNC && durability != CAIRN_DURABILITY_WRITE)
    return code(fail(EINVAL, "invalid durability %d", durability));
  // On other media every write is durable, or none can be.
  fs_of(pool).durable_writes =
      durability == CAIRN_DURABILITY_WRITE &&
      fs_of(pool).pool.segment[0]->region.granularity() == cairn::persist::Granularity::page;
  return 0;
}

int cairn_pool_set_release(cairn_pool* handle, int release) {
  const WriteWindow window;
  cairn::pool::Pool& pool = fs_of(handle).pool;
  if (release != CAIRN_RELEASE_IDLE && release != CAIRN_RELEASE_NEVER)
    return code(fail(EINVAL, "invalid release %d", release));
  if (const Status status = pool.check_writable(); !status.ok()) return code(status);
  pool.store_flush(pool.state->release_never, release == CAIRN_RELEASE_NEVER ? 1 : 0);
  return 0;
}

int cairn_pool_get_info(cairn_pool* handle, cairn_pool_info* info) {
  const WriteWindow window;
  auto& fs = fs_of(handle);
  cairn::pool::Pool& pool = fs.pool;
  const auto& identity = pool.superblock();
  std::memset(info, 0, sizeof *info);
  std::snprintf(info->path, sizeof info->path, "%s", pool.path.c_str());
  for (int i = 0; i < 2; ++i) {
    const uint64_t word = identity.uuid[i].load();
    std::memcpy(info->uuid + 8 * i, &word, sizeof word);
  }
  const auto granularity = static_cast<cairn::persist::Granularity>(identity.granularity.load());
  const auto kind = static_cast<cairn::media::MediumKind>(identity.medium.load());
  std::snprintf(info->medium, sizeof info->medium, "%s", cairn::media::name_of(kind));
  std::snprintf(info->granularity, sizeof info->granularity, "%s", granularity_name(granularity));
  // A granularity that is forced, as tests do, makes no memory last.
  info->is_volatile = pool.is_volatile || kind == cairn::media::MediumKind::tmpfs ? 1 : 0;
  info->format_version = static_cast<uint32_t>(identity.version.load());
  info->lanes = pool.lane_count;
  info->lanes_attached = live_lanes(pool);
  info->segments = pool.segments.load();
  info->large_pages = static_cast<uint32_t>(identity.large_pages.load());
  for (uint32_t s = 0; s < info->segments; ++s)
    info->size += pool.segment[s]->blocks * cairn::format::block_size;
  reclaim(fs);
  const cairn::pool::Usage usage = cairn::pool::usage(pool);
  info->usable = usage.usable * cairn::format::block_size;
  const uint64_t taken = usage.usable - std::min(usage.free, usage.usable);
  const uint64_t withheld = std::min(cairn::file::count_withheld(fs), taken);
  info->used = (taken - withheld) * cairn::format::block_size;
  info->withheld = withheld * cairn::format::block_size;
  info->free_held = usage.held * cairn::format::block_size;
  info->untouched = usage.untouched * cairn::format::block_size;
  info->reserve = usage.reserve * cairn::format::block_size;
  info->block_size = cairn::format::block_size;
  const uint64_t numbers = pool.state->itable_blocks.load() * cairn::format::inodes_per_block;
  for (uint64_t n = cairn::format::root_inode; n < numbers; ++n) {
    const auto* inode = cairn::file::inode_at(fs, n);
    if (inode != nullptr && (inode->state.load() & 7) == cairn::format::inode_live) ++info->inodes;
  }
  info->full_count = pool.state->full_count.load();
  info->full_bytes = pool.state->full_bytes.load();
  info->attach_generation = pool.state->attach_generation.load();
  info->created_ns = identity.created_ns.load();
  return 0;
}

int cairn_memory_get_left(cairn_memory_left* left) {
  const WriteWindow window;
  if (left->struct_size < sizeof(cairn_memory_left))
    return code(fail(EINVAL, "cairn_memory_get_left: invalid struct_size %u", left->struct_size));
  const cairn::media::CgroupMemory cgroup = cairn::media::cgroup_memory();
  left->machine = cairn::media::memory_available();
  left->cgroup_left = cgroup.for_pools();
  left->cgroup_limit = cgroup.limit;
  std::snprintf(left->cgroup_file, sizeof left->cgroup_file, "%s", cgroup.file.c_str());
  return 0;
}

int cairn_pool_get_shortage(cairn_pool* handle, cairn_shortage* shortage) {
  const WriteWindow window;
  if (shortage->struct_size < sizeof(cairn_shortage))
    return code(
        fail(EINVAL, "cairn_pool_get_shortage: invalid struct_size %u", shortage->struct_size));
  const auto& state = *fs_of(handle).pool.state;
  shortage->count = state.refused_count.load();
  shortage->of = static_cast<uint32_t>(state.refused_by.load());
  return 0;
}

int cairn_pool_get_lanes(cairn_pool* handle, cairn_lane_info* lanes, size_t capacity) {
  const WriteWindow window;
  cairn::pool::Pool& pool = fs_of(handle).pool;
  const int probe = cairn::pool::open_lock_file(pool);
  int n = 0;
  pool.for_each_lane([&](uint32_t l) {
    if (static_cast<size_t>(n) < capacity) {
      const cairn::format::Lane& lane = pool.lanes[l];
      cairn_lane_info& info = lanes[n];
      std::memset(&info, 0, sizeof info);
      info.lane = l;
      info.alive = is_alive(probe, l) ? 1 : 0;
      info.pid = static_cast<int32_t>(lane.pid.load());
      const auto motion = cairn::pool::motion_of(info.pid);
      info.stopped = info.alive != 0 && motion != cairn::pool::Motion::goes_on ? 1 : 0;
      for (size_t i = 0; i < std::size(lane.command); ++i) {
        const uint64_t word = lane.command[i].load();
        std::memcpy(info.command + i * sizeof word, &word, sizeof word);
      }
    }
    ++n;
    return true;
  });
  cairn::pool::close_lock_file(probe);
  return n;
}

int cairn_pool_grow(cairn_pool* handle, uint64_t bytes) {
  const WriteWindow window;
  cairn::pool::Pool& pool = fs_of(handle).pool;
  if (const Status status = pool.check_writable(); !status.ok()) return code(status);
  auto lock = cairn::pool::lock_attach(pool);
  if (!lock.ok()) return code(lock.status());
  return code(cairn::pool::add_segment(pool, bytes));
}

int cairn_pool_populate(cairn_pool* handle, cairn_progress progress, void* context) {
  const WriteWindow window;
  cairn::pool::Pool& pool = fs_of(handle).pool;
  if (const Status status = pool.check_writable(); !status.ok()) return code(status);
  uint64_t total = 0;
  for (uint32_t s = 0; s < pool.segments.load(); ++s) total += pool.segment[s]->region.size();
  uint64_t done = 0;
  constexpr uint64_t step = 64ULL << 20;
  for (uint32_t s = 0; s < pool.segments.load(); ++s) {
    cairn::pool::Segment& segment = *pool.segment[s];
    for (uint64_t at = 0; at < segment.region.size(); at += step) {
      const uint64_t size = std::min<uint64_t>(step, segment.region.size() - at);
      Status status;
      if (segment.reserve) status = segment.reserve(at, size);
      if (status.ok()) status = segment.region.populate(at, size);
      if (!status.ok()) return code(status);
      done += size;
      if (progress != nullptr && progress(context, done, total) != 0)
        return code(fail(ECANCELED, "populating %s was stopped", pool.path.c_str()));
    }
    cairn::pool::note_backed(pool, segment);
  }
  return 0;
}

int64_t cairn_pool_check(const char* path, cairn_finding finding, void* context) {
  const WriteWindow window;
  if (Status status = check_given(path, "the pool's path"); !status.ok()) return code(status);
  auto findings = cairn::file::check(path, [&](const char* text) {
    if (finding != nullptr) finding(context, text);
  });
  return findings.ok() ? static_cast<int64_t>(*findings) : -findings.code();
}

int cairn_pool_remove(const char* path) {
  const WriteWindow window;
  if (Status status = check_given(path, "the pool's path"); !status.ok()) return code(status);
  return code(cairn::pool::remove_files(path));
}

int cairn_pool_remove_if(const char* path, cairn_condition condition, void* context) {
  const WriteWindow window;
  if (Status status = check_given(path, "the pool's path"); !status.ok()) return code(status);
  if (Status status = check_given(reinterpret_cast<const void*>(condition), "the condition");
      !status.ok())
    return code(status);
  return code(cairn::pool::remove_files(path, [&] { return condition(context) != 0; }));
}

int cairn_pool_sweep(const char* path) {
  const WriteWindow window;
  if (Status status = check_given(path, "the pool's path"); !status.ok()) return code(status);
  return code(cairn::pool::sweep_files(path));
}

int cairn_lifetime_warnings(const char* path, cairn_finding warning, void* context) {
  const WriteWindow window;
  if (Status status = check_given(path, "the path"); !status.ok()) return code(status);
  const std::vector<std::string> warnings = cairn::media::lifetime_warnings(path);
  for (const std::string& text : warnings)
    if (warning != nullptr) warning(context, text.c_str());
  return static_cast<int>(warnings.size());
}

int cairn_own_place(const char* directory, int create, char* path, size_t size,
                    uint32_t* taken_by) {
  const WriteWindow window;
  if (Status status = check_given(directory, "the directory"); !status.ok()) return code(status);
  const auto place = cairn::media::own_place(directory, create != 0);
  if (!place.ok()) return code(place.status());
  if (place->path.size() >= size)
    return code(fail(ERANGE, "%s: longer than the %zu bytes for it", place->path.c_str(), size));
  std::memcpy(path, place->path.c_str(), place->path.size() + 1);
  if (taken_by != nullptr) *taken_by = place->taken_by.value_or(UINT32_MAX);
  return 0;
}

int cairn_statfs(cairn_pool* handle, cairn_space* space) {
  const WriteWindow window;
  cairn::pool::Pool& pool = fs_of(handle).pool;
  reclaim(fs_of(handle));
  const cairn::pool::Usage usage = cairn::pool::usage(pool);
  space->total_bytes = (usage.usable - cairn::pool::reserve_blocks) * cairn::format::block_size;
  space->free_bytes = (usage.free - usage.reserve) * cairn::format::block_size;
  space->files = pool.state->itable_blocks.load() * cairn::format::inodes_per_block;
  return 0;
}

// ---- life of a process ----

int cairn_fork_prepare(cairn_pool* pool) {
  const WriteWindow window;
  pool->mappings.hold();
  return code(cairn::file::prepare_fork(fs_of(pool), &pool->forked));
}
void cairn_fork_parent(cairn_pool* pool) {
  const WriteWindow window;
  cairn::file::finish_fork_in_parent(fs_of(pool), &pool->forked);
  pool->mappings.release();
}
void cairn_fork_child(cairn_pool* pool) {
  const WriteWindow window;
  cairn::file::finish_fork_in_child(fs_of(pool), &pool->forked);
  pool->mappings.release();
}
int cairn_exec_prepare(cairn_pool* pool, cairn_file* const* files, size_t count) {
  const WriteWindow window;
  auto fd = cairn::file::prepare_exec(fs_of(pool),
                                      reinterpret_cast<cairn::file::File* const*>(files), count);
  return fd.ok() ? *fd : -fd.code();
}
void cairn_exec_cancel(cairn_pool* pool, int descriptor) {
  const WriteWindow window;
  cairn::file::finish_exec(fs_of(pool), descriptor).ignore();  // only a foreign number can fail
}
int cairn_exec_adopt(cairn_pool* pool, int descriptor) {
  const WriteWindow window;
  return code(cairn::file::finish_exec(fs_of(pool), descriptor));
}

}  // extern "C"
