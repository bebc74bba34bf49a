// Handles, descriptions and the end of unnamed files, through the C API.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include "model/temporary_pool.h"

namespace cairn::test {
namespace {

class Handles : public ::testing::Test {
 protected:
  void SetUp() override {
    make_pool(path_, 16 << 20);
    pool_ = attach(path_);
    ASSERT_NE(pool_, nullptr);
  }
  void TearDown() override {
    cairn_pool_detach(pool_);
    EXPECT_EQ(check_pool(path_), 0);
  }
  cairn_file* open(const char* name, int flags) {
    cairn_file* file = nullptr;
    EXPECT_EQ(cairn_open(pool_, CAIRN_ROOT, name, flags, 0600, &file), 0) << cairn_last_error();
    return file;
  }
  static std::string text_of(cairn_file* file) {
    char bytes[256];
    const ssize_t n = cairn_pread(file, bytes, sizeof bytes, 0);
    return n < 0 ? "error " + std::to_string(n) : std::string(bytes, static_cast<size_t>(n));
  }
  uint64_t inodes() {
    cairn_pool_info info;
    EXPECT_EQ(cairn_pool_get_info(pool_, &info), 0) << cairn_last_error();
    return info.inodes;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path() + "/pool";
  cairn_pool* pool_ = nullptr;
};

TEST_F(Handles, OpenByNumberCutsIfAsked) {
  cairn_file* file = open("f", O_RDWR | O_CREAT);
  ASSERT_EQ(cairn_write(file, "text", 4), 4);
  cairn_file* other = nullptr;
  ASSERT_EQ(cairn_open_ino(pool_, cairn_file_ino(file), 0, O_RDONLY | O_TRUNC, &other), 0);
  EXPECT_EQ(text_of(other), "text") << "cut without the right to write";
  cairn_close(other);
  ASSERT_EQ(cairn_open_ino(pool_, cairn_file_ino(file), 0, O_RDWR | O_TRUNC, &other), 0);
  EXPECT_EQ(text_of(file), "");
  cairn_close(other);
  cairn_close(file);
}

// Between looking a name up and opening what it named, others remove that and make something else.
TEST_F(Handles, OpenByNumberIsOfTheFileThatWasFoundAndOfNoLaterOne) {
  cairn_close(open("first", O_RDWR | O_CREAT));
  cairn_stat found;
  ASSERT_EQ(cairn_lookup(pool_, CAIRN_ROOT, "first", 0, &found), 0);
  cairn_file* file = nullptr;
  ASSERT_EQ(cairn_open_ino(pool_, found.ino, found.generation, O_RDWR, &file), 0);
  cairn_close(file);
  ASSERT_EQ(cairn_unlink(pool_, CAIRN_ROOT, "first"), 0);
  file = open("second", O_RDWR | O_CREAT);
  ASSERT_EQ(cairn_write(file, "text", 4), 4);
  ASSERT_EQ(cairn_file_ino(file), found.ino) << "the number is another one: nothing to see";
  cairn_file* wrong = nullptr;
  EXPECT_EQ(cairn_open_ino(pool_, found.ino, found.generation, O_RDWR | O_TRUNC, &wrong), -ESTALE);
  EXPECT_EQ(text_of(file), "text");
  cairn_close(file);
}

// The same within one call: an empty file's number is free as soon as its name is gone.
TEST_F(Handles, ANameNeverOpensOrShowsWhatHasAnother) {
  std::atomic<bool> over{false};
  std::thread changing([&] {
    while (!over) {
      cairn_close(open("empty", O_RDWR | O_CREAT | O_EXCL));
      ASSERT_EQ(cairn_unlink(pool_, CAIRN_ROOT, "empty"), 0);
      cairn_file* file = open("full", O_RDWR | O_CREAT | O_EXCL);
      ASSERT_EQ(cairn_write(file, "text", 4), 4);
      cairn_close(file);
      ASSERT_EQ(cairn_unlink(pool_, CAIRN_ROOT, "full"), 0);
    }
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (std::chrono::steady_clock::now() < end && !HasFailure()) {
    cairn_stat st;
    if (cairn_lookup(pool_, CAIRN_ROOT, "empty", 0, &st) == 0) {
      EXPECT_EQ(st.size, 0U);
    }
    cairn_file* file = nullptr;
    if (cairn_open(pool_, CAIRN_ROOT, "empty", O_RDONLY, 0, &file) != 0) continue;
    // Held open, it stays what it is.
    for (int look = 0; look < 20; ++look) EXPECT_EQ(text_of(file), "");
    cairn_close(file);
  }
  over = true;
  changing.join();
}

// Between a walk to a directory and a change of its names, others remove it and make another one.
TEST_F(Handles, ADirectoryThatWasFoundIsNoLaterOne) {
  ASSERT_EQ(cairn_mkdir(pool_, CAIRN_ROOT, "first", 0700), 0);
  cairn_stat first;
  ASSERT_EQ(cairn_lookup(pool_, CAIRN_ROOT, "first", 0, &first), 0);
  const auto walk = [&](const char* path) {
    cairn_ino parent = 0;
    cairn_ino at = 0;
    cairn_stat st;
    char rest[64];
    EXPECT_EQ(cairn_walk(pool_, CAIRN_ROOT, CAIRN_ROOT, path, 0, nullptr, &st, &parent, &at, rest,
                         sizeof rest),
              -ENOENT);
    return parent;
  };
  const cairn_ino found = walk("first/a");
  ASSERT_EQ(cairn_mknod(pool_, found, "a", 0100600), 0);
  ASSERT_EQ(cairn_unlink(pool_, found, "a"), 0);
  ASSERT_EQ(cairn_rmdir(pool_, CAIRN_ROOT, "first"), 0);
  cairn_stat second = {};
  for (int i = 0; i < 1000 && second.ino != first.ino; ++i) {
    cairn_rmdir(pool_, CAIRN_ROOT, "second");
    ASSERT_EQ(cairn_mkdir(pool_, CAIRN_ROOT, "second", 0700), 0);
    ASSERT_EQ(cairn_lookup(pool_, CAIRN_ROOT, "second", 0, &second), 0);
  }
  ASSERT_EQ(second.ino, first.ino) << "the number is another one: nothing to see";
  ASSERT_EQ(cairn_mknod(pool_, second.ino, "kept", 0100600), 0);
  const auto gone = [](int result) { return result == -ENOENT || result == -ESTALE; };
  cairn_file* file = nullptr;
  cairn_stat st;
  EXPECT_TRUE(gone(cairn_open(pool_, found, "a", O_RDWR | O_CREAT, 0600, &file)));
  EXPECT_TRUE(gone(cairn_mkdir(pool_, found, "a", 0700)));
  EXPECT_TRUE(gone(cairn_mknod(pool_, found, "a", 0100600)));
  EXPECT_TRUE(gone(cairn_symlink(pool_, "kept", found, "a")));
  EXPECT_TRUE(gone(cairn_link_ino(pool_, second.ino, found, "a")));
  EXPECT_TRUE(gone(cairn_rename(pool_, found, "kept", CAIRN_ROOT, "a", 0)));
  EXPECT_TRUE(gone(cairn_unlink(pool_, found, "kept")));
  EXPECT_TRUE(gone(cairn_lookup(pool_, found, "kept", 0, &st)));
  EXPECT_TRUE(gone(cairn_stat_ino(pool_, found, &st)));
  EXPECT_EQ(cairn_unlink(pool_, walk("second/a"), "kept"), 0);
  EXPECT_EQ(cairn_rmdir(pool_, CAIRN_ROOT, "second"), 0) << "something was put there";
}

// Whoever renames another file over one does not let anybody see that it is gone.
TEST_F(Handles, ANameThatGetsAnotherMeaningIsAlwaysThere) {
  const auto make = [&](const char* name) {
    ASSERT_EQ(cairn_mknod(pool_, CAIRN_ROOT, name, 0100600), 0) << cairn_last_error();
  };
  const auto make_link = [&](const char* text, const char* name) {
    ASSERT_EQ(cairn_symlink(pool_, text, CAIRN_ROOT, name), 0) << cairn_last_error();
  };
  make("file");
  make_link("file", "link");
  std::atomic<bool> over{false};
  std::thread changing([&] {
    while (!over) {
      make("next");
      ASSERT_EQ(cairn_rename(pool_, CAIRN_ROOT, "next", CAIRN_ROOT, "file", 0), 0);
      make_link("file", "next");
      ASSERT_EQ(cairn_rename(pool_, CAIRN_ROOT, "next", CAIRN_ROOT, "link", 0), 0);
      make_link("elsewhere", "next");
      ASSERT_EQ(cairn_unlink(pool_, CAIRN_ROOT, "next"), 0);
    }
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (std::chrono::steady_clock::now() < end && !HasFailure()) {
    cairn_stat st;
    char text[16];
    EXPECT_EQ(cairn_lookup(pool_, CAIRN_ROOT, "file", 0, &st), 0) << cairn_last_error();
    EXPECT_EQ(cairn_lookup(pool_, CAIRN_ROOT, "link", 0, &st), 0) << cairn_last_error();
    EXPECT_EQ(cairn_readlink(pool_, CAIRN_ROOT, "link", text, sizeof text), 4);
  }
  over = true;
  changing.join();
}

TEST_F(Handles, AppendForOnceLeavesTheOffset) {
  cairn_file* file = open("f", O_RDWR | O_CREAT);
  ASSERT_EQ(cairn_write(file, "one ", 4), 4);
  ASSERT_EQ(cairn_seek(file, 1, SEEK_SET), 1);
  char two[] = "two ";
  char three[] = "three";
  const iovec pieces[] = {{two, 4}, {three, 5}};
  EXPECT_EQ(cairn_appendv(file, pieces, 2), 9);
  EXPECT_EQ(text_of(file), "one two three");
  EXPECT_EQ(cairn_seek(file, 0, SEEK_CUR), 1);
  EXPECT_EQ(cairn_appendv(file, pieces, -1), -EINVAL);
  cairn_close(file);
  file = open("f", O_RDONLY);
  EXPECT_EQ(cairn_appendv(file, pieces, 1), -EBADF);
  cairn_close(file);
}

TEST_F(Handles, PiecesStopWhereOneComesShort) {
  cairn_file* file = open("f", O_RDWR | O_CREAT | O_APPEND);
  char bytes[] = "abcdefgh";
  const cairn_piece scattered[] = {{bytes + 4, 2, 10'000}, {bytes, 0, 1}, {bytes, 4, 2}};
  ASSERT_EQ(cairn_write_pieces(file, scattered, 3), 6) << cairn_last_error();
  char read[16] = "";
  const cairn_piece back[] = {
      {read, 2, 10'000}, {read + 2, 4, 2}, {read + 6, 4, 9'999}, {read + 10, 1, 2}};
  EXPECT_EQ(cairn_read_pieces(file, back, 4), 9) << "the third piece ends beyond the file";
  EXPECT_EQ(std::string(read, 9), std::string("efabcd\0ef", 9));
  EXPECT_EQ(cairn_read_pieces(file, back, 0), 0);
  EXPECT_EQ(cairn_seek(file, 0, SEEK_CUR), 0);
  cairn_close(file);
  file = open("f", O_RDONLY);
  EXPECT_EQ(cairn_write_pieces(file, scattered, 3), -EBADF);
  EXPECT_EQ(cairn_read_pieces(file, back, 4), 9);
  EXPECT_EQ(cairn_write_pieces(file, scattered, 3), -EBADF) << "where the bytes lie is known now";
  cairn_close(file);
  file = open("f", O_WRONLY);
  EXPECT_EQ(cairn_read_pieces(file, back, 4), -EBADF);
  cairn_close(file);
}

TEST_F(Handles, TwoHandlesOnOneDescription) {
  cairn_file* file = open("f", O_RDWR | O_CREAT);
  cairn_file_id id;
  cairn_file_get_id(file, &id);
  cairn_file* second = nullptr;
  ASSERT_EQ(cairn_file_adopt(pool_, id, &second), 0) << cairn_last_error();
  ASSERT_EQ(cairn_unlink(pool_, CAIRN_ROOT, "f"), 0);
  cairn_close(file);
  // The description lives as long as one handle does, and its file with it.
  ASSERT_EQ(cairn_write(second, "kept", 4), 4);
  cairn_file* third = nullptr;
  ASSERT_EQ(cairn_file_adopt(pool_, id, &third), 0) << cairn_last_error();
  cairn_close(second);
  EXPECT_EQ(cairn_seek(third, 0, SEEK_CUR), 4);
  EXPECT_EQ(text_of(third), "kept");
  cairn_close(third);
  EXPECT_EQ(cairn_file_adopt(pool_, id, &third), -EBADF);
  EXPECT_EQ(inodes(), 1U);
}

TEST_F(Handles, AnUnlinkedFileEndsWithItsLastOpener) {
  cairn_close(open("closed", O_RDWR | O_CREAT));
  cairn_file* file = open("open", O_RDWR | O_CREAT);
  ASSERT_EQ(inodes(), 3U);
  ASSERT_EQ(cairn_unlink(pool_, CAIRN_ROOT, "closed"), 0);
  ASSERT_EQ(cairn_unlink(pool_, CAIRN_ROOT, "open"), 0);
  EXPECT_EQ(inodes(), 2U);
  ASSERT_EQ(cairn_write(file, "still here", 10), 10);
  cairn_file* again = nullptr;
  ASSERT_EQ(cairn_open_ino(pool_, cairn_file_ino(file), 0, O_RDONLY, &again), 0);
  cairn_close(file);
  EXPECT_EQ(text_of(again), "still here");
  cairn_close(again);
  EXPECT_EQ(inodes(), 1U);
}

// The inode of an empty file is another one's as soon as its name has gone.
TEST_F(Handles, AttributesOfANumberThatIsUsedAgain) {
  ASSERT_EQ(cairn_mknod(pool_, CAIRN_ROOT, "a", 0100600), 0);
  cairn_stat a;
  cairn_stat b;
  ASSERT_EQ(cairn_lookup(pool_, CAIRN_ROOT, "a", 0, &a), 0);
  ASSERT_EQ(cairn_unlink(pool_, CAIRN_ROOT, "a"), 0);
  ASSERT_EQ(cairn_mknod(pool_, CAIRN_ROOT, "b", 0100600), 0);
  ASSERT_EQ(cairn_lookup(pool_, CAIRN_ROOT, "b", 0, &b), 0);
  ASSERT_EQ(b.ino, a.ino);
  ASSERT_EQ(cairn_setxattr(pool_, b.ino, b.generation, "user.b", "1", 1, 0), 0);
  const uint64_t old = a.generation;
  char text[16];
  EXPECT_EQ(cairn_chmod(pool_, a.ino, old, 0777), -ESTALE);
  EXPECT_EQ(cairn_chown(pool_, a.ino, old, 1, 1), -ESTALE);
  EXPECT_EQ(cairn_utimens(pool_, a.ino, old, 1, 1), -ESTALE);
  EXPECT_EQ(cairn_truncate(pool_, a.ino, old, 100), -ESTALE);
  EXPECT_EQ(cairn_setxattr(pool_, a.ino, old, "user.a", "1", 1, 0), -ESTALE);
  EXPECT_EQ(cairn_getxattr(pool_, a.ino, old, "user.b", text, sizeof text), -ESTALE);
  EXPECT_EQ(cairn_listxattr(pool_, a.ino, old, text, sizeof text), -ESTALE);
  EXPECT_EQ(cairn_removexattr(pool_, a.ino, old, "user.b"), -ESTALE);
  EXPECT_EQ(cairn_chmod(pool_, b.ino, b.generation, 0640), 0);
  cairn_stat after;
  ASSERT_EQ(cairn_lookup(pool_, CAIRN_ROOT, "b", 0, &after), 0);
  EXPECT_EQ(after.mode, 0100640U);
  EXPECT_EQ(after.uid, b.uid);
  EXPECT_EQ(after.size, 0U);
  EXPECT_EQ(after.mtime_ns, b.mtime_ns);
  EXPECT_EQ(cairn_listxattr(pool_, b.ino, b.generation, text, sizeof text), 7);
}

TEST_F(Handles, TheCompanionGoesWithItsFile) {
  cairn_file* file = open("f", O_RDWR | O_CREAT);
  const int fd = cairn_companion(file);
  ASSERT_GE(fd, 0) << cairn_last_error();
  close(fd);
  EXPECT_FALSE(std::filesystem::is_empty(path_ + "/companion"));
  ASSERT_EQ(cairn_unlink(pool_, CAIRN_ROOT, "f"), 0);
  EXPECT_FALSE(std::filesystem::is_empty(path_ + "/companion")) << "it is still open";
  cairn_close(file);
  EXPECT_TRUE(std::filesystem::is_empty(path_ + "/companion"));
}

// Openers and the one who takes the last name: whoever got the file open has it to himself, or with
// others, until he closes it; nobody gets one that has ended.
TEST_F(Handles, OpenersMeetTheEnd) {
  std::atomic<bool> done{false};
  std::atomic<int> opened{0};
  std::vector<std::thread> openers;
  for (char mark : {'a', 'b', 'c'}) {
    openers.emplace_back([&, mark] {
      while (!done.load()) {
        cairn_file* file = nullptr;
        const int result = cairn_open(pool_, CAIRN_ROOT, "f", O_RDWR, 0, &file);
        if (result == -ENOENT) continue;
        ASSERT_EQ(result, 0) << cairn_last_error();
        cairn_stat before;
        cairn_stat after;
        ASSERT_EQ(cairn_fstat(file, &before), 0);
        ASSERT_EQ(cairn_pwrite(file, &mark, 1, static_cast<uint64_t>(mark)), 1);
        char byte = 0;
        ASSERT_EQ(cairn_pread(file, &byte, 1, static_cast<uint64_t>(mark)), 1);
        EXPECT_EQ(byte, mark);
        ASSERT_EQ(cairn_fstat(file, &after), 0);
        // An inode that was freed under us would by now be another one's.
        EXPECT_EQ(before.generation, after.generation);
        ++opened;
        cairn_close(file);
      }
    });
  }
  const double end = now_s() + 2;
  while (now_s() < end || (opened.load() == 0 && now_s() < end + 20)) {
    ASSERT_EQ(cairn_mknod(pool_, CAIRN_ROOT, "f", 0100600), 0) << cairn_last_error();
    ASSERT_EQ(cairn_unlink(pool_, CAIRN_ROOT, "f"), 0) << cairn_last_error();
  }
  done = true;
  for (std::thread& opener : openers) opener.join();
  EXPECT_GT(opened.load(), 0);
  EXPECT_EQ(inodes(), 1U);
}

}  // namespace
}  // namespace cairn::test
