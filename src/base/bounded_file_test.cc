#include "base/bounded_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

namespace cairn {
namespace {

class BoundedFile : public testing::Test {
 protected:
  BoundedFile() {
    char name[] = "/tmp/cairn-bounded-XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~BoundedFile() override { EXPECT_EQ(system(("rm -rf " + directory_).c_str()), 0); }

  std::string file(size_t bytes, mode_t mode = 0600) {
    const std::string path = directory_ + "/file";
    std::ofstream(path) << std::string(bytes, 'x');
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }
  std::string directory_;
};

TEST_F(BoundedFile, ReadsUpToTheMaximum) {
  for (const size_t bytes : {0, 1, 4096, 5000}) {
    const auto text = read_trusted_file(file(bytes), 5000);
    ASSERT_TRUE(text.ok()) << bytes << last_detail();
    EXPECT_EQ(text->size(), bytes);
  }
  EXPECT_EQ(read_trusted_file(file(5001), 5000).code(), EFBIG);
}

TEST_F(BoundedFile, TakesRegularFilesOnly) {
  const std::string fifo = directory_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, directory_, std::string("/dev/zero")})
    EXPECT_EQ(read_trusted_file(path, 5000).code(), EINVAL) << path;
  EXPECT_EQ(read_trusted_file(directory_ + "/none", 5000).code(), ENOENT);
}

TEST_F(BoundedFile, TakesNoFileThatOthersWrite) {
  for (const mode_t mode : {0620, 0602, 0666})
    EXPECT_EQ(read_trusted_file(file(1, mode), 5000).code(), EPERM) << mode;
  EXPECT_TRUE(read_trusted_file(file(1, 0644), 5000).ok());
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const std::string path = file(1);
  ASSERT_EQ(chown(path.c_str(), 61002, 61002), 0);
  EXPECT_EQ(read_trusted_file(path, 5000).code(), EPERM);
  EXPECT_NE(std::string(last_detail()).find("61002"), std::string::npos);
}

}  // namespace
}  // namespace cairn
