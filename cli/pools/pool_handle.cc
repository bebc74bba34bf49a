#include "pools/pool_handle.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "pools/pool_owner.h"
#include "pools/pool_place.h"
#include "text/error.h"

namespace cairn::cli {

Pool::Pool(const std::string& path, unsigned flags) : path_(path) {
  check(cairn_pool_attach(path.c_str(), flags, &pool_), path);
}

std::string Pool::name() const { return pool_name_of(path_); }

cairn_pool_info Pool::info() const {
  cairn_pool_info info{};
  check(cairn_pool_get_info(pool_, &info), path_);
  return info;
}

std::vector<cairn_lane_info> Pool::lanes() const {
  // Processes may attach between two calls, so this asks again until all lanes fit.
  for (std::vector<cairn_lane_info> lanes(64);; lanes.resize(lanes.size() * 2)) {
    const auto count =
        static_cast<size_t>(check(cairn_pool_get_lanes(pool_, lanes.data(), lanes.size()), path_));
    if (count > lanes.size()) continue;
    lanes.resize(count);
    return lanes;
  }
}

void set_release(const Config& config, const Pool& pool) {
  if (!config.is_set("pool.release")) return;
  const bool never = config.value("pool.release") == "never";
  check(cairn_pool_set_release(pool.get(), never ? CAIRN_RELEASE_NEVER : CAIRN_RELEASE_IDLE),
        pool.path());
}

Pool open_pool(const Config& config, const std::string& name, unsigned flags) {
  const std::string path = pool_path(config, name);
  work_as_owner(path);
  cairn_pool* attached = nullptr;
  int64_t result = cairn_pool_attach(path.c_str(), flags, &attached);
  // A pool on a read-only medium can be read. Commands that would change it fail.
  if (result == -EROFS) result = cairn_pool_attach(path.c_str(), flags = look_only, &attached);
  check(result, path);
  Pool pool(attached, path);
  if ((flags & CAIRN_ATTACH_READ_ONLY) == 0) {
    const bool each_write = config.value("durability") == "write";
    check(cairn_pool_set_durability(pool.get(),
                                    each_write ? CAIRN_DURABILITY_WRITE : CAIRN_DURABILITY_FSYNC),
          pool.path());
    set_release(config, pool);
  }
  return pool;
}

File::File(const Pool& pool, const std::string& path, int flags, uint32_t mode) : path_(path) {
  check(cairn_open(pool.get(), CAIRN_ROOT, path.c_str(), flags, mode, &file_), path);
}

File::~File() {
  if (file_ != nullptr) cairn_close(file_);
}

void File::close() { check(cairn_close(std::exchange(file_, nullptr)), path_); }

std::string lane_state(const cairn_lane_info& lane) {
  if (lane.alive == 0) return "dead";
  return lane.stopped != 0 ? "stopped" : "alive";
}

Json lane_json(const cairn_lane_info& lane) {
  return {{"lane", lane.lane},
          {"pid", lane.pid},
          {"state", lane_state(lane)},
          {"command",
           json_text(std::string(lane.command, strnlen(lane.command, sizeof lane.command)))}};
}

std::string durability_text(const cairn_pool_info& info) {
  if (info.is_volatile != 0)
    return "survives processes; volatile: nothing survives power loss or reboot";
  return "survives processes, reboot and power loss, up to the last fsync";
}

std::string uuid_text(const uint8_t (&uuid)[16]) {
  std::string text;
  for (size_t i = 0; i < sizeof uuid; ++i)
    text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
  return text;
}

}  // namespace cairn::cli
