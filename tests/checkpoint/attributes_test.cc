// What is noted of variables and versions, and how a program and a tool read it again.
#include <map>

#include "checkpoint/ranks.h"

namespace cairn::test {
namespace {

cairn_attribute text(const char* key, const char* value) {
  return {key, CAIRN_TYPE_CHARACTER, static_cast<uint32_t>(std::strlen(value)), value};
}

// Key → type and bytes.
using Notes = std::map<std::string, std::pair<uint32_t, std::string>>;

Notes notes_of(const cairn_attribute* attributes, uint32_t count) {
  Notes notes;
  for (uint32_t i = 0; i < count; ++i) {
    const cairn_attribute& one = attributes[i];
    const size_t size = one.type == CAIRN_TYPE_CHARACTER ? 1 : 8;
    notes[one.key] = {one.type, {static_cast<const char*>(one.values), one.count * size}};
  }
  return notes;
}

struct Described {
  cairn_checkpoint_variable variable{};
  Notes notes;
};

std::map<std::string, Described> variables_of(cairn_checkpoint* checkpoint, int64_t version) {
  std::map<std::string, Described> all;
  const auto visit = [](void* context, const cairn_checkpoint_variable* variable) {
    auto& known = *static_cast<std::map<std::string, Described>*>(context);
    known[variable->name] = {*variable, notes_of(variable->attributes, variable->attribute_count)};
    return 0;
  };
  EXPECT_EQ(cairn_checkpoint_variables(checkpoint, version, visit, &all), 0) << cairn_last_error();
  return all;
}

class Attributes : public testing::Test {
 protected:
  Attributes() : pool_(64ULL << 20) {}
  // Two rows of a matrix, with these attributes.
  int define(cairn_checkpoint* checkpoint, const char* name, Rows* rows,
             const std::vector<cairn_attribute>& attributes) {
    cairn_definition more{};
    more.struct_size = sizeof more;
    more.attributes = attributes.data();
    more.attribute_count = static_cast<uint32_t>(attributes.size());
    return rows->define(checkpoint, name, &more);
  }
  PoolInMemory pool_;
};

TEST_F(Attributes, ComeBackWithTheirTypes) {
  Rows rows(4, 0, 1);
  rows.set(7);
  cairn_checkpoint* checkpoint = open_set(pool_.get(), "noted");
  const double fill = -1e30;
  const int64_t range[] = {-3, 5};
  ASSERT_EQ(define(checkpoint, "t", &rows,
                   {text("units", "K"),
                    text("dimensions", "y x"),
                    {"_FillValue", CAIRN_TYPE_FLOAT64, 1, &fill},
                    {"valid_range", CAIRN_TYPE_INT64, 2, range}}),
            0)
      << cairn_last_error();
  ASSERT_EQ(define(checkpoint, "plain", &rows, {}), 0);
  const double time = 86400.5;
  std::string code = "model 2.1";
  cairn_attribute notes[] = {{"time", CAIRN_TYPE_FLOAT64, 1, &time}, text("code", code.c_str())};
  ASSERT_EQ(cairn_checkpoint_set_attributes(checkpoint, notes, 2), 0) << cairn_last_error();
  code = "overwritten";  // it was copied
  ASSERT_EQ(cairn_checkpoint_write(checkpoint, 7), 0) << cairn_last_error();
  ASSERT_EQ(cairn_checkpoint_set_attributes(checkpoint, nullptr, 0), 0);
  ASSERT_EQ(cairn_checkpoint_write(checkpoint, 8), 0) << cairn_last_error();
  ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0);

  checkpoint = open_set(pool_.get(), "noted");
  const auto all = variables_of(checkpoint, 7);
  ASSERT_EQ(all.size(), 2U);
  const Described& t = all.at("t");
  EXPECT_EQ(t.variable.type, static_cast<uint32_t>(CAIRN_TYPE_FLOAT64));
  EXPECT_EQ(t.variable.dimensions, 2U);
  EXPECT_EQ(t.variable.global[0], 4);
  EXPECT_EQ(t.variable.global[1], Rows::columns);
  EXPECT_EQ(t.notes.size(), 4U);
  EXPECT_EQ(t.notes.at("units").second, "K");
  EXPECT_EQ(t.notes.at("dimensions").second, "y x");
  EXPECT_EQ(t.notes.at("_FillValue").first, static_cast<uint32_t>(CAIRN_TYPE_FLOAT64));
  EXPECT_EQ(std::memcmp(t.notes.at("_FillValue").second.data(), &fill, sizeof fill), 0);
  EXPECT_EQ(std::memcmp(t.notes.at("valid_range").second.data(), range, sizeof range), 0);
  EXPECT_TRUE(all.at("plain").notes.empty());

  std::map<int64_t, Notes> versions;
  const auto visit = [](void* context, const cairn_checkpoint_info* info) {
    (*static_cast<std::map<int64_t, Notes>*>(context))[info->number] =
        notes_of(info->attributes, info->attribute_count);
    return 0;
  };
  ASSERT_EQ(cairn_checkpoint_list(checkpoint, visit, &versions), 0);
  EXPECT_EQ(versions.at(7).at("code").second, "model 2.1");
  EXPECT_EQ(std::memcmp(versions.at(7).at("time").second.data(), &time, sizeof time), 0);
  EXPECT_TRUE(versions.at(8).empty());

  // A restart learns what was noted of the version that it continues.
  ASSERT_EQ(define(checkpoint, "t", &rows, {}), 0);
  auto info = empty_info();
  ASSERT_EQ(cairn_checkpoint_read(checkpoint, 7, 0, &info), 0) << cairn_last_error();
  EXPECT_EQ(notes_of(info.attributes, info.attribute_count).at("code").second, "model 2.1");
  ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
}

TEST_F(Attributes, WrongOnesAreRefused) {
  Rows rows(4, 0, 1);
  cairn_checkpoint* checkpoint = open_set(pool_.get(), "wrong");
  const auto refused = [&](const cairn_attribute& first, const cairn_attribute& second, int error,
                           const char* says) {
    const cairn_attribute both[] = {first, second};
    EXPECT_EQ(cairn_checkpoint_set_attributes(checkpoint, both, 2), error);
    EXPECT_NE(std::string(cairn_last_error()).find(says), std::string::npos) << cairn_last_error();
    EXPECT_EQ(define(checkpoint, "t", &rows, {first, second}), error);
    EXPECT_NE(std::string(cairn_last_error()).find("'t'"), std::string::npos) << cairn_last_error();
  };
  const cairn_attribute units = text("units", "K");
  refused(units, text("units", "C"), -EINVAL, "given twice");
  refused(units, {"odd", 99, 1, "x"}, -EINVAL, "unknown type 99");
  refused(units, {"none", CAIRN_TYPE_INT8, 0, "x"}, -EINVAL, "0 values");
  refused(units, {"a/b", CAIRN_TYPE_INT8, 1, "x"}, -EINVAL, "a/b");
  refused(units, {"null", CAIRN_TYPE_INT8, 1, nullptr}, -EFAULT, "NULL");
  const std::vector<char> many(70'000, 'x');
  refused(units, {"many", CAIRN_TYPE_CHARACTER, 70'000, many.data()}, -E2BIG, "64 KiB");
  EXPECT_EQ(cairn_checkpoint_variables(checkpoint, 1, nullptr, nullptr), -EFAULT);
  const auto never = [](void*, const cairn_checkpoint_variable*) { return 1; };
  EXPECT_EQ(cairn_checkpoint_variables(checkpoint, 1, never, nullptr), -ENOENT);
  ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
}

TEST_F(Attributes, AreTheSameOnAllRanks) {
  with_ranks(2, [&](uint32_t rank) {
    Rows rows(6, rank, 2);
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = 2;
    cairn_checkpoint* checkpoint = open_set(pool_.get(), "ranks", options);
    ASSERT_EQ(define(checkpoint, "t", &rows, {text("units", rank == 0 ? "K" : "C")}), 0);
    EXPECT_EQ(cairn_checkpoint_write(checkpoint, 1), -EINVAL);
    EXPECT_NE(std::string(cairn_last_error()).find("'t' is defined differently"), std::string::npos)
        << cairn_last_error();
    ASSERT_EQ(define(checkpoint, "t", &rows, {text("units", "K")}), 0);
    EXPECT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  });
}

}  // namespace
}  // namespace cairn::test
