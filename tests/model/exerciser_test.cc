// Random operations against a model, through the C API, in one process.
//
//   CAIRN_SEED, CAIRN_MODEL_SECONDS   repeat a failure, run for longer
#include "model/exerciser.h"

namespace cairn::test {
namespace {

double seconds() { return static_cast<double>(number_from_environment("CAIRN_MODEL_SECONDS", 4)); }

// Blocks that the pool's own tables may have grown by: inodes eight a block, open files, pins, and
// the nodes above them.
uint64_t table_bytes(uint64_t highest_inode) { return (highest_inode / 8 + 1 + 2 + 4 + 4) * 4096; }

void exercise(uint64_t pool_bytes, const ExerciserOptions& base, double limit_s) {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/pool";
  make_pool(path, pool_bytes);
  const double end = now_s() + limit_s;
  uint64_t operations = 0;
  uint64_t refused = 0;
  for (uint64_t round = 0; (round == 0 || now_s() < end) && !testing::Test::HasFailure(); ++round) {
    cairn_pool* pool = attach(path);
    ASSERT_NE(pool, nullptr);
    ASSERT_EQ(cairn_mkdir(pool, CAIRN_ROOT, "work", 0700), 0) << cairn_last_error();
    cairn_stat st;
    ASSERT_EQ(cairn_lookup(pool, CAIRN_ROOT, "work", 0, &st), 0);
    uint64_t highest = 0;
    {
      ExerciserOptions options = base;
      options.seed = base.seed + round;
      Exerciser exerciser(pool, st.ino, options);
      while (exerciser.operations() < 3000 && now_s() < end && exerciser.step()) {
        if (exerciser.operations() % 500 == 0 && !exerciser.verify()) break;
      }
      if (!testing::Test::HasFailure()) exerciser.verify();
      if (!testing::Test::HasFailure()) exerciser.remove_all();
      if (testing::Test::HasFailure()) return;
      operations += exerciser.operations();
      refused += exerciser.refused();
      highest = exerciser.highest_inode();
    }
    EXPECT_EQ(cairn_rmdir(pool, CAIRN_ROOT, "work"), 0) << cairn_last_error();
    cairn_pool_detach(pool);
    ASSERT_EQ(check_pool(path), 0) << "after round " << round << " of seed " << base.seed;
    pool = attach(path);
    ASSERT_NE(pool, nullptr);
    cairn_pool_info info;
    ASSERT_EQ(cairn_pool_get_info(pool, &info), 0);
    EXPECT_EQ(info.inodes, 1U);
    // The root directory keeps its two blocks.
    EXPECT_LE(info.used, table_bytes(highest + 512) + 3 * 4096);
    cairn_pool_detach(pool);
  }
  std::printf("%llu operations, %llu refused for lack of space\n",
              static_cast<unsigned long long>(operations),
              static_cast<unsigned long long>(refused));
}

TEST(Exerciser, AgreesWithTheModel) {
  ExerciserOptions options;
  options.seed = test_seed();
  exercise(uint64_t{256} << 20, options, seconds() / 2);
}

TEST(Exerciser, AgreesWithTheModelOnAFullPool) {
  ExerciserOptions options;
  options.seed = test_seed();
  options.may_be_full = true;
  exercise(uint64_t{6} << 20, options, seconds() / 2);
}

}  // namespace
}  // namespace cairn::test
