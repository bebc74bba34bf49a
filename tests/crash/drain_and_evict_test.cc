// A whole drain-and-evict of one process, store by store, and a call of another process that meets
// it there: a crash at every store, flush and fence of both, and a drain that is killed at each of
// its stores while the other process lives on. Every byte is read back, through lower as it was at
// that moment.
//
//   CAIRN_SEED, CAIRN_CRASH_IMAGES   repeat a failure; images for each crash point
//   CAIRN_INTERLEAVINGS              at how many places each of the two is interrupted
//   CAIRN_CRASH_KILLS                events between two kills of both
#include <fcntl.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "crash/crash_lab.h"
#include "crash/lower_versions.h"
#include "crash/turns.h"
#include "tier/cover/cover.h"
#include "tier/cover/cover_lower.h"
#include "tier/cover/drain.h"
#include "tier/drain/evict.h"
#include "tier/record/record.h"

namespace cairn::test {
namespace {

constexpr size_t file_size = 60'000;
constexpr int user = 0;
constexpr int keeper = 1;

std::string pattern(char first) {
  std::string bytes(file_size, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(first + i / 1000 % 20);
  return bytes;
}
const std::string& lower_bytes() {
  static const std::string bytes = pattern('A');
  return bytes;
}
const std::string& pool_bytes() {
  static const std::string bytes = pattern('a');
  return bytes;
}

std::string bytes_of(cairn_file* file) {
  std::string bytes(2 * file_size, '\0');
  const ssize_t n = cairn_pread(file, bytes.data(), bytes.size(), 0);
  if (n < 0) return std::string("cannot be read: ") + cairn_last_error();
  bytes.resize(static_cast<size_t>(n));
  return bytes;
}
std::string bytes_at(cairn_pool* pool, cairn_ino top) {
  cairn_file* file = nullptr;
  if (cairn_open(pool, top, "file", O_RDONLY, 0, &file) != 0)
    return std::string("cannot be opened: ") + cairn_last_error();
  std::string bytes = bytes_of(file);
  cairn_close(file);
  return bytes;
}
std::string file_of_system(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// What a program does with the file. Its view stands for a mapping, which needs a real medium.
struct Act {
  const char* name;
  bool (*make)(cairn_file* file, cairn_view* view);
  std::string (*then)(std::string bytes);
};
const std::vector<Act>& all_acts() {
  static const auto same = [](std::string bytes) { return bytes; };
  static const std::vector<Act> acts = {
      {"read", [](cairn_file* file, cairn_view*) { return bytes_of(file) == pool_bytes(); }, same},
      {"write",
       [](cairn_file* file, cairn_view*) { return cairn_pwrite(file, "NEW", 3, 5000) == 3; },
       [](std::string bytes) { return bytes.replace(5000, 3, "NEW"); }},
      {"truncate", [](cairn_file* file, cairn_view*) { return cairn_ftruncate(file, 5001) == 0; },
       [](std::string bytes) { return bytes.substr(0, 5001); }},
      {"map",
       [](cairn_file* file, cairn_view* view) {
         return cairn_view_open(file, 5000, 3000, view) == 0 &&
                std::string_view(static_cast<const char*>(view->data), view->size) ==
                    std::string_view(pool_bytes()).substr(5000, view->size);
       },
       same},
  };
  return acts;
}

// A cover of two processes, whose file the pool has and lower has in an older version.
class World {
 public:
  explicit World(const LabOptions& options) : lab(options) {
    std::filesystem::create_directory(lower_);
    std::filesystem::create_directory(folder_.path() + "/versions");
    std::ofstream(lower_ + "/file", std::ios::binary) << lower_bytes();
    for (int i = 0; i < options.processes; ++i) {
      trees_.push_back(tier::make_lower(fs(i)));
      fs(i).lower = trees_.back().get();
    }
    auto opened = tier::open_cover(fs(user), lower_, {});
    auto joined = tier::join_cover(fs(keeper), lower_);
    EXPECT_TRUE(opened.ok() && joined.ok()) << last_detail();
    covers_.push_back(std::move(*opened));
    covers_.push_back(std::move(*joined));
    top_ = covers_[0]->top;
    EXPECT_EQ(cairn_open(lab.pool(), top_, "file", O_RDWR, 0, &file_), 0) << cairn_last_error();
    EXPECT_EQ(cairn_pwrite(file_, pool_bytes().data(), file_size, 0),
              static_cast<ssize_t>(file_size));
    ino_ = stat().ino;
    path_ = std::string("/") + tier::covers_directory + "/" + covers_[0]->name + "/file";
    lab.begin();
    versions_.record(0);
  }
  ~World() {
    cairn_close(file_);
    covers_.clear();
    for (size_t i = 0; i < trees_.size(); ++i) fs(static_cast<int>(i)).lower = nullptr;
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  file::FileSystem& fs(int i) { return *lab.pool(i)->fs; }
  // In the pool, not drained: its bytes lie there only.
  void expect_undrained() {
    EXPECT_FALSE(is_lazy());
    EXPECT_EQ(file_of_system(lower_ + "/file"), lower_bytes());
    EXPECT_NE(map().inode->drained.load(), stat().ctime_ns);
  }
  cairn_stat stat() {
    cairn_stat st = {};
    EXPECT_EQ(cairn_lookup(lab.pool(), top_, "file", 0, &st), 0);
    return st;
  }
  bool is_lazy() { return (stat().flags & CAIRN_FILE_LAZY) != 0; }
  file::Map map() { return {*file::live_inode(fs(user), ino_), ino_}; }

  // Both work: `first` begins, and the other one comes when `turns` says so, or when `first` has
  // ended (`one_by_one`) or is dead.
  enum class How { overlapping, one_by_one, first_dies };
  void play(const Act& act, Turns& turns, int first, How how) {
    expect_undrained();
    auto& simulator = lab.simulator();
    simulator.set_turnstile([&turns, this] {
      turns.pass();
      versions_.record(lab.simulator().mark());
    });
    std::thread threads[2];
    threads[first] = begin(first, act, turns);
    if (how == How::one_by_one) threads[first].join();
    if (how == How::first_dies && turns.wait_until_gone(first)) {
      died_ = true;
      lab.kill_process(first);
      threads[first].detach();
    }
    threads[1 - first] = begin(1 - first, act, turns);
    for (std::thread& thread : threads)
      if (thread.joinable()) thread.join();
    simulator.set_turnstile(nullptr);
    versions_.record(simulator.mark());
    EXPECT_TRUE(seen_) << "what the call has seen: " << cairn_last_error();
    EXPECT_TRUE(bytes_at(lab.pool(user), top_) == act.then(pool_bytes()));
    if (view_.data != nullptr) {
      EXPECT_FALSE(is_lazy()) << "evicted while it was mapped";
      cairn_view_close(file_, &view_);
    }
  }
  // Of one that is never destroyed.
  void remove_files() {
    lab.remove_files();
    std::filesystem::remove_all(folder_.path());
  }
  [[nodiscard]] uint64_t events_of_act() const { return act_returned_ - act_begun_; }
  [[nodiscard]] bool died() const { return died_; }

  // Every crash of what was played. "" or what is wrong.
  std::string crashes(const Act& act, bool with_kills) {
    act_ = &act;
    lab.set_judge([this](const Snapshot& found, uint64_t point) { return is_wrong(found, point); });
    lab.set_examiner([this](cairn_pool* pool, uint64_t point) { return look(pool, point); });
    std::string wrong = lab.power_losses();
    if (!wrong.empty()) return wrong + "\n" + lab.simulator().describe_image();
    return with_kills ? lab.kills() : "";
  }

  CrashLab lab;
  bool evicted_ = false;
  int drained_ = -1;
  uint64_t drained_at_ = 0;  // events
  uint64_t lazy = 0;         // of what crashes have left
  uint64_t own = 0;
  uint64_t drained_again = 0;

 private:
  std::thread begin(int who, const Act& act, Turns& turns) {
    return std::thread([who, &act, &turns, this] {
      Turns::be(who);
      persist::Simulator::set_cpu(who);
      who == keeper ? drain_and_evict() : make(act);
      turns.finish();
    });
  }
  void drain_and_evict() {
    tier::DrainReport report;
    drained_ = tier::drain(*covers_[keeper], {}, &report).code();
    drained_at_ = lab.simulator().mark();
    uint64_t blocks = 0;
    evicted_ = tier::evict(fs(keeper), ino_, &blocks).ok();
    if (evicted_) {
      EXPECT_GT(blocks, 0U);
    }
  }
  void make(const Act& act) {
    act_begun_ = lab.simulator().mark();
    seen_ = act.make(file_, &view_);
    act_returned_ = lab.simulator().mark();
  }
  // A file has blocks and is lazy only while the act stages it.
  std::string is_wrong(const Snapshot& found, uint64_t point) const {
    const auto at = found.find(path_);
    if (at == found.end()) return "the file is gone";
    const bool has_both = at->second.lazy && at->second.mapped != 0;
    return has_both && point <= act_begun_ ? "lazy, and it has blocks" : "";
  }
  [[nodiscard]] bool may_be(const std::string& bytes, uint64_t point) const {
    const bool begun = act_begun_ < point;
    // A file as medium promises a change after fsync, or once lower has it.
    const bool returned = is_exact && act_returned_ <= point;
    return (!returned && bytes == pool_bytes()) || (begun && bytes == act_->then(pool_bytes()));
  }
  std::string look(cairn_pool* pool, uint64_t point) {
    for (const size_t version : versions_.at(point)) {
      versions_.restore(version);
      const auto tree = tier::make_lower(*pool->fs);
      pool->fs->lower = tree.get();
      std::string wrong = look_at_bytes(pool, point);
      if (wrong.empty() && version == *versions_.at(point).rbegin() && ++looks_ % stride == 0)
        wrong = drain_again(pool);
      pool->fs->lower = nullptr;
      if (!wrong.empty()) return "with version " + std::to_string(version) + ": " + wrong;
    }
    return "";
  }
  std::string look_at_bytes(cairn_pool* pool, uint64_t point) {
    cairn_stat st = {};
    if (cairn_lookup(pool, top_, "file", 0, &st) != 0) return cairn_last_error();
    ++((st.flags & CAIRN_FILE_LAZY) != 0 ? lazy : own);
    const std::string bytes = bytes_at(pool, top_);
    if (may_be(bytes, point)) return "";
    return std::to_string(bytes.size()) + " bytes: " + bytes.substr(0, 200) +
           ((st.flags & CAIRN_FILE_LAZY) != 0 ? "..., lazy" : "..., of the pool");
  }
  // As the next run does it.
  std::string drain_again(cairn_pool* pool) {
    const std::string before = bytes_at(pool, top_);
    auto cover = tier::join_cover(*pool->fs, lower_);
    if (!cover.ok()) return std::string("cannot be joined: ") + last_detail();
    tier::DrainReport report;
    if (!tier::drain(**cover, {}, &report).ok())
      return std::string("cannot be drained: ") + last_detail();
    uint64_t blocks = 0;
    if (!tier::evict(*pool->fs, ino_, &blocks).ok())
      return std::string("cannot be evicted: ") + last_detail();
    if (file_of_system(lower_ + "/file") != before) return "drained with other bytes";
    if (bytes_at(pool, top_) != before) return "evicted, and read with other bytes";
    ++drained_again;
    return "";
  }

  static constexpr uint64_t stride = 16;

 public:
  bool is_exact = true;  // a change is durable when its call returns

 private:
  TemporaryFolder folder_;
  const std::string lower_ = std::filesystem::canonical(folder_.path()).string() + "/lower";
  LowerVersions versions_{lower_ + "/file", folder_.path() + "/versions"};
  std::vector<std::unique_ptr<file::Lower>> trees_;
  std::vector<std::unique_ptr<tier::Cover>> covers_;
  cairn_ino top_ = 0;
  cairn_ino ino_ = 0;
  std::string path_;
  cairn_file* file_ = nullptr;
  cairn_view view_ = {};
  const Act* act_ = nullptr;
  uint64_t act_begun_ = UINT64_MAX;
  uint64_t act_returned_ = UINT64_MAX;
  bool seen_ = false;
  bool died_ = false;
  uint64_t looks_ = 0;
};

using Medium = persist::Granularity;

class DrainAndEvictCrash : public testing::TestWithParam<std::tuple<size_t, Medium>> {
 protected:
  LabOptions options() {
    LabOptions mine;
    mine.granularity = std::get<1>(GetParam());
    mine.processes = 2;
    mine.images_per_point = number_from_environment("CAIRN_CRASH_IMAGES", 2);
    mine.kill_stride = number_from_environment("CAIRN_CRASH_KILLS", 13);
    mine.seed = test_seed();
    return mine;
  }
  void add(const World& world) {
    lazy_ += world.lazy;
    own_ += world.own;
    drained_again_ += world.drained_again;
    evicted_ += world.evicted_ ? 1 : 0;
  }
  // `first` is interrupted after so many of its events by the other one.
  void interrupt(int first, uint64_t events) {
    SCOPED_TRACE("process " + std::to_string(first) + " interrupted after " +
                 std::to_string(events) + " events");
    World world(options());
    world.is_exact = std::get<1>(GetParam()) == Medium::cache_line;
    const int second = 1 - first;
    Turns turns({{first, events},
                 {second, Turns::to_the_end},
                 {first, Turns::to_the_end},
                 {second, Turns::to_the_end}});
    const bool one_by_one = events == Turns::to_the_end;
    world.play(act, turns, first, one_by_one ? World::How::one_by_one : World::How::overlapping);
    if (one_by_one) {
      begin_of_eviction_ = world.drained_at_;
      events_of_act_ = world.events_of_act();
      events_of_keeper_ = world.lab.simulator().mark() - events_of_act_;
      EXPECT_EQ(world.drained_, 0);
      EXPECT_EQ(world.evicted_, first == keeper || act.name != std::string("map"));
      // Where its bytes are now: a reader leaves it in lower, a change brings it back.
      const bool comes_back = first == keeper && act.name != std::string("read");
      EXPECT_EQ(world.is_lazy(), world.evicted_ && !comes_back);
    }
    EXPECT_EQ(world.crashes(act, true), "");
    add(world);
  }

  // Half of them within the eviction, which is short.
  uint64_t draw(Random& random, uint64_t number) const {
    if (number % 2 == 0)
      return begin_of_eviction_ + random.below(events_of_keeper_ - begin_of_eviction_);
    return 1 + random.below(begin_of_eviction_);
  }

  const Act& act = all_acts()[std::get<0>(GetParam())];
  // As they were without an interruption.
  uint64_t begin_of_eviction_ = 0;
  uint64_t events_of_keeper_ = 0;
  uint64_t events_of_act_ = 0;
  uint64_t lazy_ = 0;
  uint64_t own_ = 0;
  uint64_t drained_again_ = 0;
  uint64_t evicted_ = 0;
};

TEST_P(DrainAndEvictCrash, NoByteIsLost) {
  Random random(test_seed());
  const uint64_t drawn = number_from_environment("CAIRN_INTERLEAVINGS", 2);
  interrupt(user, Turns::to_the_end);
  interrupt(keeper, Turns::to_the_end);
  for (uint64_t i = 0; i < drawn && !HasFailure(); ++i) {
    interrupt(keeper, draw(random, i));
    interrupt(user, 1 + random.below(std::max<uint64_t>(1, events_of_act_)));
  }
  EXPECT_GT(lazy_, 0U);
  EXPECT_GT(own_, 0U);
  EXPECT_GT(drained_again_, 0U);
  EXPECT_GT(evicted_, 0U);
}

// The drain or the eviction is killed, and the other process meets what it has left.
TEST_P(DrainAndEvictCrash, ASurvivorFindsAllBytes) {
  Random random(test_seed());
  const uint64_t drawn = number_from_environment("CAIRN_INTERLEAVINGS", 2);
  interrupt(keeper, Turns::to_the_end);
  uint64_t deaths = 0;
  for (uint64_t i = 0; i < 2 * drawn && !HasFailure(); ++i) {
    const uint64_t events = draw(random, i);
    SCOPED_TRACE("killed after " + std::to_string(events) + " events");
    // Never destroyed: the dead thread stands in both.
    auto* world = new World(options());
    auto* turns = new Turns({{keeper, events, true}, {user, Turns::to_the_end}});
    world->is_exact = std::get<1>(GetParam()) == Medium::cache_line;
    world->play(act, *turns, keeper, World::How::first_dies);
    EXPECT_EQ(world->crashes(act, false), "");
    add(*world);
    if (world->died()) {
      ++deaths;
      world->remove_files();
    } else {
      delete world;
      delete turns;
    }
  }
  EXPECT_GT(deaths, 0U);
  EXPECT_GT(own_, 0U);
}

INSTANTIATE_TEST_SUITE_P(Acts, DrainAndEvictCrash,
                         testing::Combine(testing::Range(size_t{0}, all_acts().size()),
                                          testing::Values(Medium::page, Medium::cache_line)),
                         [](const auto& of) {
                           return std::string(all_acts()[std::get<0>(of.param)].name) +
                                  (std::get<1>(of.param) == Medium::page ? "_File" : "_CacheLines");
                         });

}  // namespace
}  // namespace cairn::test
