// Crashes in the midst of a recovery: what it had done by then must not spoil the next one.
#include <sys/stat.h>

#include "crash/crash_lab.h"
#include "file/recovery/attach.h"
#include "pool/medium/files.h"
#include "pool/medium/format_io.h"

namespace cairn::test {
namespace {

constexpr uint64_t images_per_fence = 6;
constexpr uint64_t kills_per_recovery = 12;  // or CAIRN_RECOVERY_KILLS
constexpr const char* used_name = "used after the recovery";

// A process that recovered the image and worked with it; it dies with its locks when it goes,
// unless it detached before.
class Recoverer {
 public:
  explicit Recoverer(std::unique_ptr<pool::Pool> pool) {
    auto attached = file::attach_to(std::move(pool), {});
    if (!attached.ok()) return;
    handle_.fs = std::move(*attached);
    handle_.fs->handle = &handle_;
  }
  ~Recoverer() {
    if (!ok()) return;
    for (pool::HeldLane& held : handle_.fs->pool.held) held.lock.release();
    handle_.fs->pool.held.clear();
  }
  Recoverer(const Recoverer&) = delete;
  Recoverer& operator=(const Recoverer&) = delete;
  [[nodiscard]] bool ok() const { return handle_.fs != nullptr; }
  // An acknowledged call after the recovery, which rests on what the recovery did.
  bool work() {
    return cairn_mkdir(&handle_, CAIRN_ROOT, used_name, 0700) == 0 &&
           cairn_mknod(&handle_, CAIRN_ROOT, (std::string(used_name) + "/file").c_str(),
                       S_IFREG | 0600) == 0;
  }
  // What the recovery only had flushed must be durable before the pool says that it is clean: then
  // the next one recovers nothing.
  void detach() { file::detach(*handle_.fs); }

 private:
  cairn_pool handle_;
};

}  // namespace

std::string CrashLab::look_after_recovery(persist::Simulator& second, uint64_t point, bool lost,
                                          bool used) {
  Status status;
  auto pool = map_pool(second, Side::image, &status);
  if (!pool::read_format(*pool).ok()) return std::string("cannot be opened: ") + last_detail();
  if (pool->state->clean.load() == 1) {
    for (uint32_t l = 0; l < pool->lane_count; ++l)
      if ((pool->lanes[l].generation.load() & 1) != 0)
        return "the pool says that it is clean, and lane " + std::to_string(l) + " is taken";
  }
  if (lost) pool->store(pool->state->boot_id[0], 2);
  auto attached = file::attach_to(std::move(pool), {});
  if (!attached.ok()) return std::string("attach: ") + last_detail();
  file::FileSystem& fs = **attached;
  // What was done after the recovery is looked at here, and is none of the history's business.
  const Judge judge = judge_;
  judge_ = [&](const Snapshot& found, uint64_t at) -> std::string {
    Snapshot rest = found;
    const std::string directory = std::string("/") + used_name;
    const uint64_t names = rest.erase(directory) + 2 * rest.erase(directory + "/file");
    if (used && names != 3) return "what was acknowledged after the recovery is missing";
    if (names == 2) return "a file in a directory that is not there";
    if (names != 0) --rest[""].links;
    return judge ? judge(rest, at) : acknowledged(rest, at);
  };
  std::string text = verdict(fs, point);
  judge_ = judge;
  for (pool::HeldLane& held : fs.pool.held) held.lock.release();
  fs.pool.held.clear();
  return text;
}

std::string CrashLab::crash_recovery(uint64_t point, bool lost) {
  persist::Simulator second(options_.granularity);
  second.add_region(options_.size, simulator_.image(region_));
  for (const SitePlace& place : options_.ignored) second.ignore(place.kind, place.site);
  Status status;
  auto pool = map_pool(second, Side::live, &status);
  if (!pool::read_format(*pool).ok()) return std::string("cannot be opened: ") + last_detail();
  if (lost) pool->store(pool->state->boot_id[0], 1);
  second.settle();
  uint64_t acknowledged_at = 0;
  {
    Recoverer recoverer(std::move(pool));
    if (!recoverer.ok()) return std::string("recovery: ") + last_detail();
    if (!recoverer.work()) return std::string("after the recovery: ") + cairn_last_error();
    acknowledged_at = second.mark();
    recoverer.detach();
  }
  const auto sites = second.sites();
  recovery_sites_.insert(recovery_sites_.end(), sites.begin(), sites.end());
  std::string wrong;
  const auto look = [&](uint64_t at, bool second_loss) {
    ++images_;
    wrong = look_after_recovery(second, point, second_loss, at >= acknowledged_at);
    if (!wrong.empty())
      wrong = std::string(second_loss ? "power loss" : "killed") + " at event " +
              std::to_string(at) + " of its recovery: " + wrong;
    return wrong.empty();
  };
  for (uint64_t at : second.crash_points()) {
    second.enumerate(at, images_per_fence, options_.seed + at, [&] { return look(at, true); });
    if (!wrong.empty()) return wrong;
  }
  // The kills fall on other events for other images.
  const uint64_t kills = number_from_environment("CAIRN_RECOVERY_KILLS", kills_per_recovery);
  const uint64_t stride = acknowledged_at / kills + 1;
  for (uint64_t at = images_ % stride; at <= acknowledged_at && wrong.empty(); at += stride)
    second.visit_killed(at, 0, options_.seed, [&] { return look(at, false); });
  return wrong;
}

}  // namespace cairn::test
