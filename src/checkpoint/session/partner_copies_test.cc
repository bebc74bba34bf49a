#include "checkpoint/session/partner_copies.h"

#include <gtest/gtest.h>

#include "support/fake_transport.h"
#include "support/run_on_pool.h"

namespace cairn::checkpoint {
namespace {

class PartnerCopiesTest : public RunOnPool {
 protected:
  void SetUp() override {
    begin();
    observer_.emplace(&*writer, &view, &levels_, false,
                      [](uint64_t, bool) { return LevelProgress(); });
  }
  void TearDown() override { end(); }
  PartnerCopies copies(bool is_wanted) { return {run(), &view, &*writer, &*observer_, is_wanted}; }
  VersionLevels levels_{&view, ""};
  std::optional<LevelObserver> observer_;
};

TEST_F(PartnerCopiesTest, TheErrorSaysWhyThereAreNone) {
  EXPECT_EQ(copies(false).check().code(), EINVAL);
  EXPECT_EQ(copies(true).check().code(), EOPNOTSUPP);
  EXPECT_NE(std::string(last_detail()).find("the run has one node"), std::string::npos);
  EXPECT_FALSE(copies(true).are_made());
  writer->copy_to({{"a", "b"}, {1, 0}});
  EXPECT_TRUE(copies(true).check().ok());
  EXPECT_TRUE(copies(true).are_made());
  EXPECT_FALSE(copies(false).are_made());
}

TEST_F(PartnerCopiesTest, AVersionHasTheErrorOfItsOwnCopies) {
  Outcome outcome;
  outcome.partner_error = EIO;
  EXPECT_EQ(copies(false).error_of(outcome), 0);
  EXPECT_EQ(copies(true).error_of(outcome), EOPNOTSUPP) << "no node holds any";
  writer->copy_to({{"a", "b"}, {1, 0}});
  EXPECT_EQ(copies(true).error_of(outcome), EIO);
}

TEST_F(PartnerCopiesTest, OnlyVersionsOfThisRunAreCopiedAtItsEnd) {
  EXPECT_TRUE(copies(true).copy_last().ok()) << "there is no version";
  write(1);
  end();
  begin();
  EXPECT_TRUE(copies(true).copy_last().ok()) << "another run wrote it";
  EXPECT_EQ(copies(true).copy(99).code(), ENOENT);
}

class PartnersOfNodes : public testing::Test {
 protected:
  PartnersOfNodes() { job_.nodes = 2; }
  ~PartnersOfNodes() override { unsetenv("CAIRN_CHECKPOINT_DOMAIN"); }
  Result<Partners> agree(const CopyWishes& wishes) {
    auto members = Membership::join("field", std::make_unique<FakeTransport>(&job_), {}, Status());
    EXPECT_TRUE(members.ok());
    return agree_on_partners(&**members, wishes);
  }
  FakeTransport::Job job_;
};

TEST_F(PartnersOfNodes, NodesOfOtherDomainsHoldEachOthersCopies) {
  setenv("CAIRN_CHECKPOINT_DOMAIN", "rack-1", 1);
  const auto same = agree({true, ""});
  ASSERT_TRUE(same.ok()) << last_detail();
  EXPECT_EQ(same->domains, (std::vector<std::string>{"rack-1", "rack-1"}));
  EXPECT_TRUE(same->holders.empty()) << "one domain";
  job_.as_others_say = [](uint32_t, void* bytes) {
    std::memcpy(static_cast<char*>(bytes) + 2 * sizeof(uint32_t), "rack-2", 6);
  };
  const auto other = agree({true, ""});
  ASSERT_TRUE(other.ok()) << last_detail();
  EXPECT_EQ(other->holders, (std::vector<uint32_t>{1, 0}));
  const auto none = agree({false, ""});
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->domains.empty()) << "nobody asked for copies";
}

TEST_F(PartnersOfNodes, RanksHaveToWishTheSame) {
  job_.as_others_say = [](uint32_t, void* bytes) { std::memset(bytes, 0, sizeof(uint32_t)); };
  EXPECT_EQ(agree({true, ""}).code(), EINVAL);
  EXPECT_NE(std::string(last_detail()).find("CAIRN_CHECKPOINT_PARTNER"), std::string::npos);
  job_.as_others_say = [](uint32_t, void* bytes) {
    std::memset(static_cast<char*>(bytes) + sizeof(uint32_t), 0xff, sizeof(uint32_t));
  };
  EXPECT_EQ(agree({false, "/lower"}).code(), EINVAL);
  EXPECT_NE(std::string(last_detail()).find("lower"), std::string::npos);
}

TEST_F(PartnersOfNodes, ADomainHasToFitIntoAPartsRecord) {
  setenv("CAIRN_CHECKPOINT_DOMAIN", std::string(most_domain_bytes + 1, 'a').c_str(), 1);
  EXPECT_EQ(agree({true, ""}).code(), EINVAL);
  EXPECT_TRUE(agree({false, ""}).ok()) << "nobody needs it";
}

}  // namespace
}  // namespace cairn::checkpoint
