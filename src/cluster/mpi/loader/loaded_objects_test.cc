#include "cluster/mpi/loader/loaded_objects.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cairn::mpi {
namespace {

TEST(LoadedObjects, SaysWhereThisCodeLies) {
  const std::string path = beside_this_library("x.so");
  EXPECT_TRUE(path.starts_with("/")) << path;
  EXPECT_TRUE(path.ends_with("/cairn/x.so")) << path;
}

// A program's own word for its path is argv[0], which would lead to the current directory.
TEST(LoadedObjects, BelievesNoRelativePath) {
  const pid_t child = fork();
  if (child == 0) {
    if (chdir("/tmp") == 0)
      execl("/proc/self/exe", "program", "--gtest_filter=*SaysWhereThisCodeLies", nullptr);
    _exit(2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace cairn::mpi
