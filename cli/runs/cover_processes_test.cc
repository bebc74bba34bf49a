#include "runs/cover_processes.h"

#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

const std::string program = "55d0-55d1 r-xp 0 fe:01 12  /usr/bin/sleep\n";
const std::string loader = "7f10-7f11 r-xp 0 fe:01 13  /usr/lib64/ld-linux-x86-64.so.2\n";
const std::string libc = "7f20-7f21 r-xp 0 fe:01 14  /usr/lib/libc.so.6\n";
const std::string memory = "7ffc-7ffd rw-p 0 00:00 0  [stack]\n";

TEST(CarriesLibrary, tells_a_process_that_has_loaded_it) {
  const std::string ours = "7f30-7f31 r-xp 0 fe:01 15  /opt/a b/lib/libcairn_posix.so\n";
  EXPECT_EQ(carries_library(program + ours + libc + loader + memory), Carries::library);
  EXPECT_EQ(carries_library("7f30-7f31 r-xp 0 fe:01 15  /opt/libcairn_posix.so (deleted)\n"),
            Carries::library);
}

TEST(CarriesLibrary, is_not_sure_while_the_loader_has_loaded_nothing) {
  EXPECT_EQ(carries_library(program + loader + memory), Carries::perhaps);
}

TEST(CarriesLibrary, tells_programs_without_it) {
  EXPECT_EQ(carries_library(program + libc + loader + memory), Carries::nothing);
  EXPECT_EQ(carries_library(program + memory), Carries::nothing);  // linked statically
}

}  // namespace
}  // namespace cairn::cli
