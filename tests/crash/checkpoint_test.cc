// Power losses and kills at every point of the life of checkpoints: what comes next finds the last
// version that was acknowledged or the one in flight, each byte right.
//
//   CAIRN_SEED, CAIRN_CRASH_IMAGES   repeat a failure; images for each crash point
//   CAIRN_KILL_STRIDE                events between two kills
#include <utility>

#include "checkpoint/counted_arrays.h"
#include "crash/crash_lab.h"

namespace cairn::test {
namespace {

constexpr int64_t rows_of_all = 60;

struct Write {
  int64_t version;
  uint64_t begin;  // events
  uint64_t end;    // acknowledged from here on
};

LabOptions options_of(persist::Granularity granularity, int processes,
                      const std::vector<SitePlace>& ignored = {}) {
  LabOptions options;
  options.granularity = granularity;
  options.processes = processes;
  options.size = uint64_t{8} << 20;
  options.seed = test_seed();
  options.images_per_point = number_from_environment("CAIRN_CRASH_IMAGES", 6);
  options.kill_stride = number_from_environment("CAIRN_KILL_STRIDE", 3);
  options.ignored = ignored;
  return options;
}

// What a rank writes: a block of rows, or arrays of which it has any number of elements.
enum class Content : uint8_t { rows, counted };

class Arrays {
 public:
  Arrays(Content content, uint32_t rank, uint32_t ranks)
      : content_(content), rows_(rows_of_all, rank, ranks), counted_({{rank, ranks, false, 300}}) {}

  int define(cairn_checkpoint* checkpoint) {
    return content_ == Content::rows ? rows_.define(checkpoint) : counted_[0].define(checkpoint);
  }
  void set(int64_t version) {
    content_ == Content::rows ? rows_.set(version) : counted_[0].set(version);
  }
  // Of the only rank that has read; `writers`: ranks that wrote the version.
  std::string difference(int64_t version, uint32_t writers) {
    return content_ == Content::rows ? rows_.difference(version)
                                     : difference_of_all(counted_, version, writers);
  }

 private:
  Content content_;
  Rows rows_;
  std::vector<CountedArrays> counted_;
};

class Lives {
 public:
  explicit Lives(const LabOptions& options, Content content = Content::rows)
      : lab_(options), content_(content), writers_(static_cast<uint32_t>(options.processes)) {
    lab_.set_judge([](const Snapshot&, uint64_t) { return std::string(); });
    lab_.set_examiner([this](cairn_pool* pool, uint64_t point) { return examine(pool, point); });
  }

  // Notes that `work` writes the version.
  void note(int64_t version, const std::function<void()>& work) {
    const uint64_t begin = lab_.simulator().mark();
    work();
    writes_.push_back({version, begin, lab_.simulator().mark()});
  }

  // What is wrong with what a crash at this point left, or "".
  std::string examine(cairn_pool* pool, uint64_t point) {
    int64_t acknowledged = before_;
    int64_t in_flight = 0;
    for (const Write& write : writes_) {
      if (write.end <= point) acknowledged = write.version;
      if (write.begin < point && point < write.end) in_flight = write.version;
    }
    cairn_checkpoint_options options{};
    options.struct_size = sizeof options;
    options.pool = pool;
    options.max_attempts = 100;
    cairn_checkpoint* checkpoint = nullptr;
    if (cairn_checkpoint_init("field", CAIRN_NO_COMMUNICATOR, &options, &checkpoint) != 0)
      return std::string("init: ") + cairn_last_error();
    std::string wrong = look(checkpoint, acknowledged, in_flight);
    if (wrong.empty()) wrong = go_on(checkpoint);
    if (cairn_checkpoint_finalize(checkpoint) != 0 && wrong.empty())
      wrong = std::string("finalize: ") + cairn_last_error();
    ++examined_;
    return wrong.empty() ? "" : "after version " + std::to_string(acknowledged) + ": " + wrong;
  }

  std::string look(cairn_checkpoint* checkpoint, int64_t acknowledged, int64_t in_flight) {
    Arrays arrays(content_, 0, 1);
    arrays.define(checkpoint);
    auto info = empty_info();
    const int found = cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, &info);
    if (found < 0) return std::string("restart_test: ") + cairn_last_error();
    if (found == 0) return acknowledged == 0 ? "" : std::string("lost: ") + cairn_last_error();
    if (info.number != acknowledged && info.number != in_flight)
      return "found version " + std::to_string(info.number);
    if (info.skipped != 0) return std::string("skipped: ") + info.why;
    if (cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, &info) != 0)
      return std::string("read: ") + cairn_last_error();
    if (info.skipped != 0) return std::string("damaged: ") + info.why;
    if (const std::string other = arrays.difference(info.number, writers_); !other.empty())
      return "version " + std::to_string(info.number) + ": " + other;
    if (info.number == in_flight) ++found_in_flight_;
    // Until a version is acknowledged, the one before it can be had.
    if (info.number == in_flight && acknowledged != 0) {
      if (cairn_checkpoint_read(checkpoint, acknowledged, 0, nullptr) != 0)
        return std::string("the one before: ") + cairn_last_error();
      if (const std::string other = arrays.difference(acknowledged, writers_); !other.empty())
        return "version " + std::to_string(acknowledged) + ": " + other;
    }
    return "";
  }

  // The next program writes a version, too.
  std::string go_on(cairn_checkpoint* checkpoint) {
    Arrays arrays(content_, 0, 1);
    arrays.set(77);
    arrays.define(checkpoint);
    if (cairn_checkpoint_write(checkpoint, 77) != 0)
      return std::string("write: ") + cairn_last_error();
    arrays.set(0);
    auto info = empty_info();
    if (cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, &info) != 0)
      return std::string("read again: ") + cairn_last_error();
    return info.number == 77 ? arrays.difference(77, 1) : "another version is the newest";
  }

  // Begins a run of one process.
  cairn_checkpoint* begin(Arrays* arrays) {
    cairn_checkpoint* checkpoint = open_set(lab_.pool(), "field");
    EXPECT_EQ(arrays->define(checkpoint), 0) << cairn_last_error();
    return checkpoint;
  }
  void write(cairn_checkpoint* checkpoint, Arrays* arrays, int64_t version) {
    note(version, [&] {
      arrays->set(version);
      ASSERT_EQ(cairn_checkpoint_write(checkpoint, version), 0) << cairn_last_error();
    });
  }
  // In the steady state slots are used again.
  void reuse_slots() { reuse_slots_until(8); }
  void reuse_slots_until(int64_t last) {
    Arrays arrays(content_, 0, 1);
    cairn_checkpoint* checkpoint = begin(&arrays);
    for (const int64_t version : {1, 2, 3}) write(checkpoint, &arrays, version);
    writes_.clear();
    before_ = 3;
    lab_.begin();
    for (int64_t version = 4; version <= last; ++version) write(checkpoint, &arrays, version);
    open_ = checkpoint;
  }
  // The set is created, and a slot for each version.
  void create_slots() {
    lab_.begin();
    Arrays arrays(content_, 0, 1);
    cairn_checkpoint* checkpoint = begin(&arrays);
    write(checkpoint, &arrays, 1);
    write(checkpoint, &arrays, 2);
    open_ = checkpoint;
  }
  void finalize() { cairn_checkpoint_finalize(std::exchange(open_, nullptr)); }
  void crash_everywhere() {
    EXPECT_EQ(lab_.power_losses(), "");
    EXPECT_EQ(lab_.kills(), "");
    EXPECT_GT(examined_, 0U);
    testing::Test::RecordProperty("images", std::to_string(examined_));
  }

  CrashLab lab_;
  Content content_;
  uint32_t writers_;
  std::vector<Write> writes_;
  int64_t before_ = 0;  // the version that was acknowledged before the history
  uint64_t examined_ = 0;
  uint64_t found_in_flight_ = 0;
  cairn_checkpoint* open_ = nullptr;
};

class Checkpoints : public testing::TestWithParam<persist::Granularity>, public Lives {
 protected:
  explicit Checkpoints(int processes = 1, Content content = Content::rows)
      : Lives(options_for(content, processes), content) {}

 private:
  // What does not depend on the content is looked at with rows.
  static LabOptions options_for(Content content, int processes) {
    LabOptions options = options_of(GetParam(), processes);
    if (content == Content::rows) return options;
    options.images_per_point = (options.images_per_point + 1) / 2;
    options.kill_stride *= 3;
    return options;
  }
};

class CountedCheckpoints : public Checkpoints {
 protected:
  CountedCheckpoints() : Checkpoints(1, Content::counted) {}
};

TEST_P(Checkpoints, FirstVersions) {
  create_slots();
  finalize();
  crash_everywhere();
  EXPECT_GT(found_in_flight_, 0U);
}

TEST_P(Checkpoints, ReusedSlots) {
  reuse_slots();
  crash_everywhere();
  EXPECT_GT(found_in_flight_, 0U);
  finalize();
}

TEST_P(CountedCheckpoints, FirstVersions) {
  create_slots();
  finalize();
  crash_everywhere();
  EXPECT_GT(found_in_flight_, 0U);
}

// Each version has another number of elements, so that extents grow and shrink.
TEST_P(CountedCheckpoints, ReusedSlots) {
  reuse_slots_until(6);
  crash_everywhere();
  EXPECT_GT(found_in_flight_, 0U);
  finalize();
}

// Without any one of its flushes and fences, a checkpoint is lost or damaged by some crash.
TEST(CheckpointsWithout, AFlushOrAFenceAreNotWhole) {
  constexpr const char* files[] = {"write/rank_writer.cc", "write/retirement.cc",
                                   "versions/commit_part.cc", "store/slot.cc",
                                   "file/data/write_bytes.cc"};
  constexpr void (Lives::*histories[])() = {&Lives::reuse_slots, &Lives::create_slots};
  std::vector<SitePlace> sites;
  {
    Lives lives(options_of(persist::Granularity::cache_line, 1));
    lives.reuse_slots();
    for (const persist::SiteHits& hits : lives.lab_.simulator().sites())
      if (std::any_of(std::begin(files), std::end(files), [&](const char* file) {
            return std::string(hits.site.file).ends_with(file);
          }))
        sites.push_back({hits.kind, hits.site});
    lives.finalize();
  }
  EXPECT_GE(sites.size(), 5U);
  for (const SitePlace& site : sites) {
    std::string wrong;
    for (const auto history : histories) {
      if (!wrong.empty()) continue;
      LabOptions options = options_of(persist::Granularity::cache_line, 1, {site});
      options.images_per_point = 100;
      options.seed = 1;  // nothing is missed by chance
      Lives lives(options);
      (lives.*history)();
      wrong = lives.lab_.power_losses();
      lives.finalize();
    }
    EXPECT_NE(wrong, "") << site.site.file << ":" << site.site.line
                         << (site.kind == persist::EventKind::flush ? ": flush" : ": fence");
  }
}

// In the steady state a version of one rank costs a fence for its bytes, one for the decision and
// one for the slot that is retired, whatever the number of variables.
TEST(CheckpointsCost, ThreeFences) {
  CrashLab lab(options_of(persist::Granularity::cache_line, 1));
  cairn_checkpoint* checkpoint = open_set(lab.pool(), "field");
  Rows rows(rows_of_all, 0, 1);
  ASSERT_EQ(rows.define(checkpoint), 0);
  constexpr int variables = 280;
  int64_t values[variables] = {};
  for (int i = 0; i < variables; ++i)
    ASSERT_EQ(define_scalar(checkpoint, ("v" + std::to_string(i)).c_str(), &values[i]), 0);
  const auto fences = [&] {
    uint64_t count = 0;
    for (const persist::SiteHits& hits : lab.simulator().sites())
      if (hits.kind == persist::EventKind::fence) count += hits.hits;
    return count;
  };
  for (int64_t version = 1; version <= 10; ++version) {
    const uint64_t before = fences();
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, version), 0) << cairn_last_error();
    if (version > 7) {
      EXPECT_EQ(fences() - before, 3U) << version;
    }
  }
  cairn_checkpoint_finalize(checkpoint);
}

// A run ends, the next one restarts and changes its layout.
TEST_P(Checkpoints, AnotherRun) {
  Arrays rows(Content::rows, 0, 1);
  cairn_checkpoint* checkpoint = begin(&rows);
  for (const int64_t version : {1, 2}) write(checkpoint, &rows, version);
  writes_.clear();
  before_ = 2;
  lab_.begin();
  cairn_checkpoint_finalize(checkpoint);
  checkpoint = begin(&rows);
  ASSERT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), 0);
  int64_t more = 5;
  ASSERT_EQ(define_scalar(checkpoint, "more", &more), 0);
  for (const int64_t version : {3, 4}) write(checkpoint, &rows, version);
  cairn_checkpoint_finalize(checkpoint);
  crash_everywhere();
}

class TwoRanks : public Checkpoints {
 protected:
  explicit TwoRanks(Content content = Content::rows) : Checkpoints(2, content) {}
  // Each is the last to arrive once.
  void arrive_in_any_order(const std::vector<int64_t>& versions);
};

void TwoRanks::arrive_in_any_order(const std::vector<int64_t>& versions) {
  std::vector<Arrays> arrays;
  cairn_checkpoint* of_rank[2] = {};
  for (const uint32_t rank : {0U, 1U}) arrays.emplace_back(content_, rank, 2);
  with_ranks(2, [&](uint32_t rank) {
    persist::Simulator::set_cpu(static_cast<int>(rank));
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = 2;
    of_rank[rank] = open_set(lab_.pool(static_cast<int>(rank)), "field", options);
    ASSERT_EQ(arrays[rank].define(of_rank[rank]), 0) << cairn_last_error();
    arrays[rank].set(1);
    ASSERT_EQ(cairn_checkpoint_write(of_rank[rank], 1), 0) << cairn_last_error();
  });
  before_ = 1;
  lab_.begin();
  for (const int64_t version : versions) {
    note(version, [&] {
      cairn_checkpoint_handle handles[2];
      for (const auto turn : {0, 1}) {
        const auto rank = static_cast<size_t>((version + turn) % 2);
        persist::Simulator::set_cpu(static_cast<int>(rank));
        arrays[rank].set(version);
        ASSERT_EQ(cairn_checkpoint_iwrite(of_rank[rank], version, &handles[rank]), 0)
            << cairn_last_error();
      }
      for (const size_t rank : {0, 1}) {
        persist::Simulator::set_cpu(static_cast<int>(rank));
        ASSERT_EQ(cairn_checkpoint_wait(of_rank[rank], handles[rank], CAIRN_LEVEL_LOCAL, 0), 0);
      }
      persist::Simulator::set_cpu(0);
    });
  }
  crash_everywhere();
  EXPECT_GT(found_in_flight_, 0U);
  for (const size_t rank : {0, 1}) cairn_checkpoint_finalize(of_rank[rank]);
}

TEST_P(TwoRanks, ArriveInAnyOrder) { arrive_in_any_order({2, 3, 4}); }

// Extents lie in the order in which the ranks come.
class TwoCountedRanks : public TwoRanks {
 protected:
  TwoCountedRanks() : TwoRanks(Content::counted) {}
};
TEST_P(TwoCountedRanks, ArriveInAnyOrder) { arrive_in_any_order({2, 3}); }

std::string name_of(const testing::TestParamInfo<persist::Granularity>& medium) {
  return medium.param == persist::Granularity::page ? "File" : "CacheLines";
}
INSTANTIATE_TEST_SUITE_P(Media, Checkpoints,
                         testing::Values(persist::Granularity::cache_line,
                                         persist::Granularity::page),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Media, CountedCheckpoints,
                         testing::Values(persist::Granularity::cache_line,
                                         persist::Granularity::page),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Media, TwoCountedRanks,
                         testing::Values(persist::Granularity::cache_line,
                                         persist::Granularity::page),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Media, TwoRanks,
                         testing::Values(persist::Granularity::cache_line,
                                         persist::Granularity::page),
                         name_of);

}  // namespace
}  // namespace cairn::test
