// The main() of each program of unit tests. Under the name of a test's source file, which ctest
// uses (a symbolic link FOLDER/NAME_test), it runs the tests of FOLDER/NAME_test.cc; under its own
// name, or with --gtest_filter, it runs those that were asked for.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace {

// The names of all tests that this source file defines, for --gtest_filter; "" if there are none.
std::string tests_of(const std::string& file) {
  std::string filter;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int k = 0; k < suite.total_test_count(); ++k) {
      const testing::TestInfo& test = *suite.GetTestInfo(k);
      if (("/" + std::string(test.file())).ends_with("/" + file))
        filter += std::string(filter.empty() ? "" : ":") + suite.name() + "." + test.name();
    }
  }
  return filter;
}

}  // namespace

int main(int count, char** arguments) {
  const std::filesystem::path called = std::filesystem::absolute(arguments[0]);
  testing::InitGoogleTest(&count, arguments);
  if (called.stem().string().ends_with("_test") && testing::GTEST_FLAG(filter) == "*") {
    const std::string file = called.parent_path().filename() / (called.stem().string() + ".cc");
    testing::GTEST_FLAG(filter) = tests_of(file);
    if (testing::GTEST_FLAG(filter).empty()) {
      std::fprintf(stderr, "%s: this program has no tests of %s\n", arguments[0], file.c_str());
      return 1;
    }
  }
  return RUN_ALL_TESTS();
}
