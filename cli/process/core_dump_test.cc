#include "process/core_dump.h"

#include <gtest/gtest.h>

#include <csignal>

namespace cairn::cli {
namespace {

constexpr int with_dump = 0x80;
constexpr int exited(int code) { return code << 8; }

std::string text_of(int status, const std::string& pattern) {
  return missing_core_text(status, "program", "/data/results", pattern);
}

TEST(CoreDump, IsMissedWhereTheKernelWritesItToTheWorkingDirectory) {
  for (const char* pattern : {"core", "core.%e.%p", "cores/core"}) {
    const std::string text = text_of(SIGSEGV, pattern);
    EXPECT_NE(text.find("signal 11"), std::string::npos) << text;
    EXPECT_NE(text.find("/data/results"), std::string::npos) << text;
    EXPECT_NE(text.find(pattern), std::string::npos) << text;
  }
  EXPECT_NE(text_of(exited(128 + SIGABRT), "core"), "");
}

TEST(CoreDump, IsNotMissed) {
  EXPECT_EQ(text_of(SIGSEGV, "/var/crash/core.%p"), "");
  EXPECT_EQ(text_of(SIGSEGV, "|/usr/lib/systemd/systemd-coredump %P"), "");
  EXPECT_EQ(text_of(SIGSEGV, ""), "");
  EXPECT_EQ(text_of(SIGSEGV | with_dump, "core"), "");
  EXPECT_EQ(text_of(SIGKILL, "core"), "");
  EXPECT_EQ(text_of(SIGTERM, "core"), "");
  EXPECT_EQ(text_of(exited(0), "core"), "");
  EXPECT_EQ(text_of(exited(SIGSEGV), "core"), "");
  EXPECT_EQ(text_of(exited(128 + SIGKILL), "core"), "");
}

}  // namespace
}  // namespace cairn::cli
