// C API: where files lie, and when they move (include/cairn/tier.h).
#include "cairn/tier.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "base/coarse_clock.h"
#include "base/saved_failure.h"
#include "cairn/cover.h"
#include "capi/core/handles.h"
#include "capi/cover/cover_handle.h"
#include "cluster/collect/collect.h"
#include "file/inode/attributes.h"
#include "tier/cover/cover_state.h"
#include "tier/cover/covered_directory.h"
#include "tier/cover/drain.h"
#include "tier/cover/residency.h"
#include "tier/drain/evict.h"
#include "tier/stage/stage.h"

namespace cairn::capi {
namespace {

constexpr uint64_t ns_per_ms = 1'000'000;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Calls act(name) on a regular file of the cover.
template <typename Act>
Status on_file(cairn_cover* cover, const char* path, Act act) {
  CAIRN_TRY_ASSIGN(name, tier::find_covered(*cover->cover, path));
  CAIRN_TRY(tier::check_regular(name, path));
  return act(name);
}

// Drains what `only` names, if it may be drained at all.
Status drain_file(tier::Cover& cover, const tier::CoveredName& name, const char* path) {
  CAIRN_TRY(refuse_pool_of_other(cover));
  std::string problem;
  tier::DrainCalls calls;
  calls.problem = [&problem](const char* text) { problem = text; };
  CAIRN_TRY(tier::confirm_covered(cover, {}));
  CAIRN_TRY(finish_renamings_before_drain(cover));
  tier::DrainReport report;
  const Status drained = note_end(cover, tier::drain_one(cover, name, path, calls, &report));
  // The cause says more than the number of files that it stopped.
  return drained.ok() || problem.empty() ? drained : fail(drained.code(), "%s", problem.c_str());
}

Result<bool> is_done(const tier::Cover& cover, const char* path) {
  if (path != nullptr) {
    CAIRN_TRY_ASSIGN(name, tier::find_covered(cover, path));
    CAIRN_TRY(tier::check_regular(name, path));
    CAIRN_TRY_ASSIGN(done, tier::is_in_lower(cover, name));
    if (!done) CAIRN_TRY(tier::check_is_drained(cover, name, path));
    return done;
  }
  CAIRN_TRY_ASSIGN(state, tier::state_of_cover(*cover.fs, cover.name));
  return state.all_drained && !cluster::is_held_up(*cover.fs, cover.path, cover.name);
}

// A look walks over what it is about: it must not be all that a processor does.
Status wait_until_done(const tier::Cover& cover, const char* path, uint32_t timeout_ms) {
  constexpr uint64_t least_pause = 5 * ns_per_ms;
  constexpr uint64_t most_pause = 200 * ns_per_ms;
  constexpr uint64_t most_share = 20;
  const uint64_t begun = fine_monotonic_ns();
  const uint64_t until =
      timeout_ms == UINT32_MAX ? UINT64_MAX : begun + uint64_t{timeout_ms} * ns_per_ms;
  for (uint64_t longest = least_pause;; longest = std::min(longest * 2, most_pause)) {
    const uint64_t looked = fine_monotonic_ns();
    CAIRN_TRY_ASSIGN(done, is_done(cover, path));
    if (done) return Status();
    const uint64_t now = fine_monotonic_ns();
    if (now >= until)
      return fail(ETIMEDOUT, "%s: not drained after %u ms",
                  path == nullptr ? cover.path.c_str() : path, timeout_ms);
    std::this_thread::sleep_for(std::chrono::nanoseconds(
        std::min(std::max(longest, (now - looked) * most_share), until - now)));
  }
}

}  // namespace
}  // namespace cairn::capi

using namespace cairn;        // NOLINT(google-build-using-namespace): the functions below are C
using namespace cairn::capi;  // NOLINT(google-build-using-namespace)

extern "C" {

int cairn_tier_join(cairn_pool** pool, cairn_cover** cover) {
  const WriteWindow window;
  if (Status s = check_given(pool, "pool"); !s.ok()) return code(s);
  if (Status s = check_given(cover, "cover"); !s.ok()) return code(s);
  const std::string path = variable("CAIRN_POOL");
  std::string directory = variable("CAIRN_COVER");
  directory.resize(std::min(directory.find(':'), directory.size()));
  if (path.empty() || directory.empty())
    return code(fail(ENOENT, "this process does not run under `cairn run`"));
  cairn_pool* attached = nullptr;
  if (const int result = cairn_pool_attach(path.c_str(), 0, &attached); result < 0) return result;
  const int result = cairn_cover_join(attached, directory.c_str(), cover);
  if (result < 0) {
    const SavedFailure saved{Status(-result)};
    cairn_pool_detach(attached);
    return code(saved.restored());
  }
  *pool = attached;
  return 0;
}

int cairn_tier_residency(cairn_cover* cover, const char* path, cairn_residency* residency) {
  const WriteWindow window;
  if (residency == nullptr || residency->struct_size < offsetof(cairn_residency, size))
    return code(fail(EINVAL, "cairn_tier_residency: invalid struct_size %u",
                     residency == nullptr ? 0 : residency->struct_size));
  return code(on_file(cover, path, [&](const tier::CoveredName& name) -> Status {
    CAIRN_TRY_ASSIGN(found, tier::residency_of(*cover->cover, name));
    cairn_residency filled = {};
    filled.is_drained = found.is_drained ? 1 : 0;
    filled.size = found.size;
    filled.pool_bytes = found.pool_bytes;
    filled.lower_bytes = found.lower_bytes;
    filled.undrained_bytes = found.undrained_bytes;
    filled.struct_size = residency->struct_size;
    std::memcpy(residency, &filled, std::min<size_t>(residency->struct_size, sizeof filled));
    return Status();
  }));
}

int cairn_tier_stage(cairn_cover* cover, const char* path) {
  const WriteWindow window;
  return code(on_file(cover, path, [&](const tier::CoveredName& name) -> Status {
    file::FileSystem& fs = *cover->cover->fs;
    CAIRN_TRY(fs.pool.check_writable());
    CAIRN_TRY(file::check_generation(name.map, name.generation));
    return tier::stage(fs, name.map.number);
  }));
}

int cairn_tier_evict(cairn_cover* cover, const char* path, uint64_t* bytes) {
  const WriteWindow window;
  if (bytes != nullptr) *bytes = 0;
  return code(on_file(cover, path, [&](const tier::CoveredName& name) -> Status {
    CAIRN_TRY(file::check_generation(name.map, name.generation));
    uint64_t blocks = 0;
    CAIRN_TRY(tier::evict(*cover->cover->fs, name.map.number, &blocks));
    if (bytes != nullptr) *bytes = blocks * format::block_size;
    return Status();
  }));
}

int cairn_tier_drain(cairn_cover* cover, const char* path) {
  const WriteWindow window;
  return code(on_file(cover, path, [&](const tier::CoveredName& name) {
    return drain_file(*cover->cover, name, path);
  }));
}

int cairn_tier_wait(cairn_cover* cover, const char* path, uint32_t timeout_ms) {
  const WriteWindow window;
  return code(wait_until_done(*cover->cover, path, timeout_ms));
}

int cairn_tier_get_mode(cairn_cover* cover, const char* path, enum cairn_drain_mode* own) {
  const WriteWindow window;
  auto name = tier::find_covered(*cover->cover, path);
  if (!name.ok()) return code(name.status());
  if (own != nullptr)
    *own = static_cast<cairn_drain_mode>(tier::own_drain_mode(*cover->cover->fs, name->map));
  return static_cast<int>(tier::mode_of(*cover->cover, *name));
}

int cairn_tier_set_mode(cairn_cover* cover, const char* path, enum cairn_drain_mode mode) {
  const WriteWindow window;
  const auto number = static_cast<unsigned>(mode);
  if (number > CAIRN_DRAIN_NEVER)
    return code(fail(EINVAL, "%s: invalid drain mode %u", path, number));
  auto name = tier::find_covered(*cover->cover, path);
  if (!name.ok()) return code(name.status());
  if (const uint64_t type = name->map.inode->mode.load(); !S_ISREG(type) && !S_ISDIR(type))
    return code(fail(EINVAL, "%s: neither a regular file nor a directory", path));
  return code(tier::set_drain_mode(*cover->cover->fs, name->map, name->generation,
                                   static_cast<tier::DrainMode>(number)));
}

int cairn_stage(cairn_pool* pool, cairn_ino ino, uint64_t generation) {
  const WriteWindow window;
  auto& fs = fs_of(pool);
  auto map = live_map(fs, ino);
  if (!map.ok()) return code(map.status());
  if (Status s = file::check_generation(*map, generation); !s.ok()) return code(s);
  if (!S_ISREG(map->inode->mode.load()))
    return code(fail(EINVAL, "inode %llu: not a regular file",
                     static_cast<unsigned long long>(map->number)));
  if (Status s = fs.pool.check_writable(); !s.ok()) return code(s);
  return code(tier::stage(fs, map->number));
}

int cairn_evict(cairn_pool* pool, cairn_ino ino, uint64_t generation, uint64_t* bytes) {
  const WriteWindow window;
  auto& fs = fs_of(pool);
  if (bytes != nullptr) *bytes = 0;
  auto map = live_map(fs, ino);
  if (!map.ok()) return code(map.status());
  if (Status s = file::check_generation(*map, generation); !s.ok()) return code(s);
  uint64_t blocks = 0;
  const Status status = tier::evict(fs, map->number, &blocks);
  if (bytes != nullptr) *bytes = blocks * format::block_size;
  return code(status);
}

}  // extern "C"
