// The lock file of pools on devices. No device is needed: a pool on tmpfs is told that its locks
// lie elsewhere, and two attachments with different files are two containers.
#include "pool/medium/lock_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "pool/medium/files.h"
#include "pool/medium/format_io.h"

namespace cairn::pool {
namespace {

class LockFile : public testing::Test {
 protected:
  LockFile() {
    EXPECT_NE(mkdtemp(place_.data()), nullptr);
    CreateOptions options;
    options.size_bytes = least_pool_bytes;
    options.lanes = 1;
    HiddenPlace hidden;
    auto made = create_files(path(), options, &hidden);
    EXPECT_TRUE(made.ok()) << last_detail();
    EXPECT_TRUE(publish_identity(**made).ok());
    EXPECT_TRUE(give_name(**made, path(), hidden).ok());
  }
  ~LockFile() override {
    const std::string command = "rm -rf '" + place_ + "'";
    (void)!std::system(command.c_str());
  }
  [[nodiscard]] std::string path() const { return place_ + "/pool"; }

  // The pool as seen by a container whose shared memory holds `name`.
  std::unique_ptr<Pool> seen_from(const std::string& name, bool read_only = false) {
    auto pool = open_files(path(), read_only);
    EXPECT_TRUE(pool.ok()) << last_detail();
    (*pool)->home = place_ + "/" + name;
    (*pool)->lock_path = (*pool)->home + "/lock";
    (*pool)->lock_inode = 0;
    return std::move(*pool);
  }
  static void set_clean(Pool& pool, bool clean) { pool.store(pool.state->clean, clean ? 1 : 0); }

 private:
  std::string place_ = "/dev/shm/cairn-lock-file-XXXXXX";
};

TEST_F(LockFile, AllWhoSeeOneFileShareThePool) {
  auto first = seen_from("here");
  ASSERT_TRUE(agree_on_lock_file(*first).ok()) << last_detail();
  set_clean(*first, false);
  auto second = seen_from("here");
  EXPECT_TRUE(agree_on_lock_file(*second).ok()) << last_detail();
  EXPECT_EQ(first->lock_identity, second->lock_identity);
  EXPECT_TRUE(confirm_lock_file(*second).ok());
  EXPECT_TRUE(agree_on_lock_file(*seen_from("here", true)).ok());
  struct stat st {};
  ASSERT_EQ(stat(first->lock_path.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777U, 0600U);
}

TEST_F(LockFile, AnotherFileIsRefusedWhileThePoolIsInUse) {
  auto here = seen_from("here");
  ASSERT_TRUE(agree_on_lock_file(*here).ok());
  set_clean(*here, false);
  const uint64_t in_force = here->state->lock_identity.load();
  EXPECT_EQ(agree_on_lock_file(*seen_from("there")).code(), ESTALE);
  EXPECT_NE(std::string(last_detail()).find("/there/lock"), std::string::npos) << last_detail();
  EXPECT_EQ(agree_on_lock_file(*seen_from("there", true)).code(), ESTALE);
  EXPECT_EQ(here->state->lock_identity.load(), in_force);
  EXPECT_TRUE(confirm_lock_file(*here).ok());
  // A file that was removed and created anew is another one.
  unlink(here->lock_path.c_str());
  EXPECT_EQ(agree_on_lock_file(*seen_from("here")).code(), ESTALE);
}

TEST_F(LockFile, ACleanPoolIsHandedOver) {
  auto here = seen_from("here");
  ASSERT_TRUE(agree_on_lock_file(*here).ok());
  set_clean(*here, true);
  auto there = seen_from("there");
  ASSERT_TRUE(agree_on_lock_file(*there).ok()) << last_detail();
  EXPECT_NE(here->lock_identity, there->lock_identity);
  // The first container, which has not attached yet, detects it before it recovers anything.
  set_clean(*here, false);
  EXPECT_EQ(confirm_lock_file(*here).code(), ESTALE);
  EXPECT_TRUE(confirm_lock_file(*there).ok());
}

TEST_F(LockFile, AnotherBootVoidsIt) {
  auto here = seen_from("here");
  ASSERT_TRUE(agree_on_lock_file(*here).ok());
  set_clean(*here, false);
  here->store(here->state->lock_identity, here->lock_identity ^ 1ULL << 40);
  auto there = seen_from("there");
  EXPECT_TRUE(agree_on_lock_file(*there).ok()) << last_detail();
  EXPECT_EQ(there->state->lock_identity.load(), there->lock_identity);
}

TEST_F(LockFile, ItsPlaceMustBePrivate) {
  auto here = seen_from("here");
  ASSERT_EQ(mkdir(here->home.c_str(), 0700), 0);
  ASSERT_EQ(chmod(here->home.c_str(), 0755), 0);
  EXPECT_EQ(agree_on_lock_file(*here).code(), EPERM);
}

}  // namespace
}  // namespace cairn::pool
