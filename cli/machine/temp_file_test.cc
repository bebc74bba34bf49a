// Names that others exchange before a file gets its own.
#include "machine/temp_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "machine/file_name.h"
#include "text/error.h"

namespace cairn::cli {
namespace {

class TempFiles : public testing::Test {
 protected:
  TempFiles() { EXPECT_NE(mkdtemp(place_.data()), nullptr); }
  ~TempFiles() override {
    const std::string command = "rm -rf '" + place_ + "'";
    (void)!std::system(command.c_str());
  }
  [[nodiscard]] std::string path(const std::string& name) const { return place_ + "/" + name; }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // The only file with such a name.
  [[nodiscard]] std::string temporary() const {
    const DataFile directory = open_directory(place_);
    for (const std::string& name : names_in(directory.descriptor(), place_))
      if (name.ends_with(".part")) return name;
    return "";
  }

  std::string place_ = "/tmp/cairn-temp-file-XXXXXX";
};

TEST_F(TempFiles, AFileThatIsCompleteGetsItsName) {
  {
    TempFile file(path("out"), false);
    EXPECT_EQ(file.data().status().st_mode & 0777U, 0600U);
    file.data().write("mine", 4, 0);
    file.publish();
  }
  EXPECT_EQ(text_of("out"), "mine");
  EXPECT_EQ(temporary(), "");
  const mode_t mask = umask(0);
  umask(mask);
  struct stat st {};
  ASSERT_EQ(stat(path("out").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777U, 0666U & ~mask);
}

TEST_F(TempFiles, AnotherFileInItsPlaceGetsNoNameAndStays) {
  std::string name;
  {
    TempFile file(path("out"), false);
    name = temporary();
    ASSERT_EQ(unlink(path(name).c_str()), 0);
    put(name, "theirs");
    EXPECT_THROW(file.publish(), Error);
  }
  EXPECT_EQ(text_of(name), "theirs");
  EXPECT_EQ(access(path("out").c_str(), F_OK), -1);
}

TEST_F(TempFiles, ALinkInItsPlaceIsNotFollowed) {
  put("precious", "precious");
  {
    TempFile file(path("out"), true);
    const std::string name = temporary();
    ASSERT_EQ(unlink(path(name).c_str()), 0);
    ASSERT_EQ(symlink(path("precious").c_str(), path(name).c_str()), 0);
    file.data().write("mine", 4, 0);
    EXPECT_THROW(file.publish(), Error);
  }
  EXPECT_EQ(text_of("precious"), "precious");
  EXPECT_EQ(access(path("out").c_str(), F_OK), -1);
}

TEST_F(TempFiles, OneThatIsNotPublishedGoes) {
  { const TempFile file(path("out"), false); }
  EXPECT_EQ(temporary(), "");
}

}  // namespace
}  // namespace cairn::cli
