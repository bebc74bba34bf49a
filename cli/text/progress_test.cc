#include "text/progress.h"

#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

TEST(Progress, LineFitsTheTerminal) {
  for (unsigned columns = 20; columns < 200; ++columns) {
    for (uint64_t done : {0UL, 1UL, 500UL, 1000UL, 2000UL}) {
      const std::string line = Progress::line("copy", done, 1000, 1 << 20, 3, columns);
      EXPECT_LT(line.size(), columns) << line;
      EXPECT_NE(line.find("copy"), std::string::npos);
    }
  }
}

TEST(Progress, LineShowsShareAndSpeed) {
  const std::string line = Progress::line("drain", 512, 1024, 1 << 20, 2, 100);
  EXPECT_NE(line.find("50%"), std::string::npos) << line;
  EXPECT_NE(line.find("512 MiB of 1 GiB"), std::string::npos) << line;
  EXPECT_NE(line.find("256 MiB/s"), std::string::npos) << line;
  EXPECT_NE(line.find("2.0 s left"), std::string::npos) << line;
}

TEST(Progress, NothingToDoIsDone) {
  EXPECT_NE(Progress::line("x", 0, 0, 1, 0, 80).find("100%"), std::string::npos);
}

}  // namespace
}  // namespace cairn::cli
