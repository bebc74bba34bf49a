#include "runs/shortage.h"

#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

std::string text(const Draining& draining) {
  cairn_pool_info info{};
  return shortage_text({}, {3, 1 << 20, 0, CAIRN_SHORT_OF_NOTHING}, info, true, draining);
}

TEST(Shortage, NamesTheDrainThatIsStopped) {
  const std::string said = text({true, 4711});
  EXPECT_NE(said.find("process 4711, which drains it in the background, is stopped"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("`kill -CONT 4711`"), std::string::npos) << said;
  EXPECT_EQ(said.find("write smaller files"), std::string::npos) << said;
}

TEST(Shortage, SaysWhatADrainLeaves) {
  EXPECT_NE(text({true, 0}).find("write smaller files"), std::string::npos);
  EXPECT_NE(text({false, 0}).find("--drain async"), std::string::npos);
}

}  // namespace
}  // namespace cairn::cli
