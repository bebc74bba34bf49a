#include "checkpoint/record/head.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/crc32c.h"
#include "checkpoint/record/records.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t longest = 1024;

std::vector<uint8_t> some_record() {
  std::vector<uint8_t> record(100);
  for (size_t i = sizeof(RecordHead); i < record.size(); ++i) record[i] = static_cast<uint8_t>(i);
  seal_record(record.data(), record.size(), magic_layout);
  return record;
}

// Changes a field and restores the checksum.
template <typename Change>
std::vector<uint8_t> changed(Change change) {
  auto record = some_record();
  auto head = record_at<RecordHead>(record.data());
  change(head);
  std::memcpy(record.data(), &head, sizeof head);
  head.crc = crc32c(crc32c(0, record.data(), 12), record.data() + 16, record.size() - 16);
  std::memcpy(record.data(), &head, sizeof head);
  return record;
}

int code_of(const std::vector<uint8_t>& record, const char* magic = magic_layout) {
  return check_record(record.data(), record.size(), magic, longest).code();
}

TEST(RecordHead, ASealedRecordIsBelieved) {
  auto record = some_record();
  record.resize(120);  // a longer file
  const auto length = check_record(record.data(), record.size(), magic_layout, longest);
  ASSERT_TRUE(length.ok()) << last_detail();
  EXPECT_EQ(*length, 100U);
  EXPECT_EQ(code_of(record, magic_decomposition), EUCLEAN);
}

TEST(RecordHead, NoChangedBitIsBelieved) {
  auto record = some_record();
  for (size_t bit = 0; bit < record.size() * 8; ++bit) {
    record[bit / 8] ^= static_cast<uint8_t>(1U << (bit % 8));
    EXPECT_EQ(code_of(record), EUCLEAN) << "bit " << bit;
    record[bit / 8] ^= static_cast<uint8_t>(1U << (bit % 8));
  }
}

TEST(RecordHead, NoShorterFileIsBelieved) {
  const auto record = some_record();
  for (size_t size = 0; size < record.size(); ++size)
    EXPECT_EQ(check_record(record.data(), size, magic_layout, longest).code(), EUCLEAN) << size;
  EXPECT_EQ(check_record(record.data(), record.size(), magic_layout, 99).code(), EUCLEAN);
}

TEST(RecordHead, NewerRecordsAreToldApartFromDamage) {
  EXPECT_EQ(code_of(changed([](RecordHead& head) { head.version = 2; })), EPROTONOSUPPORT);
  EXPECT_EQ(code_of(changed([](RecordHead& head) { head.incompatible = 4; })), EPROTONOSUPPORT);
  EXPECT_EQ(code_of(changed([](RecordHead& head) { head.compatible = 4; })), 0);
  EXPECT_EQ(code_of(changed([](RecordHead& head) { head.version = 0; })), EUCLEAN);
}

}  // namespace
}  // namespace cairn::checkpoint
