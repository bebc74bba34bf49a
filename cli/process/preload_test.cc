#include "process/preload.h"

#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

TEST(Preload, ComesAfterWhatIsThere) {
  EXPECT_EQ(preload_with("", "/l/libcairn_posix.so"), "/l/libcairn_posix.so");
  EXPECT_EQ(preload_with("/d/libdarshan.so", "/l/libcairn_posix.so"),
            "/d/libdarshan.so:/l/libcairn_posix.so");
  EXPECT_EQ(preload_with("a.so b.so", "/l/libcairn_posix.so"), "a.so:b.so:/l/libcairn_posix.so");
}

TEST(Preload, IsThereOnce) {
  EXPECT_EQ(preload_with("/old/libcairn_posix.so:/d/x.so", "/l/libcairn_posix.so"),
            "/d/x.so:/l/libcairn_posix.so");
  EXPECT_EQ(preload_without("/old/libcairn_posix.so"), "");
  EXPECT_EQ(preload_without("/x/notlibcairn_posix.so"), "/x/notlibcairn_posix.so");
}

}  // namespace
}  // namespace cairn::cli
