#include "checkpoint/versions/set_view.h"

#include <gtest/gtest.h>

#include "support/run_on_pool.h"

namespace cairn::checkpoint {
namespace {

using SetViewTest = RunOnPool;

TEST_F(SetViewTest, ASetThatIsNotThereIsMadeOnlyIfAskedFor) {
  EXPECT_EQ(view.open(*fs, "field").code(), ENOENT);
  ASSERT_TRUE(view.open_or_make(*fs, "field", Uuid{7}).ok()) << last_detail();
  EXPECT_EQ(view.set().name(), "field");
  ASSERT_TRUE(view.read_manifests().ok());
  EXPECT_EQ(view.look_for({}), nullptr);
  SetView other;
  EXPECT_TRUE(other.open(*fs, "field").ok());
}

TEST_F(SetViewTest, FindsVersionsByNumberAndTheLatestByNone) {
  begin();
  const uint64_t first = write(10);
  const uint64_t second = write(20);
  SetView other;
  ASSERT_TRUE(other.open(*fs, "field").ok());
  ASSERT_TRUE(other.look_again().ok());
  ASSERT_NE(other.look_for(10), nullptr);
  EXPECT_EQ(other.look_for(10)->version.sequence, first);
  EXPECT_EQ(other.look_for({})->version.sequence, second);
  EXPECT_EQ(other.look_for(30), nullptr);
  end();
}

// A number may come again after a run has gone back.
TEST_F(SetViewTest, OfTwoVersionsOfOneNumberTheNewestOfTheLineCounts) {
  begin();
  write(10);
  const uint64_t again = write(10);
  EXPECT_EQ(view.look_for(10)->version.sequence, again);
  end();
}

TEST_F(SetViewTest, ReadsWhatManifestsSay) {
  begin();
  write(10);
  const KnownVersion known = *view.look_for(10);
  const auto manifest = view.manifest_of(known);
  ASSERT_TRUE(manifest.ok()) << last_detail();
  EXPECT_EQ(manifest->version().number, 10);
  const auto copied = view.word_of(known, global_offset);
  ASSERT_TRUE(copied.ok());
  EXPECT_EQ(*copied, 0U);
  KnownVersion elsewhere = known;
  elsewhere.slot = 0;
  EXPECT_EQ(view.word_of(elsewhere, global_offset).code(), ENOENT);
  KnownVersion replaced = known;
  ++replaced.version.sequence;
  EXPECT_EQ(view.manifest_of(replaced).code(), ESTALE);
  end();
}

TEST_F(SetViewTest, RenewsWhatItKnowsWithoutClosingSlots) {
  begin();
  write(10);
  SetView other;
  ASSERT_TRUE(other.open(*fs, "field").ok());
  ASSERT_TRUE(other.read_manifests().ok());
  const auto slot = other.slot_cache()->get(other.look_for(10)->slot);
  ASSERT_TRUE(slot.ok());
  write(20);
  EXPECT_EQ(other.look_for(20), nullptr);
  ASSERT_TRUE(other.renew().ok());
  ASSERT_NE(other.look_for(20), nullptr);
  EXPECT_TRUE((*slot)->decision().ok()) << "the slot is still open";
  other.forget_versions();
  EXPECT_EQ(other.look_for({}), nullptr);
  end();
}

}  // namespace
}  // namespace cairn::checkpoint
