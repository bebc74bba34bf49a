// Staging on a plain file as medium: a file whose bytes lie in lower is no longer taken from there
// only when they are in the pool to stay.
#include <fcntl.h>

#include <fstream>

#include "crash/crash_lab.h"
#include "tier/cover/cover.h"
#include "tier/cover/cover_lower.h"
#include "tier/record/record.h"

namespace cairn::test {
namespace {

LabOptions options_for(persist::Granularity granularity) {
  LabOptions options;
  options.granularity = granularity;
  options.images_per_point = number_from_environment("CAIRN_CRASH_IMAGES", 60);
  options.seed = test_seed();
  return options;
}

class Stage : public testing::TestWithParam<persist::Granularity> {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(lower_);
    std::ofstream(lower_ + "/file") << text_;
    std::ofstream(lower_ + "/hollow").close();
    std::filesystem::resize_file(lower_ + "/hollow", 20'000);
    std::ofstream(lower_ + "/cut") << text_;
    tree_ = tier::make_lower(*lab_.pool()->fs);
    lab_.pool()->fs->lower = tree_.get();
    auto cover = tier::open_cover(*lab_.pool()->fs, lower_, {});
    ASSERT_TRUE(cover.ok()) << last_detail();
    cover_ = std::move(*cover);
  }
  void TearDown() override {
    cover_.reset();
    lab_.pool()->fs->lower = nullptr;
  }
  std::string path_of(const char* name) const {
    return std::string("/") + tier::covers_directory + "/" + cover_->name + "/" + name;
  }
  // Opening for writing and one byte stage a file.
  void touch(const char* name, int flags) {
    cairn_file* file = nullptr;
    ASSERT_EQ(cairn_open(lab_.pool(), cover_->top, name, O_RDWR | flags, 0, &file), 0)
        << cairn_last_error();
    ASSERT_EQ(cairn_pwrite(file, "X", 1, 0), 1) << cairn_last_error();
    ASSERT_EQ(cairn_close(file), 0);
  }
  static std::string bytes_of(const Item& item) {
    std::string all(item.size, '\0');
    for (const auto& [block, bytes] : item.blocks) {
      const uint64_t at = block * 4096;
      if (at < all.size())
        all.replace(at, std::min<uint64_t>(4096, all.size() - at), bytes, 0,
                    std::min<uint64_t>(4096, all.size() - at));
    }
    return all;
  }

  TemporaryFolder folder_;
  const std::string lower_ = std::filesystem::canonical(folder_.path()).string() + "/lower";
  const std::string text_ = std::string(30'000, 't');
  CrashLab lab_{options_for(GetParam())};
  std::unique_ptr<file::Lower> tree_;
  std::unique_ptr<tier::Cover> cover_;
};

TEST_P(Stage, AFileIsTakenFromLowerUntilItsBytesAreHere) {
  cairn_stat st = {};
  ASSERT_EQ(cairn_lookup(lab_.pool(), cover_->top, "file", 0, &st), 0) << cairn_last_error();
  lab_.begin();
  touch("file", 0);
  touch("hollow", 0);
  touch("cut", O_TRUNC);
  uint64_t lazy = 0;
  uint64_t own = 0;
  lab_.set_judge([&](const Snapshot& found, uint64_t) -> std::string {
    for (const char* name : {"file", "hollow"}) {
      const Item& item = found.at(path_of(name));
      ++(item.lazy ? lazy : own);
      if (item.lazy) continue;
      std::string expected = name == std::string("file") ? text_ : std::string(20'000, '\0');
      const std::string is = bytes_of(item);
      if (is != expected && is != "X" + expected.substr(1))
        return std::string(name) + ": not lazy, of size " + std::to_string(is.size()) +
               ", and without its bytes";
    }
    const Item& cut = found.at(path_of("cut"));
    if (!cut.lazy && cut.size > 1) return "cut: of size " + std::to_string(cut.size);
    return "";
  });
  EXPECT_EQ(lab_.power_losses(), "");
  EXPECT_GT(lazy, 0U);
  EXPECT_GT(own, 0U);
}

INSTANTIATE_TEST_SUITE_P(Media, Stage,
                         testing::Values(persist::Granularity::page,
                                         persist::Granularity::cache_line),
                         [](const auto& medium) {
                           return medium.param == persist::Granularity::page ? "File"
                                                                             : "CacheLines";
                         });

}  // namespace
}  // namespace cairn::test
