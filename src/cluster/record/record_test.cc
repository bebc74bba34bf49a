#include "cluster/record/record.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>

#include "base/crc32c.h"

namespace cairn::cluster {
namespace {

class RecordTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/cairn-record-XXXXXX";
    directory = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  static Record example() {
    Record record;
    for (size_t i = 0; i < record.uuid.size(); ++i) record.uuid[i] = static_cast<uint8_t>(i * 17);
    record.epoch = 7;
    record.size = 1 << 30;
    record.mode = 0640;
    record.base = {true, 11, 12, 13, 14, 15};
    record.nodes = {{{1}, "node0", "/dev/shm/a"}, {{2}, "node1", "/dev/shm/b"}};
    record.map.add({0, 100, 0, 1}, 0);
    record.map.add({50, 10, 20, 5}, 1);
    return record;
  }
  std::string directory;
};

TEST_F(RecordTest, IsReadAsWritten) {
  const Record record = example();
  ASSERT_TRUE(write_record(directory, "a/b/file", record, true).ok()) << last_detail();
  EXPECT_EQ(write_record(directory, "a/b/file", record, true).code(), EEXIST);
  ASSERT_TRUE(write_record(directory, "a/b/file", record, false).ok());
  auto read = read_record(directory, "a/b/file");
  ASSERT_TRUE(read.ok()) << last_detail();
  EXPECT_EQ(bytes_of(*read), bytes_of(record));
  EXPECT_EQ(read->nodes[1].host, "node1");
  EXPECT_EQ(read->map.shares().size(), 2U);
  std::vector<std::string> all;
  ASSERT_TRUE(for_each_shared(directory, [&](const std::string& path) {
                all.push_back(path);
                return Status();
              }).ok());
  EXPECT_EQ(all, std::vector<std::string>{"a/b/file"});
  ASSERT_TRUE(remove_record(directory, "a/b/file").ok());
  EXPECT_EQ(read_record(directory, "a/b/file").code(), ENOENT);
  EXPECT_EQ(remove_record(directory, "a/b/file").code(), ENOENT);
}

TEST_F(RecordTest, EveryDamagedByteIsNoticed) {
  const auto bytes = bytes_of(example());
  for (size_t i = 0; i < bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] ^= 1;
    EXPECT_FALSE(record_of(damaged.data(), damaged.size(), "f").ok()) << "byte " << i;
    EXPECT_FALSE(record_of(bytes.data(), i, "f").ok()) << "cut at " << i;
  }
  EXPECT_TRUE(record_of(bytes.data(), bytes.size(), "f").ok());
}

TEST_F(RecordTest, ALaterVersionIsRefusedByName) {
  auto bytes = bytes_of(example());
  bytes[8] = 9;
  EXPECT_EQ(record_of(bytes.data(), bytes.size(), "f").code(), EPROTONOSUPPORT);
  EXPECT_NE(std::string(last_detail()).find("version 9"), std::string::npos);
}

TEST_F(RecordTest, OfVersionOneHasABaseWithoutATimeOfCreation) {
  constexpr size_t birth_at = 104;
  constexpr size_t checked_from = 16;
  auto bytes = bytes_of(example());
  bytes[8] = 1;
  bytes.erase(bytes.begin() + birth_at, bytes.begin() + birth_at + sizeof(uint64_t));
  const uint32_t crc = crc32c(0, bytes.data() + checked_from, bytes.size() - checked_from);
  std::memcpy(bytes.data() + 12, &crc, sizeof crc);
  auto read = record_of(bytes.data(), bytes.size(), "f");
  ASSERT_TRUE(read.ok()) << last_detail();
  EXPECT_EQ(read->base.end, 14U);
  EXPECT_EQ(read->base.birth, 0U);
  EXPECT_EQ(read->nodes.size(), 2U);
}

TEST_F(RecordTest, ModesThatAreNoPermissionsAreDamage) {
  Record record = example();
  record.mode = S_IFREG | 0644;
  const auto bytes = bytes_of(record);
  EXPECT_EQ(record_of(bytes.data(), bytes.size(), "f").code(), EUCLEAN);
}

TEST_F(RecordTest, PathsStayBelowTheDirectory) {
  for (const char* path : {"f", "a/b", "..a/b..", ".cairnx", "a/.cairn/b", ".hidden"})
    EXPECT_TRUE(is_path_below(path)) << path;
  for (const char* path : {"", "/", "/f", "f/", "a//b", ".", "..", "a/..", "../f", "a/./b",
                           ".cairn", ".cairn/f", ".cairn-claim", "a/.cairn-claim"})
    EXPECT_FALSE(is_path_below(path)) << path;
  EXPECT_FALSE(is_path_below(std::string("a\0b", 3)));
  for (const char* path : {"../f", ".cairn/f"}) {
    EXPECT_EQ(write_record(directory, path, example(), true).code(), EINVAL) << path;
    EXPECT_FALSE(read_record(directory, path).ok()) << path;
  }
}

TEST_F(RecordTest, NobodyElseCanReadOrWriteIt) {
  ASSERT_TRUE(write_record(directory, "d/f", example(), true).ok()) << last_detail();
  struct stat st = {};
  for (const auto& [below, mode] : {std::pair{"", 01700U}, {"/d", 0700U}, {"/d/f.record", 0600U}}) {
    ASSERT_EQ(stat((directory + "/" + records_directory + below).c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777, mode) << below;
  }
}

// In a records directory of the user's: what others could write to once.
TEST_F(RecordTest, WhatIsNoFileOfTheUsersIsNoRecord) {
  ASSERT_TRUE(write_record(directory, "real/f", example(), true).ok()) << last_detail();
  const std::string top = directory + "/" + records_directory;
  ASSERT_EQ(symlink("real", (top + "/link").c_str()), 0);
  ASSERT_EQ(symlink("real/f.record", (top + "/s.record").c_str()), 0);
  ASSERT_EQ(mkfifo((top + "/p.record").c_str(), 0600), 0);
  ASSERT_TRUE(write_record(directory, "w", example(), true).ok());
  ASSERT_EQ(chmod((top + "/w.record").c_str(), 0622), 0);
  ASSERT_TRUE(write_record(directory, "open/f", example(), true).ok());
  ASSERT_EQ(chmod((top + "/open").c_str(), 0777), 0);
  std::vector<std::string> all;
  ASSERT_TRUE(for_each_shared(directory, [&](const std::string& path) {
                all.push_back(path);
                return Status();
              }).ok());
  EXPECT_EQ(all, std::vector<std::string>{"real/f"});
  for (const char* path : {"link/f", "s", "p", "w"})
    EXPECT_EQ(read_record(directory, path).code(), ENOENT) << path;
  for (const char* path : {"link/f", "s", "p", "w", "open/f"}) {
    EXPECT_EQ(write_record(directory, path, example(), false).code(), EPERM) << path;
    EXPECT_EQ(write_record(directory, path, example(), true).code(), EPERM) << path;
    EXPECT_EQ(remove_record(directory, path).code(), ENOENT) << path;
  }
  ASSERT_TRUE(clean_records(directory).ok());
  struct stat st = {};
  for (const char* name : {"link", "s.record", "p.record", "w.record", "open/f.record"})
    EXPECT_EQ(lstat((top + "/" + name).c_str(), &st), 0) << name;
}

TEST_F(RecordTest, MarksAndAsideFilesGoWithIt) {
  const Record record = example();
  ASSERT_TRUE(write_record(directory, "f", record, true).ok());
  ASSERT_TRUE(write_record(directory, "f2", record, true).ok());
  for (const std::string& path :
       {aside_path(directory, "f", record), mark_path(directory, "f", record, {1}),
        aside_path(directory, "f2", record)}) {
    FILE* file = fopen(path.c_str(), "w");
    ASSERT_NE(file, nullptr);
    fclose(file);
  }
  ASSERT_TRUE(forget_collected(directory, "f").ok());
  struct stat st = {};
  EXPECT_NE(stat(aside_path(directory, "f", record).c_str(), &st), 0);
  EXPECT_NE(stat(mark_path(directory, "f", record, {1}).c_str(), &st), 0);
  EXPECT_EQ(stat(aside_path(directory, "f2", record).c_str(), &st), 0);
  EXPECT_TRUE(read_record(directory, "f").ok());
}

TEST_F(RecordTest, WhatAKilledWriterLeftGoes) {
  const Record record = example();
  ASSERT_TRUE(write_record(directory, "d/f", record, true).ok());
  const std::string digits = "0123456789abcdef0123456789abcdef";
  const std::string left = record_path(directory, "d/f") + ".new-" + digits;
  const std::string gone = record_path(directory, "e/f") + ".new-" + digits;
  // A file of this name has a record of its own.
  ASSERT_TRUE(write_record(directory, "d/f.record.new-" + digits, record, true).ok());
  ASSERT_TRUE(write_record(directory, "e/f", record, true).ok());
  for (const std::string& path : {left, gone}) {
    FILE* file = fopen(path.c_str(), "w");
    ASSERT_NE(file, nullptr);
    fclose(file);
  }
  ASSERT_TRUE(remove_record(directory, "e/f").ok());
  ASSERT_TRUE(clean_records(directory).ok());
  struct stat st = {};
  EXPECT_NE(stat(left.c_str(), &st), 0);
  EXPECT_NE(stat((directory + "/" + records_directory + "/e").c_str(), &st), 0);
  EXPECT_TRUE(read_record(directory, "d/f").ok());
  EXPECT_TRUE(read_record(directory, "d/f.record.new-" + digits).ok());
}

}  // namespace
}  // namespace cairn::cluster
