// Power losses and kills of a node at every point of making copies: of another node's part in its
// pool, of a version in lower, and back from there. What comes next finds the newest version that
// was acknowledged at its level or a newer one, each byte right.
//
//   CAIRN_SEED, CAIRN_CRASH_IMAGES   repeat a failure; images for each crash point
//   CAIRN_KILL_STRIDE                events between two kills
#include <filesystem>

#include "checkpoint/nodes.h"
#include "crash/crash_lab.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;
namespace ckpt = cairn::checkpoint;

LabOptions options_of(persist::Granularity granularity) {
  LabOptions options;
  options.granularity = granularity;
  options.size = uint64_t{8} << 20;
  options.seed = test_seed();
  options.images_per_point = number_from_environment("CAIRN_CRASH_IMAGES", 2);
  options.kill_stride = number_from_environment("CAIRN_KILL_STRIDE", 9);
  return options;
}

// What was acknowledged, and from which event on.
struct Acknowledged {
  int64_t version;
  uint64_t event;
};
int64_t newest_at(const std::vector<Acknowledged>& all, uint64_t point, int64_t before) {
  for (const Acknowledged& one : all)
    if (one.event <= point) before = std::max(before, one.version);
  return before;
}

// Two nodes write versions with copies. The second one has its pool in the laboratory; at each
// crash point the first one is lost with its pool.
class PartnerLives {
 public:
  explicit PartnerLives(const LabOptions& options) : lab_(options) {
    lab_.set_judge([](const Snapshot&, uint64_t) { return std::string(); });
    lab_.set_examiner([this](cairn_pool* pool, uint64_t point) { return examine(pool, point); });
  }

  void first_copies() {
    lab_.begin();
    run(2);
  }
  void reused_slots() {
    run(4);
    before_ = 4;
    acknowledged_.clear();
    lab_.begin();
    run(2);
  }

  CrashLab lab_;
  uint64_t examined_ = 0;
  uint64_t found_newer_ = 0;  // than what was acknowledged

 private:
  static ckpt::Task task_of(int versions, bool copies) {
    ckpt::Task task;
    const auto key = ckpt::draw_uuid();
    EXPECT_TRUE(key.ok());
    task.key = *key;
    task.versions = versions;
    task.copies = copies;
    return task;
  }

  void run(int versions) {
    file::FileSystem* pools[] = {&capi::fs_of(other_.get()), &capi::fs_of(lab_.pool())};
    ckpt::Network network({ckpt::pool_uuid(*pools[0]), ckpt::pool_uuid(*pools[1])});
    ckpt::Task task = task_of(versions, true);
    task.has_copies = [this](uint32_t node, int64_t number) {
      if (node == 1) acknowledged_.push_back({number, lab_.simulator().mark()});
    };
    with_ranks(2, [&](uint32_t node) {
      ckpt::Node exchange(&network, node, 0);
      ckpt::Came came;
      const Status status = ckpt::live(&exchange, *pools[node], task, &told_, &came);
      EXPECT_TRUE(status.ok()) << last_detail();
      exchange.serve_with({});
      exchange.die();
    });
  }

  // The node restarts alone, and goes on.
  std::string examine(cairn_pool* pool, uint64_t point) {
    ++examined_;
    file::FileSystem& of_pool = capi::fs_of(pool);
    ckpt::Network network({ckpt::pool_uuid(of_pool)});
    const int64_t acknowledged = newest_at(acknowledged_, point, before_);
    ckpt::Node exchange(&network, 0, 0);
    ckpt::Told told;
    ckpt::Came came;
    const Status status = ckpt::live(&exchange, of_pool, task_of(1, false), &told, &came);
    const std::string text = status.ok() ? "" : last_detail();
    exchange.serve_with({});
    const std::string when = "after version " + std::to_string(acknowledged) + ": ";
    // The other node's part of what was not copied is lost with it.
    if (acknowledged == 0 && status.code() == EHOSTDOWN) return "";
    if (!status.ok()) return when + text;
    if (came.number < acknowledged) return when + "lost: " + came.why;
    if (came.number != 0 && !came.is_right)
      return when + "version " + std::to_string(came.number) + " is wrong";
    // The version in flight may lack the other part, and one that is being retired as well.
    if (came.skipped != 0 && came.why.find("is missing") == std::string::npos)
      return when + "damaged: " + came.why;
    if (came.number > acknowledged) ++found_newer_;
    return "";
  }

  PoolInMemory other_{64ULL << 20};
  ckpt::Told told_;
  std::vector<Acknowledged> acknowledged_;
  int64_t before_ = 0;
};

class PartnerCopies : public testing::TestWithParam<persist::Granularity>, public PartnerLives {
 protected:
  PartnerCopies() : PartnerLives(options_of(GetParam())) {}
  void crash_everywhere() {
    EXPECT_EQ(lab_.power_losses(), "");
    EXPECT_EQ(lab_.kills(), "");
    EXPECT_GT(examined_, 100U);
    EXPECT_GT(found_newer_, 0U);
  }
};

TEST_P(PartnerCopies, FirstOnes) {
  first_copies();
  crash_everywhere();
}

TEST_P(PartnerCopies, ReusedSlots) {
  reused_slots();
  crash_everywhere();
}

// A pool in the laboratory, and a directory of lower that outlives it.
class LowerLives : public testing::TestWithParam<persist::Granularity> {
 protected:
  LowerLives() : lab_(options_of(GetParam())) {
    lab_.set_judge([](const Snapshot&, uint64_t) { return std::string(); });
    lab_.set_examiner([this](cairn_pool* pool, uint64_t point) { return examine(pool, point); });
    fs::create_directories(lower_);
  }

  static cairn_checkpoint* open(cairn_pool* pool, const std::string& lower) {
    cairn_checkpoint_options options{};
    options.lower = lower.c_str();
    options.max_attempts = 100;
    return open_set(pool, "field", options);
  }
  // Until `lower_` changes, it is what a crash from here on leaves there.
  void keep_lower() {
    const std::string kept = folder_.path() + "/kept" + std::to_string(kept_.size());
    copy_lower(lower_, kept);
    kept_.push_back({kept, lab_.simulator().mark()});
  }
  // Files there are replaced and never changed, so links do.
  static void copy_lower(const std::string& from, const std::string& to) {
    fs::remove_all(to);
    fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::create_hard_links);
  }
  void write(cairn_checkpoint* checkpoint, int64_t version) {
    Rows rows(20, 0, 1);
    ASSERT_EQ(rows.define(checkpoint), 0) << cairn_last_error();
    rows.set(version);
    cairn_checkpoint_handle handle = 0;
    begun_.push_back({version, lab_.simulator().mark()});
    ASSERT_EQ(cairn_checkpoint_iwrite(checkpoint, version, &handle), 0) << cairn_last_error();
    ASSERT_EQ(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_LOCAL, 0), 0);
    acknowledged_.push_back({version, lab_.simulator().mark()});
    ASSERT_EQ(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_GLOBAL, 0), 0)
        << cairn_last_error();
    // The pool still stores when it was copied; what a crash in there leaves in lower is the copy.
    keep_lower();
  }

  // With what lower had last at this point, and with what it has next: a crash comes while it is
  // copied.
  std::string examine(cairn_pool* pool, uint64_t point) {
    ++examined_;
    size_t last = 0;
    while (last + 1 < kept_.size() && kept_[last + 1].from <= point) ++last;
    if (last + 1 < kept_.size() && examined_ % 2 == 0 &&
        newest_at(acknowledged_, point, 0) > newest_at(acknowledged_, kept_[last].from, 0))
      ++last;
    const std::string lower = folder_.path() + "/examined";
    copy_lower(kept_[last].path, lower);
    const int64_t acknowledged = newest_at(acknowledged_, point, before_);
    const int64_t most = newest_at(begun_, point, before_);
    cairn_checkpoint_options options{};
    options.struct_size = sizeof options;
    options.pool = pool;
    options.lower = lower.c_str();
    options.max_attempts = 100;
    cairn_checkpoint* checkpoint = nullptr;
    if (cairn_checkpoint_init("field", CAIRN_NO_COMMUNICATOR, &options, &checkpoint) != 0)
      return std::string("init: ") + cairn_last_error();
    std::string wrong = look(checkpoint, acknowledged, most);
    if (cairn_checkpoint_finalize(checkpoint) != 0 && wrong.empty())
      wrong = std::string("finalize: ") + cairn_last_error();
    return wrong.empty() ? "" : "after version " + std::to_string(acknowledged) + ": " + wrong;
  }

  static std::string look(cairn_checkpoint* checkpoint, int64_t acknowledged, int64_t most) {
    Rows rows(20, 0, 1);
    rows.define(checkpoint);
    auto info = empty_info();
    const int read = cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, &info);
    if (read == -ENOENT && acknowledged == 0) return "";
    if (read != 0) return std::string("read: ") + cairn_last_error();
    if (info.number < acknowledged || info.number > most)
      return "found version " + std::to_string(info.number);
    if (info.skipped != 0) return std::string("damaged: ") + info.why;
    if (const std::string other = rows.difference(info.number); !other.empty())
      return "version " + std::to_string(info.number) + ": " + other;
    // The next version goes on from it, and finalize copies it.
    rows.set(77);
    const int written = cairn_checkpoint_write(checkpoint, 77);
    return written == 0 ? "" : std::string("write: ") + cairn_last_error();
  }
  void crash_everywhere() {
    EXPECT_EQ(lab_.power_losses(), "");
    EXPECT_EQ(lab_.kills(), "");
    EXPECT_GT(examined_, 50U);
  }

  struct Kept {
    std::string path;
    uint64_t from;  // the event
  };

  TemporaryFolder folder_;
  std::string lower_ = folder_.path() + "/lower";
  CrashLab lab_;
  std::vector<Kept> kept_;
  std::vector<Acknowledged> begun_;
  std::vector<Acknowledged> acknowledged_;
  int64_t before_ = 0;
  uint64_t examined_ = 0;
};

TEST_P(LowerLives, CopiesThere) {
  cairn_checkpoint* checkpoint = open(lab_.pool(), lower_);
  for (const int64_t version : {1, 2, 3}) write(checkpoint, version);
  before_ = 3;
  acknowledged_.clear();
  begun_.clear();
  kept_.clear();
  lab_.begin();
  keep_lower();
  for (const int64_t version : {4, 5}) write(checkpoint, version);
  crash_everywhere();
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
}

// A pool that is new, or older than lower, gets the newest version back.
TEST_P(LowerLives, BackFromThere) {
  {
    const PoolInMemory pool(64ULL << 20);
    cairn_checkpoint* checkpoint = open(pool.get(), lower_);
    for (const int64_t version : {1, 2}) write(checkpoint, version);
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
  }
  before_ = 2;
  acknowledged_.clear();
  begun_.clear();
  kept_.clear();
  lab_.begin();
  keep_lower();
  cairn_checkpoint* checkpoint = open(lab_.pool(), lower_);
  Rows rows(20, 0, 1);
  ASSERT_EQ(rows.define(checkpoint), 0);
  ASSERT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), 0)
      << cairn_last_error();
  EXPECT_EQ(rows.difference(2), "");
  write(checkpoint, 3);
  crash_everywhere();
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
}

std::string medium_name(const testing::TestParamInfo<persist::Granularity>& medium) {
  return medium.param == persist::Granularity::page ? "File" : "CacheLines";
}
INSTANTIATE_TEST_SUITE_P(Media, PartnerCopies,
                         testing::Values(persist::Granularity::cache_line,
                                         persist::Granularity::page),
                         medium_name);
INSTANTIATE_TEST_SUITE_P(Media, LowerLives,
                         testing::Values(persist::Granularity::cache_line,
                                         persist::Granularity::page),
                         medium_name);

}  // namespace
}  // namespace cairn::test
