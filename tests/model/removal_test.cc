// Removing a pool while others are about to use it.
#include <fcntl.h>
#include <sys/wait.h>

#include <cerrno>

#include "model/temporary_pool.h"

namespace cairn::test {
namespace {

constexpr uint64_t removal_bytes = uint64_t{8} << 20;
constexpr unsigned look_only = CAIRN_ATTACH_READ_ONLY | CAIRN_ATTACH_NO_RECOVERY;

class Removal : public testing::Test {
 protected:
  void make() const { make_pool(path, removal_bytes, 4); }
  [[nodiscard]] bool is_there(const std::string& name) const {
    return access(name.c_str(), F_OK) == 0;
  }
  // What stays beside the pool.
  [[nodiscard]] size_t entries() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path()))
      ++count;
    return count;
  }

  TemporaryFolder folder;
  const std::string path = folder.path() + "/pool";
};

struct Asked {
  const std::string& path;
  int answer;
  int times = 0;
};
int answer(void* context) {
  auto& asked = *static_cast<Asked*>(context);
  ++asked.times;
  cairn_pool* pool = nullptr;
  EXPECT_EQ(cairn_pool_attach(asked.path.c_str(), look_only, &pool), 0) << cairn_last_error();
  cairn_pool_detach(pool);
  return asked.answer;
}

TEST_F(Removal, ByACondition) {
  make();
  Asked no{path, 0};
  cairn_pool* pool = attach(path);
  EXPECT_EQ(cairn_pool_remove_if(path.c_str(), answer, &no), -EBUSY);
  EXPECT_EQ(no.times, 0);
  cairn_pool_detach(pool);
  EXPECT_EQ(cairn_pool_remove_if(path.c_str(), answer, &no), -ECANCELED);
  EXPECT_EQ(no.times, 1);
  EXPECT_EQ(check_pool(path), 0);
  EXPECT_EQ(cairn_pool_remove_if(path.c_str(), nullptr, nullptr), -EFAULT);
  Asked yes{path, 1};
  EXPECT_EQ(cairn_pool_remove_if(path.c_str(), answer, &yes), 0) << cairn_last_error();
  EXPECT_EQ(yes.times, 1);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(Removal, ByNamesThatEndInNoName) {
  for (const char* end : {"/", "//", "/.", "/companion/.."}) {
    make();
    EXPECT_EQ(cairn_pool_remove((path + end).c_str()), 0) << end << ": " << cairn_last_error();
    EXPECT_EQ(entries(), 0U) << end;
  }
  cairn_pool_options options{};
  options.struct_size = sizeof options;
  options.size = removal_bytes;
  ASSERT_EQ(cairn_pool_create((path + "/").c_str(), &options), 0) << cairn_last_error();
  EXPECT_EQ(check_pool(path), 0);
}

TEST_F(Removal, BySymbolicLinkIsRefused) {
  make();
  const std::string link = folder.path() + "/link";
  for (const std::string& target : {path, std::string("pool")}) {
    ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
    EXPECT_EQ(cairn_pool_remove(link.c_str()), -ENOTDIR);
    EXPECT_NE(std::string(cairn_last_error()).find("symbolic link"), std::string::npos);
    EXPECT_EQ(entries(), 2U);
    ASSERT_EQ(unlink(link.c_str()), 0);
  }
  EXPECT_EQ(check_pool(path), 0);
}

// Attaches for a while, each time until it has seen whether its pool still has its name; exit code
// 1 if not.
[[noreturn]] void attach_again_and_again(const std::string& path, double end) {
  bool lost = false;
  while (!lost && now_s() < end) {
    cairn_pool* pool = nullptr;
    if (cairn_pool_attach(path.c_str(), 0, &pool) < 0) continue;
    cairn_pool_info mine = {};
    cairn_pool_get_info(pool, &mine);
    usleep(300);
    cairn_pool* named = nullptr;
    cairn_pool_info other = {};
    lost = cairn_pool_attach(path.c_str(), look_only, &named) < 0;
    if (!lost) cairn_pool_get_info(named, &other);
    lost = lost || std::memcmp(mine.uuid, other.uuid, sizeof mine.uuid) != 0;
    cairn_pool_detach(named);
    cairn_pool_detach(pool);
  }
  _exit(lost ? 1 : 0);
}

TEST_F(Removal, TakesNoPoolAwayFromWhoHasAttached) {
  make();
  const double end = now_s() + 3;
  pid_t children[2];
  for (pid_t& child : children) {
    child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) attach_again_and_again(path, end);
  }
  while (now_s() < end) {
    const int result = cairn_pool_remove(path.c_str());
    ASSERT_TRUE(result == 0 || result == -EBUSY) << cairn_last_error();
    if (result == 0) make();
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
}

}  // namespace
}  // namespace cairn::test
