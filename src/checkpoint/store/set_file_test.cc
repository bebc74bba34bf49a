#include "checkpoint/store/set_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>

#include "checkpoint/record/head.h"
#include "checkpoint/store/new_file.h"
#include "checkpoint/store/set_names.h"
#include "file/data/io.h"
#include "support/fresh_pool.h"
#include "tier/record/record.h"
#include "tier/system/pool_file.h"

namespace cairn::checkpoint {
namespace {

class SetFileTest : public file::FreshPool {
 protected:
  std::unique_ptr<SetFile> make(const std::string& name) {
    auto uuid = draw_uuid();
    EXPECT_TRUE(uuid.ok());
    auto set = SetFile::open_or_make(*fs, name, *uuid);
    EXPECT_TRUE(set.ok()) << last_detail();
    return set.ok() ? std::move(*set) : nullptr;
  }
  int code_of(const std::string& name) { return SetFile::open(*fs, name).code(); }
  // Writes copies of the record of a set anew.
  void put(const SetFile& set, const void* record,
           const std::vector<uint64_t>& offsets = {0, set_copy_offset}) {
    auto number = tier::find_child(*fs, set.directory(), "set");
    ASSERT_TRUE(number.ok());
    tier::PoolFile file(*fs, *number, O_RDWR);
    ASSERT_TRUE(file.status().ok());
    for (const uint64_t offset : offsets)
      ASSERT_TRUE(file::write_at(*file, record, sizeof(SetRecord), offset).ok());
  }
  std::vector<uint8_t> bytes_of(const SetFile& set) {
    const auto bytes = read_whole(*fs, set.directory(), "set", set_copy_offset + sizeof(SetRecord));
    EXPECT_TRUE(bytes.ok()) << last_detail();
    return *bytes;
  }
};

TEST_F(SetFileTest, IsMadeOnceAndFoundAgain) {
  EXPECT_EQ(code_of("field"), ENOENT);
  const auto set = make("field");
  ASSERT_NE(set, nullptr);
  const auto again = make("field");
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(std::memcmp(again->record().set, set->record().set, 16), 0);
  EXPECT_EQ(again->directory(), set->directory());
  const auto other = make("other");
  ASSERT_NE(other, nullptr);
  EXPECT_NE(std::memcmp(other->record().set, set->record().set, 16), 0);
}

TEST_F(SetFileTest, ProcessesThatMakeItTogetherGetOneSet) {
  std::array<std::unique_ptr<SetFile>, 6> sets;
  std::vector<std::thread> threads;
  for (auto& set : sets) threads.emplace_back([&] { set = make("field"); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& set : sets) {
    ASSERT_NE(set, nullptr);
    EXPECT_EQ(std::memcmp(set->record().set, sets[0]->record().set, 16), 0);
  }
}

TEST_F(SetFileTest, ItsWordsAreShared) {
  const auto set = make("field");
  const auto again = make("field");
  ASSERT_TRUE(set != nullptr && again != nullptr);
  for (uint64_t offset = set_lock_offset; offset < set_bytes; offset += 4096 - 8) {
    const auto word = set->word(offset);
    const auto same = again->word(offset);
    ASSERT_TRUE(word.ok() && same.ok()) << last_detail();
    EXPECT_EQ((*word)->load(), 0U);
    fs->pool.store(**word, offset);
    EXPECT_EQ((*same)->load(), offset);
  }
  EXPECT_EQ(set->word(set_bytes).code(), ENXIO);
}

TEST_F(SetFileTest, NamesStayInTheirDirectory) {
  for (const char* name : {"", ".", "..", ".x", "a/b", "a b", "\xc3\xa4"})
    EXPECT_EQ(code_of(name), EINVAL) << name;
  EXPECT_EQ(code_of(std::string(65, 'a')), EINVAL);
  EXPECT_NE(make(std::string(64, 'a')), nullptr);
  EXPECT_NE(make("A.b_c-1"), nullptr);
}

TEST_F(SetFileTest, NoChangedByteIsBelieved) {
  const auto set = make("field");
  ASSERT_NE(set, nullptr);
  std::array<uint8_t, sizeof(SetRecord)> record;
  std::memcpy(record.data(), &set->record(), record.size());
  for (uint8_t& byte : record) {
    byte ^= 0x10;
    put(*set, record.data());
    ASSERT_EQ(code_of("field"), EUCLEAN) << &byte - record.data();
    byte ^= 0x10;
  }
  put(*set, record.data());
  EXPECT_EQ(code_of("field"), 0);
}

TEST_F(SetFileTest, OneCopyMendsTheOther) {
  const auto set = make("field");
  ASSERT_NE(set, nullptr);
  const std::vector<uint8_t> before = bytes_of(*set);
  SetRecord damaged = set->record();
  damaged.set[3] ^= 1;
  SetRecord none{};  // as an earlier Cairn leaves the second one
  for (const uint64_t offset : {uint64_t{0}, set_copy_offset}) {
    for (const SetRecord* record : {&damaged, &none}) {
      put(*set, record, {offset});
      EXPECT_NE(bytes_of(*set), before);
      EXPECT_EQ(code_of("field"), 0) << last_detail();
      EXPECT_EQ(bytes_of(*set), before) << offset;
    }
  }
}

TEST_F(SetFileTest, TheNewestVersionIsNoted) {
  const auto set = make("field");
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->newest_committed(), 0U);
  set->note_newest(7);
  EXPECT_EQ(make("field")->newest_committed(), 7U);
  EXPECT_TRUE(set->forget_newest(6).ok());
  EXPECT_EQ(set->newest_committed(), 7U) << "another version is dropped";
  EXPECT_TRUE(set->forget_newest(7).ok());
  EXPECT_EQ(set->newest_committed(), 0U);
  set->note_newest(7);
  const auto word = set->word(set_newest_offset);
  ASSERT_TRUE(word.ok());
  fs->pool.store(**word, 5);
  EXPECT_EQ(set->newest_committed(), 0U);
}

TEST_F(SetFileTest, ACopyDoesNotCount) {
  const auto set = make("field");
  ASSERT_NE(set, nullptr);
  const auto code_with = [&](auto change) {
    SetRecord record = set->record();
    change(record);
    auto* bytes = reinterpret_cast<uint8_t*>(&record);
    const uint32_t features = record.head.incompatible;
    seal_record(bytes, sizeof record, magic_set);
    EXPECT_EQ(record.head.incompatible, features);
    put(*set, &record);
    return code_of("field");
  };
  EXPECT_EQ(code_with([](SetRecord& r) { r.pool[0] ^= 1; }), EUCLEAN);
  EXPECT_EQ(code_with([](SetRecord& r) { r.name[0] = 'F'; }), EUCLEAN);
  EXPECT_EQ(code_with([](SetRecord& r) { r.name_length = 4; }), EUCLEAN);
  EXPECT_EQ(code_with([](SetRecord& r) { r.head.incompatible = 1; }), EPROTONOSUPPORT);
  EXPECT_EQ(code_with([](SetRecord& r) { r.created = 0; }), 0);
}

}  // namespace
}  // namespace cairn::checkpoint
