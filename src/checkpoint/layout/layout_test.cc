#include "checkpoint/layout/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "checkpoint/record/attributes.h"
#include "checkpoint/record/head.h"
#include "support/sample_contents.h"

namespace cairn::checkpoint {
namespace {

TEST(Layout, IsReadAsItWasMade) {
  SampleContents sample = sample_contents();
  ASSERT_TRUE(append_attribute(&sample.definition.variables[0].attributes,
                               {"units", Type::character, 3, "m/s"})
                  .ok());
  const auto made = Layout::make(sample.definition);
  ASSERT_TRUE(made.ok()) << last_detail();
  const auto layout = Layout::read(made->record());
  ASSERT_TRUE(layout.ok()) << last_detail();
  EXPECT_EQ(layout->hash(), made->hash());
  EXPECT_EQ(layout->variables(), sample.definition.variables.size());
  for (const VariableDefinition& wanted : sample.definition.variables) {
    const auto i = layout->find(wanted.name);
    ASSERT_TRUE(i) << wanted.name;
    const Variable variable = layout->variable(*i);
    EXPECT_EQ(variable.name, wanted.name);
    EXPECT_EQ(variable.type, wanted.type);
    EXPECT_EQ(variable.element_size, wanted.element_size);
    EXPECT_EQ(variable.is_required, wanted.is_required);
    EXPECT_EQ(layout->decomposition_hash(variable.decomposition), wanted.decomposition);
    EXPECT_EQ(variable.halo_low, wanted.halo_low);
    const auto name_of = [&](std::optional<uint32_t> other) {
      return other ? layout->variable(*other).name : std::string_view();
    };
    EXPECT_EQ(name_of(variable.over), wanted.over);
    EXPECT_EQ(name_of(variable.key), wanted.key);
    std::vector<std::string> aliases;
    AliasReader reader(variable.aliases);
    for (std::string_view alias; reader.next(&alias);) aliases.emplace_back(alias);
    EXPECT_EQ(aliases, wanted.aliases);
    EXPECT_EQ(variable.attributes.size(), wanted.attributes.size());
  }
  EXPECT_FALSE(layout->find("nothing"));
  EXPECT_FALSE(layout->find(""));
}

TEST(Layout, ItsBytesDoNotDependOnTheOrderOfDefinitions) {
  std::mt19937 random(41);
  SampleContents sample = sample_contents();
  const auto first = Layout::make(sample.definition);
  ASSERT_TRUE(first.ok());
  for (int round = 0; round < 50; ++round) {
    std::shuffle(sample.definition.variables.begin(), sample.definition.variables.end(), random);
    const auto other = Layout::make(sample.definition);
    ASSERT_TRUE(other.ok());
    ASSERT_EQ(other->record(), first->record());
  }
  sample.definition.variables[0].is_required ^= true;
  const auto other = Layout::make(sample.definition);
  ASSERT_TRUE(other.ok());
  EXPECT_NE(other->hash(), first->hash());
}

TEST(Layout, MayBeEmpty) {
  LayoutDefinition definition;
  definition.ranks = 1;
  const auto made = Layout::make(definition);
  ASSERT_TRUE(made.ok()) << last_detail();
  EXPECT_TRUE(Layout::read(made->record()).ok()) << last_detail();
}

template <typename Change>
int refused(Change change) {
  SampleContents sample = sample_contents();
  change(sample.definition);
  return Layout::make(sample.definition).code();
}

TEST(Layout, RefusesBadDefinitions) {
  EXPECT_EQ(refused([](auto& d) { d.variables.push_back(d.variables[0]); }), EINVAL);
  EXPECT_EQ(refused([](auto& d) { d.variables[0].name = "a/b"; }), EINVAL);
  EXPECT_EQ(refused([](auto& d) { d.variables[0].name = std::string(300, 'a'); }), EINVAL);
  EXPECT_EQ(refused([](auto& d) { d.variables[0].aliases = {""}; }), EINVAL);
  EXPECT_EQ(refused([](auto& d) { d.variables[0].over = "nothing"; }), EINVAL);
  EXPECT_EQ(refused([](auto& d) { d.variables[0].over = d.variables[0].name; }), EINVAL);
  EXPECT_EQ(refused([](auto& d) { d.variables[0].element_size = 3; }), EINVAL);
  EXPECT_EQ(refused([](auto& d) { d.variables[0].order = {1, 1}; }), EINVAL);
  EXPECT_EQ(refused([](auto& d) { d.variables[0].dimensions = 16; }), EINVAL);
  EXPECT_EQ(refused([](auto& d) { d.variables[0].attributes = {1, 2, 3}; }), EINVAL);
  EXPECT_EQ(refused([](auto& d) { d.ranks = 0; }), EINVAL);
  EXPECT_EQ(refused([](auto& d) { d.block_shift = 17; }), EINVAL);
  EXPECT_EQ(refused([](auto& d) { d.alignment = 4095; }), EINVAL);
  EXPECT_EQ(refused([](auto& d) { d.variables.resize(max_variables + 1); }), EOVERFLOW);
}

// Sets each byte of the record to some values, under a valid checksum. A record that is accepted
// can be read to the end.
TEST(Layout, ForgedRecordsAreRefusedOrSound) {
  const auto made = Layout::make(sample_contents().definition);
  ASSERT_TRUE(made.ok());
  for (size_t at = sizeof(RecordHead); at < made->record().size(); ++at)
    for (const uint8_t value : {0, 1, 2, 3, 7, 8, 16, 20, 127, 128, 255}) {
      auto record = made->record();
      record[at] = value;
      seal_record(record.data(), record.size(), magic_layout);
      const auto forged = Layout::read(record);
      if (!forged.ok()) {
        ASSERT_TRUE(forged.code() == EUCLEAN || forged.code() == EPROTONOSUPPORT) << at;
        continue;
      }
      for (uint32_t i = 0; i < forged->variables(); ++i) {
        const Variable variable = forged->variable(i);
        ASSERT_EQ(forged->find(variable.name), i);
        ASSERT_LT(variable.decomposition, forged->decompositions());
        ASSERT_TRUE(!variable.over || *variable.over < forged->variables());
        ASSERT_TRUE(!variable.key || *variable.key < forged->variables());
      }
    }
}

TEST(Layout, ShorterRecordsAreRefused) {
  const auto made = Layout::make(sample_contents().definition);
  ASSERT_TRUE(made.ok());
  for (size_t size = sizeof(RecordHead); size < made->record().size(); ++size) {
    auto record = made->record();
    record.resize(size);
    seal_record(record.data(), record.size(), magic_layout);
    ASSERT_EQ(Layout::read(record).code(), EUCLEAN) << size;
  }
}

TEST(Layout, HugeCountsAreRefusedBeforeTheyAreUsed) {
  const auto made = Layout::make(sample_contents().definition);
  ASSERT_TRUE(made.ok());
  for (const size_t field :
       {offsetof(LayoutRecord, variables), offsetof(LayoutRecord, decompositions),
        offsetof(LayoutRecord, heap_offset), offsetof(LayoutRecord, heap_length)})
    for (const uint32_t value : {8U, 65536U, 0x7fffffffU, UINT32_MAX}) {
      auto record = made->record();
      std::memcpy(record.data() + field, &value, sizeof value);
      seal_record(record.data(), record.size(), magic_layout);
      ASSERT_EQ(Layout::read(record).code(), EUCLEAN) << field << " " << value;
    }
}

}  // namespace
}  // namespace cairn::checkpoint
