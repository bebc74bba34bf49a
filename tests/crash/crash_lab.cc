#include "crash/crash_lab.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "file/data/sync.h"
#include "file/open/open_file.h"
#include "file/recovery/attach.h"
#include "file/recovery/check.h"
#include "file/recovery/rebuild.h"
#include "pool/lanes/recover.h"
#include "pool/lanes/seats.h"
#include "pool/medium/files.h"
#include "pool/medium/format_io.h"

namespace cairn::test {
namespace {

void touch(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0) close(fd);
}

void must(const Status& status, const char* what) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\n", what, last_detail());
  std::abort();
}

}  // namespace

CrashLab::CrashLab(const LabOptions& options)
    : options_(options),
      simulator_(options.granularity),
      region_(simulator_.add_region(options.size)),
      live_lock_(folder_.path() + "/live"),
      image_lock_(folder_.path() + "/image") {
  for (const SitePlace& place : options.ignored) simulator_.ignore(place.kind, place.site);
  touch(live_lock_);
  touch(image_lock_);
  std::filesystem::create_directory(folder_.path() + "/companion");
  persist::Simulator::set_cpu(0);
  Status status;
  {
    auto pool = map_pool(simulator_, Side::live, &status);
    must(pool::write_format(*pool, options.lanes, 7), "format");
    must(file::create_in(*pool, 0700), "root directory");
  }
  attach_all();
}

void CrashLab::attach_all() {
  detached_ = false;
  for (int i = 0; i < options_.processes; ++i) {
    persist::Simulator::set_cpu(i);
    Status status;
    auto pool = map_pool(simulator_, Side::live, &status);
    must(pool::read_format(*pool), "read format");
    auto fs = file::attach_to(std::move(pool), {});
    must(fs.status(), "attach");
    auto handle = std::make_unique<cairn_pool>();
    handle->fs = std::move(*fs);
    handle->fs->handle = handle.get();
    processes_.push_back(std::move(handle));
  }
  persist::Simulator::set_cpu(0);
}

CrashLab::~CrashLab() { detach_all(); }

std::unique_ptr<pool::Pool> CrashLab::map_pool(persist::Simulator& simulator, Side side,
                                               Status* status) const {
  const bool live = &simulator == &simulator_ && side == Side::live;
  auto pool = std::make_unique<pool::Pool>();
  pool->path = live ? "simulated" : "image";
  pool->home = folder_.path();
  pool->lock_path = live ? live_lock_ : image_lock_;
  pool->is_volatile = false;
  auto segment = std::make_unique<pool::Segment>();
  *status = side == Side::image ? simulator.attach_image(segment->region, region_)
                                : simulator.attach(segment->region, region_);
  segment->base = segment->region.base();
  segment->blocks = segment->region.size() >> format::block_shift;
  segment->fresh_zero = true;
  pool->segment[0] = std::move(segment);
  pool->segments.store(1);
  return pool;
}

void CrashLab::begin() {
  if (options_.granularity == persist::Granularity::page)
    must(file::sync_everything(*processes_[0]->fs), "sync");
  begin_as_it_is();
}

void CrashLab::begin_as_it_is() {
  simulator_.settle();
  steps_.clear();
  before_ = snapshot();
}

Snapshot CrashLab::snapshot() {
  std::string trouble;
  Snapshot found = take_snapshot(*processes_[0]->fs, format::root_inode, &trouble);
  EXPECT_EQ(trouble, "");
  return found;
}

void CrashLab::kill_process(int i) {
  for (pool::HeldLane& held : pool(i)->fs->pool.held) held.lock.release();
}

void CrashLab::drain_dead(int i) {
  persist::Simulator::set_cpu(i);
  must(pool(i)->fs->pool.fence(), "fence");
  persist::Simulator::set_cpu(0);
}

std::string CrashLab::look_at_survivors() {
  Status status;
  auto pool = map_pool(simulator_, Side::live, &status);
  if (Status s = pool::read_format(*pool); !s.ok())
    return std::string("cannot be opened: ") + last_detail();
  return attach_and_look(std::move(pool), simulator_.mark(), true);
}

void CrashLab::perform(const std::string& what, Kind kind, const std::function<void()>& operation,
                       int process) {
  Step step{what, kind, simulator_.mark(), 0, {}};
  persist::Simulator::set_cpu(process);
  operation();
  persist::Simulator::set_cpu(0);
  step.end = simulator_.mark();
  std::string trouble;
  step.after = take_snapshot(*processes_[0]->fs, format::root_inode, &trouble);
  EXPECT_EQ(trouble, "") << what;
  steps_.push_back(std::move(step));
}

void CrashLab::detach(int i) {
  persist::Simulator::set_cpu(i);
  file::detach(*pool(i)->fs);
  times_ = take_times(*pool(i)->fs);
  detached_ = true;
  persist::Simulator::set_cpu(0);
}

void CrashLab::detach_all() {
  for (size_t i = 0; i < processes_.size(); ++i) detach(static_cast<int>(i));
  processes_.clear();
}

void CrashLab::pin(cairn_ino number, int i) {
  persist::Simulator::set_cpu(i);
  pool::SeatGuard seat(pool(i)->fs->pool);
  auto pinned = file::pin_inode(*pool(i)->fs, *seat, number);
  must(pinned.status(), "pin");
  heirs_.push_back(std::move(*pinned));
  persist::Simulator::set_cpu(0);
}

// Does the recovered pool hold what was acknowledged before `point`, and nothing that was not asked
// for?
namespace {

// What was never opened is handed out as zeros, unlooked at.
std::string bytes_of_untouched_chunks(const pool::Pool& pool) {
  static constexpr std::array<uint8_t, format::block_size> zeros{};
  const pool::Segment& segment = *pool.segment[0];
  for (uint64_t c = segment.data_start / format::chunk_blocks; c < segment.chunks; ++c) {
    if ((segment.chunk[c].state.load() & 0xff) != format::chunk_untouched) continue;
    for (uint64_t b = c * format::chunk_blocks; b < (c + 1) * format::chunk_blocks; ++b) {
      if (std::memcmp(segment.base + (b << format::block_shift), zeros.data(), zeros.size()) != 0)
        return "block " + std::to_string(b) + " of an untouched chunk holds bytes";
    }
  }
  return "";
}

}  // namespace

std::string CrashLab::verdict(file::FileSystem& fs, uint64_t point) {
  if (std::string text = bytes_of_untouched_chunks(fs.pool); !text.empty()) return text;
  std::string findings;
  file::check_mapped(fs, [&findings](const char* text) { findings += std::string(text) + "; "; });
  if (!findings.empty()) return "check: " + findings;
  std::string trouble;
  const Snapshot found = take_snapshot(fs, format::root_inode, &trouble);
  if (!trouble.empty()) return trouble;
  return judge_ ? judge_(found, point) : acknowledged(found, point);
}

std::string CrashLab::acknowledged(const Snapshot& found, uint64_t point) const {
  const Snapshot* before = &before_;
  const Step* unfinished = nullptr;
  for (const Step& step : steps_) {
    if (step.end <= point) {
      before = &step.after;
    } else {
      if (step.begin < point) unfinished = &step;
      break;
    }
  }
  const bool after_all = steps_.empty() || point > steps_.back().end;
  if (options_.granularity == persist::Granularity::page && !image_was_clean_) {
    std::vector<const Snapshot*> past = {&before_};
    for (const Step& step : steps_) {
      if (step.begin < point) past.push_back(&step.after);
    }
    return unsynced_difference(found, *before, unfinished != nullptr ? unfinished->after : *before,
                               past, detached_ && after_all);
  }
  const std::string as_before = difference(found, *before);
  if (as_before.empty()) return "";
  if (unfinished == nullptr) return "not what was acknowledged: " + as_before;
  const std::string as_after = difference(found, unfinished->after);
  if (as_after.empty()) return "";
  if (unfinished->kind == Kind::bytes) {
    const std::string torn = torn_difference(found, *before, unfinished->after);
    return torn.empty() ? "" : "during " + unfinished->what + ": " + torn;
  }
  return "during " + unfinished->what + ", neither before (" + as_before + ") nor after (" +
         as_after + ")";
}

std::string CrashLab::look_at_loss(uint64_t point) {
  Status status;
  auto pool = map_pool(simulator_, Side::image, &status);
  if (Status s = pool::read_format(*pool); !s.ok())
    return std::string("cannot be opened: ") + last_detail();
  // A pool that was detached cleanly is trusted as it stands.
  const bool clean = pool->state->clean.load() == 1;
  image_was_clean_ = clean;
  if (detached_ && point == simulator_.mark() && !clean) return "not clean after detaching";
  // Another boot.
  pool->store(pool->state->boot_id[0], 1);
  if (clean || examiner_ || images_ % 4 == 0) return attach_and_look(std::move(pool), point, true);
  file::FileSystem fs(std::move(pool));
  if (!file::rebuild(fs).ok()) return std::string("rebuild: ") + last_detail();
  return verdict(fs, point);
}

std::string CrashLab::look_at_kill(uint64_t point, bool use_it) {
  Status status;
  auto pool = map_pool(simulator_, Side::image, &status);
  if (Status s = pool::read_format(*pool); !s.ok())
    return std::string("cannot be opened: ") + last_detail();
  // Nobody holds a lock of the image's lock file: all are dead. The boot is the same.
  return attach_and_look(std::move(pool), point, use_it);
}

std::string CrashLab::attach_and_look(std::unique_ptr<pool::Pool> pool, uint64_t point,
                                      bool use_it) {
  const bool clean = pool->state->clean.load() == 1;
  image_was_clean_ = clean;
  auto attached = file::attach_to(std::move(pool), {});
  if (!attached.ok()) return std::string("attach: ") + last_detail();
  cairn_pool handle;
  handle.fs = std::move(*attached);
  handle.fs->handle = &handle;
  file::FileSystem& fs = *handle.fs;
  std::string text = verdict(fs, point);
  if (text.empty() && clean && detached_ && take_times(fs) != times_)
    text = "other times after a clean detach";
  if (text.empty() && examiner_) text = examiner_(&handle, point);
  if (text.empty() && use_it) {
    // It can be used: no lock is stuck, no slot is named twice, and new blocks show no old bytes.
    cairn_file* file = nullptr;
    std::string bytes(20'000, 'x');
    std::string expected(20'000, '\0');
    for (size_t at : {1000, 9000, 19'990}) expected.replace(at, 5, "hello");
    const auto put = [&](uint64_t at) { return cairn_pwrite(file, "hello", 5, at) == 5; };
    if (cairn_mkdir(&handle, CAIRN_ROOT, "after the crash", 0700) != 0 ||
        cairn_open(&handle, CAIRN_ROOT, "after the crash/file", O_CREAT | O_RDWR, 0600, &file) !=
            0 ||
        !put(19'990) || !put(1000) || !put(9000) ||
        cairn_pread(file, bytes.data(), bytes.size(), 0) != 19'995 || cairn_close(file) != 0 ||
        cairn_unlink(&handle, CAIRN_ROOT, "after the crash/file") != 0 ||
        cairn_rmdir(&handle, CAIRN_ROOT, "after the crash") != 0)
      text = std::string("it cannot be used: ") + cairn_last_error();
    else if (bytes.compare(0, 19'995, expected, 0, 19'995) != 0)
      text = "a new file shows old bytes";
    file::detach(fs);
    if (text.empty()) text = verdict(fs, point);
    if (!text.empty()) text = "after using it: " + text;
  } else {
    pool::release_lanes(fs.pool);
  }
  return text;
}

// Every so manieth image, another one for each seed, and more often one whose recovery has a change
// to finish.
bool CrashLab::crashes_recovery() {
  if (options_.recovery_stride == 0) return false;
  if ((images_ + options_.seed) % options_.recovery_stride == 0) return true;
  constexpr uint64_t more_often = 4;
  const auto* lanes = reinterpret_cast<const format::Lane*>(
      simulator_.image(region_) + format::lanes_block * format::block_size);
  const bool replays = std::any_of(lanes, lanes + options_.lanes, [](const format::Lane& lane) {
    return std::any_of(std::begin(lane.seat), std::end(lane.seat),
                       [](const format::Seat& seat) { return seat.redo.head.load() != 0; });
  });
  return replays && replays_++ % (options_.recovery_stride / more_often + 1) == 0;
}

std::string CrashLab::power_losses() {
  std::string wrong;
  for (uint64_t point : simulator_.crash_points()) {
    simulator_.enumerate(point, options_.images_per_point, options_.seed + point, [&] {
      ++images_;
      if (crashes_recovery()) wrong = crash_recovery(point, true);
      if (wrong.empty()) wrong = look_at_loss(point);
      if (!wrong.empty()) wrong = "power loss at event " + std::to_string(point) + ": " + wrong;
      return wrong.empty();
    });
    if (!wrong.empty()) break;
  }
  return wrong;
}

std::string CrashLab::kills() {
  std::string wrong;
  const uint64_t end = simulator_.mark();
  for (uint64_t point = 0; point <= end && wrong.empty(); point += options_.kill_stride) {
    simulator_.visit_killed(point, 1, options_.seed + point, [&] {
      ++images_;
      if (crashes_recovery()) wrong = crash_recovery(point, false);
      if (wrong.empty()) wrong = look_at_kill(point, images_ % 8 == 0);
      if (!wrong.empty()) wrong = "killed at event " + std::to_string(point) + ": " + wrong;
      return wrong.empty();
    });
  }
  return wrong;
}

}  // namespace cairn::test
