#include "tier/claim/claim_text.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn::tier {
namespace {

Claim sample() {
  Claim claim;
  claim.host = "node1";
  claim.machine = "machine";
  claim.boot = "boot";
  claim.pool = "/dev/shm/a pool";
  claim.place = "1:2";
  claim.uuid = "0123";
  claim.job = "job 7";
  claim.time = "1700000000";
  claim.token = std::string(32, 'a');
  return claim;
}

TEST(ClaimTextTest, SaysAllThatTheClaimHas) {
  const Claim claim = sample();
  const Claim read = claim_of(text_of(claim));
  EXPECT_EQ(read.host, claim.host);
  EXPECT_EQ(read.machine, claim.machine);
  EXPECT_EQ(read.boot, claim.boot);
  EXPECT_EQ(read.pool, claim.pool);
  EXPECT_EQ(read.place, claim.place);
  EXPECT_EQ(read.uuid, claim.uuid);
  EXPECT_EQ(read.job, claim.job);
  EXPECT_EQ(read.time, claim.time);
  EXPECT_EQ(read.token, claim.token);
}

TEST(ClaimTextTest, AnEarlierVersionSaysNoToken) {
  Claim claim = sample();
  claim.token.clear();
  EXPECT_EQ(text_of(claim).find("token"), std::string::npos);
  EXPECT_EQ(claim_of(text_of(claim)).token, "");
}

// Others may be able to write the file.
TEST(ClaimTextTest, PassesOverLinesThatItDoesNotKnow) {
  const Claim read = claim_of("\n\nhost\nnonsense x\nhost a b\nuuid 1");
  EXPECT_EQ(read.host, "a b");
  EXPECT_EQ(read.uuid, "1");  // though the last line has no end
  EXPECT_EQ(claim_of("").host, "");
}

TEST(ClaimTextTest, TakesNoTokenThatIsNone) {
  for (const std::string token : {"short", "../../etc/passwd", ""})
    EXPECT_EQ(claim_of("host a\ntoken " + token + "\n").token, "") << token;
}

TEST(ClaimTextTest, NamesOfJobsAreBounded) {
  EXPECT_EQ(stored_name("job 7\npool /x"), "job 7");
  EXPECT_EQ(stored_name(std::string(1024, 'a')), std::string(1024, 'a'));
  const std::string one = stored_name(std::string(70000, 'a'));
  EXPECT_EQ(one.size(), 1024U);
  EXPECT_EQ(one.substr(0, 500), std::string(500, 'a'));
  EXPECT_NE(one, stored_name(std::string(70001, 'a')));
  EXPECT_EQ(stored_name(one), one);
}

}  // namespace
}  // namespace cairn::tier
