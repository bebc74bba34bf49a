#include "doctor/served_calls.h"

#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

TEST(ServedCalls, ComeFromTheAdaptersList) {
  for (const char* call :
       {"open", "open64", "openat", "read", "pwrite64", "rename", "close", "mmap", "fopen"})
    EXPECT_EQ(service_of(call), Service::served) << call;
  EXPECT_EQ(service_of("cos"), Service::unrelated);
  EXPECT_EQ(service_of(""), Service::unrelated);
}

}  // namespace
}  // namespace cairn::cli
