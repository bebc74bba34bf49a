// What a dead process had freed and another one recovers, a third takes at once: a power loss must not bring
// the dead one's change back over what the third was told.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "crash/apart.h"
#include "crash/crash_lab.h"
#include "file/file_system.h"

namespace cairn::test {
namespace {

constexpr unsigned longest_s = 300;
enum Who { first, second, third, stopped, bystander };
thread_local Who me = bystander;

void create(cairn_pool* pool, const std::string& name) {
  cairn_file* file = nullptr;
  EXPECT_EQ(cairn_open(pool, CAIRN_ROOT, name.c_str(), O_RDWR | O_CREAT, 0600, &file), 0)
      << cairn_last_error();
  if (file != nullptr) cairn_close(file);
}

cairn_ino number_of(cairn_pool* pool, const std::string& name) {
  cairn_stat st{};
  EXPECT_EQ(cairn_lookup(pool, CAIRN_ROOT, name.c_str(), 0, &st), 0) << cairn_last_error();
  return st.ino;
}

bool has_no_record(const pool::Pool& pool) {
  const format::Lane& lane = pool.lanes[pool.held.front().number];
  return std::all_of(std::begin(lane.seat), std::end(lane.seat),
                     [](const format::Seat& seat) { return seat.redo.head.load() == 0; });
}

// The first process unlinks an empty file and dies when the words are stored (`cleared`: and the record is
// cleared, which is not durable yet); the second meets its lock, recovers it, and stops for good as soon as
// the inode is free; the third makes files until one has that inode. Then the power goes.
std::string take_what_a_dead_one_freed(persist::Granularity granularity, bool cleared) {
  LabOptions options;
  options.processes = 3;
  options.lanes = 4;
  options.granularity = granularity;
  options.images_per_point = 60;
  options.seed = test_seed();
  auto& lab = *new CrashLab(options);  // its threads never end
  create(lab.pool(0), "empty");
  create(lab.pool(0), "other");
  EXPECT_EQ(cairn_mkdir(lab.pool(0), CAIRN_ROOT, "d", 0700), 0);
  create(lab.pool(0), "d/first");  // the directory has its blocks
  const cairn_ino number = number_of(lab.pool(0), "empty");
  const format::Inode& inode = *file::inode_at(*lab.pool(0)->fs, number);
  lab.begin();
  std::atomic<int> gone{0};
  lab.simulator().set_turnstile([&] {
    const uint64_t state = inode.state.load() & 7;
    const bool first_dies = me == first && state == format::inode_allocating &&
                            (!cleared || has_no_record(lab.pool(0)->fs->pool));
    if (!first_dies && !(me == second && state == format::inode_free)) return;
    me = stopped;
    ++gone;
    for (;;) pause();
  });
  const auto begin = [&lab](Who who, auto work) {
    std::thread([&lab, who, work] {
      me = who;
      persist::Simulator::set_cpu(who);
      work(lab.pool(who));
    }).detach();
  };
  const auto wait_for = [&gone](int count) {
    while (gone < count) usleep(1000);
  };
  begin(first, [](cairn_pool* pool) { cairn_unlink(pool, CAIRN_ROOT, "empty"); });
  wait_for(1);
  lab.kill_process(0);
  begin(second, [](cairn_pool* pool) { cairn_unlink(pool, CAIRN_ROOT, "other"); });
  wait_for(2);
  uint64_t returned = 0;
  std::string taken;
  std::thread([&] {
    me = third;
    persist::Simulator::set_cpu(third);
    for (int i = 0; i < 40 && taken.empty(); ++i) {
      const std::string name = "d/new" + std::to_string(i);
      create(lab.pool(2), name);
      if (number_of(lab.pool(2), name) == number) taken = "/" + name;
    }
    returned = lab.simulator().mark();
  }).join();
  lab.simulator().set_turnstile(nullptr);
  if (taken.empty()) return "nobody got the inode: this test saw nothing";
  lab.set_judge([&](const Snapshot& found, uint64_t point) -> std::string {
    return point < returned || found.count(taken) != 0 ? "" : "acknowledged, and gone: " + taken;
  });
  std::string wrong = lab.power_losses();
  lab.remove_files();
  return wrong;
}

class ThreeProcesses : public ::testing::TestWithParam<persist::Granularity> {};

TEST_P(ThreeProcesses, TakeWhatADeadOneFreed) {
  for (bool cleared : {false, true}) {
    EXPECT_EQ(apart(longest_s, [&] { return take_what_a_dead_one_freed(GetParam(), cleared); }), "")
        << (cleared ? "cleared" : "not cleared");
  }
}

INSTANTIATE_TEST_SUITE_P(Granularities, ThreeProcesses,
                         ::testing::Values(persist::Granularity::cache_line,
                                           persist::Granularity::page));

}  // namespace
}  // namespace cairn::test
