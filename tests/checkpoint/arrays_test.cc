// What arrays may be: strided, permuted, overlapping, padded, moving, missing; and what happens
// where there is no room for them.
#include <algorithm>
#include <array>

#include "checkpoint/ranks.h"

namespace cairn::test {
namespace {

cairn_array array_of(uint32_t type, void* base, std::vector<int64_t> extents,
                     std::vector<int64_t> strides = {}) {
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = type;
  array.base = base;
  array.dimensions = static_cast<uint32_t>(extents.size());
  std::copy(extents.begin(), extents.end(), array.extent);
  std::copy(strides.begin(), strides.end(), array.stride);
  return array;
}

cairn_distribution block_of(std::vector<int64_t> global, std::vector<int64_t> offset) {
  cairn_distribution block{};
  block.struct_size = sizeof block;
  block.kind = CAIRN_BLOCK;
  std::copy(global.begin(), global.end(), block.global);
  std::copy(offset.begin(), offset.end(), block.offset);
  return block;
}

cairn_distribution replicated() {
  cairn_distribution distribution{};
  distribution.struct_size = sizeof distribution;
  distribution.kind = CAIRN_REPLICATED;
  return distribution;
}

class Arrays : public testing::Test {
 protected:
  Arrays() : pool_(64ULL << 20) {}
  cairn_checkpoint* open(uint32_t rank = 0, uint32_t ranks = 1) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = ranks;
    options.max_attempts = 100;
    return open_set(pool_.get(), "arrays", options);
  }
  static int define(cairn_checkpoint* checkpoint, const char* name, const cairn_array& array,
                    const cairn_distribution& distribution,
                    const cairn_definition* more = nullptr) {
    return cairn_checkpoint_define(checkpoint, name, &array, &distribution, more);
  }
  // Writes and forgets.
  void write(cairn_checkpoint* checkpoint, int64_t version) {
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, version), 0) << cairn_last_error();
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
  }
  void read(cairn_checkpoint* checkpoint, uint32_t missing = 0) {
    auto info = empty_info();
    ASSERT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, &info), 0)
        << cairn_last_error();
    EXPECT_EQ(info.missing, missing);
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
  }

  PoolInMemory pool_;
};

TEST_F(Arrays, AnyStrideAndAnyOrder) {
  constexpr int64_t rows = 6;
  constexpr int64_t columns = 4;
  std::array<int32_t, rows * columns> written{};
  for (int64_t i = 0; i < rows * columns; ++i)
    written[static_cast<size_t>(i)] = static_cast<int32_t>(i);
  cairn_checkpoint* checkpoint = open();
  // Row i, column j: 4 i + j. By Fortran's order in memory: i varies fastest.
  auto fortran = array_of(CAIRN_TYPE_INT32, written.data(), {rows, columns});
  fortran.flags = CAIRN_ARRAY_FORTRAN;
  ASSERT_EQ(define(checkpoint, "a", fortran, block_of({rows, columns}, {0, 0})), 0)
      << cairn_last_error();
  write(checkpoint, 1);

  std::array<int32_t, rows * columns> plain{};
  checkpoint = open();
  ASSERT_EQ(define(checkpoint, "a", array_of(CAIRN_TYPE_INT32, plain.data(), {rows, columns}),
                   block_of({rows, columns}, {0, 0})),
            0);
  read(checkpoint);
  std::array<int32_t, rows * columns> backwards{};
  checkpoint = open();
  // The last row first, columns outermost.
  ASSERT_EQ(define(checkpoint, "a",
                   array_of(CAIRN_TYPE_INT32, backwards.data() + rows - 1, {rows, columns},
                            {-4, 4 * rows}),
                   block_of({rows, columns}, {0, 0})),
            0)
      << cairn_last_error();
  read(checkpoint);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      const int32_t expected = written[static_cast<size_t>(j * rows + i)];
      EXPECT_EQ(plain[static_cast<size_t>(i * columns + j)], expected);
      EXPECT_EQ(backwards[static_cast<size_t>(j * rows + rows - 1 - i)], expected);
    }
}

TEST_F(Arrays, OneThatMoves) {
  std::vector<double> values(10, 1.5);
  cairn_definition more{};
  more.struct_size = sizeof more;
  more.context = &values;
  more.getter = [](void* context, int, cairn_array* array) {
    array->base = static_cast<std::vector<double>*>(context)->data();
    return 0;
  };
  cairn_checkpoint* checkpoint = open();
  ASSERT_EQ(define(checkpoint, "v", array_of(CAIRN_TYPE_FLOAT64, nullptr, {10}),
                   block_of({10}, {0}), &more),
            0)
      << cairn_last_error();
  values.reserve(100'000);
  write(checkpoint, 1);
  values.assign(10, 0);
  checkpoint = open();
  ASSERT_EQ(define(checkpoint, "v", array_of(CAIRN_TYPE_FLOAT64, nullptr, {10}),
                   block_of({10}, {0}), &more),
            0);
  values.reserve(500'000);
  read(checkpoint);
  EXPECT_EQ(values, std::vector<double>(10, 1.5));
  more.getter = [](void*, int, cairn_array*) { return -EHOSTDOWN; };
  checkpoint = open();
  ASSERT_EQ(define(checkpoint, "v", array_of(CAIRN_TYPE_FLOAT64, nullptr, {10}),
                   block_of({10}, {0}), &more),
            0);
  EXPECT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), -EHOSTDOWN);
  EXPECT_STREQ(cairn_last_error(), "version 1: variable 'v': its getter failed");
  cairn_checkpoint_finalize(checkpoint);
}

TEST_F(Arrays, PaddingIsNobodysValue) {
  std::array<long double, 3> values = {1.25L, -2, 3};
  for (long double& value : values) std::memset(reinterpret_cast<char*>(&value) + 10, 0x55, 6);
  cairn_checkpoint* checkpoint = open();
  ASSERT_EQ(define(checkpoint, "x", array_of(CAIRN_TYPE_FLOAT80, values.data(), {3}), replicated()),
            0)
      << cairn_last_error();
  write(checkpoint, 1);
  std::array<unsigned char, 48> bytes{};
  checkpoint = open();
  ASSERT_EQ(define(checkpoint, "x", array_of(CAIRN_TYPE_FLOAT80, bytes.data(), {3}), replicated()),
            0);
  read(checkpoint);
  for (size_t i = 0; i < 3; ++i) {
    long double value = 0;
    std::memcpy(&value, &bytes[16 * i], sizeof value);
    EXPECT_EQ(value, values[i]);
    for (size_t k = 10; k < 16; ++k) EXPECT_EQ(bytes[16 * i + k], 0);
  }
}

TEST_F(Arrays, WhereBoxesOverlapTheOwnerCounts) {
  for (const uint32_t owner : {CAIRN_OWNER_LOWEST_RANK, CAIRN_OWNER_HIGHEST_RANK}) {
    with_ranks(3, [&](uint32_t rank) {
      // [0, 4), [2, 6), [4, 8)
      std::vector<int64_t> values(4, 100 + static_cast<int64_t>(rank));
      cairn_checkpoint* checkpoint = open(rank, 3);
      auto block = block_of({8}, {2 * static_cast<int64_t>(rank)});
      block.owner = owner;
      ASSERT_EQ(define(checkpoint, "v", array_of(CAIRN_TYPE_INT64, values.data(), {4}), block), 0);
      if (cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, nullptr) == 1) {
        ASSERT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), 0);
      }
      std::fill(values.begin(), values.end(), 100 + static_cast<int64_t>(rank));
      write(checkpoint, 1);
    });
    std::vector<int64_t> values(8);
    cairn_checkpoint* checkpoint = open();
    ASSERT_EQ(
        define(checkpoint, "v", array_of(CAIRN_TYPE_INT64, values.data(), {8}), block_of({8}, {0})),
        0);
    read(checkpoint);
    if (owner == CAIRN_OWNER_LOWEST_RANK) {
      EXPECT_EQ(values, (std::vector<int64_t>{100, 100, 100, 100, 101, 101, 102, 102}));
    } else {
      EXPECT_EQ(values, (std::vector<int64_t>{100, 100, 101, 101, 102, 102, 102, 102}));
    }
  }
}

TEST_F(Arrays, WhatAVersionLacks) {
  int64_t a = 1;
  cairn_checkpoint* checkpoint = open();
  ASSERT_EQ(define(checkpoint, "a", array_of(CAIRN_TYPE_INT64, &a, {}), replicated()), 0);
  write(checkpoint, 1);
  checkpoint = open();
  std::vector<float> more(5, 7);
  const float default_value = 2.5F;
  cairn_definition optional{};
  optional.struct_size = sizeof optional;
  optional.flags = CAIRN_OPTIONAL;
  optional.default_value = &default_value;
  const auto array = array_of(CAIRN_TYPE_FLOAT32, more.data(), {5});
  ASSERT_EQ(define(checkpoint, "more", array, block_of({5}, {0}), &optional), 0);
  a = 0;
  const char* const aliases[] = {"a"};
  cairn_definition renamed{};
  renamed.struct_size = sizeof renamed;
  renamed.aliases = aliases;
  renamed.alias_count = 1;
  ASSERT_EQ(define(checkpoint, "b", array_of(CAIRN_TYPE_INT64, &a, {}), replicated(), &renamed), 0);
  read(checkpoint, 1);
  EXPECT_EQ(a, 1);
  EXPECT_EQ(more, std::vector<float>(5, 2.5F));

  checkpoint = open();
  ASSERT_EQ(define(checkpoint, "more", array, block_of({5}, {0})), 0);
  ASSERT_EQ(define(checkpoint, "a", array_of(CAIRN_TYPE_INT32, &a, {}), replicated()), 0);
  EXPECT_EQ(cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, nullptr), -ENODATA);
  EXPECT_STREQ(cairn_last_error(),
               "version 1: missing: 'more'; different: 'a' is int64, not int32");
  more.assign(5, 9);
  EXPECT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), -ENODATA);
  EXPECT_EQ(more, std::vector<float>(5, 9)) << "no array was touched";
  cairn_checkpoint_finalize(checkpoint);
}

TEST_F(Arrays, DefinitionsThatMeanNothing) {
  cairn_checkpoint* checkpoint = open();
  double value = 0;
  const auto scalar = array_of(CAIRN_TYPE_FLOAT64, &value, {});
  const auto vector = array_of(CAIRN_TYPE_FLOAT64, &value, {4});
  EXPECT_EQ(define(checkpoint, "", scalar, replicated()), -EINVAL);
  EXPECT_EQ(define(checkpoint, "a/b", scalar, replicated()), -EINVAL);
  EXPECT_EQ(define(checkpoint, "a", scalar, block_of({}, {})), -EINVAL);
  EXPECT_EQ(define(checkpoint, "a", vector, block_of({4}, {1})), -EINVAL);
  EXPECT_EQ(define(checkpoint, "a", vector, block_of({-4}, {0})), -EINVAL);
  EXPECT_EQ(define(checkpoint, "a", array_of(99, &value, {}), replicated()), -EINVAL);
  EXPECT_EQ(define(checkpoint, "a", array_of(CAIRN_TYPE_OPAQUE, &value, {}), replicated()),
            -EINVAL);
  auto unknown = replicated();
  unknown.kind = 3;
  EXPECT_EQ(define(checkpoint, "a", scalar, unknown), -EINVAL);
  auto halo = block_of({4}, {0});
  halo.halo_low[0] = 5;
  EXPECT_EQ(define(checkpoint, "a", vector, halo), -EINVAL);
  cairn_array unset = scalar;
  unset.struct_size = 0;
  EXPECT_EQ(define(checkpoint, "a", unset, replicated()), -EINVAL);
  EXPECT_EQ(cairn_checkpoint_define(checkpoint, "a", nullptr, nullptr, nullptr), -EFAULT);
  EXPECT_EQ(cairn_checkpoint_undefine(checkpoint, "a"), -ENOENT);
  EXPECT_EQ(cairn_checkpoint_write(checkpoint, CAIRN_CHECKPOINT_LATEST), -EINVAL);
  cairn_checkpoint_finalize(checkpoint);
}

// What no pool of this size can hold is refused before it is computed, and nothing else is.
TEST_F(Arrays, WhatCanNeverFitIsToldWhenItIsDefined) {
  constexpr int64_t of_all = (70LL << 20) / static_cast<int64_t>(sizeof(double));
  std::vector<double> values(of_all);
  cairn_checkpoint* checkpoint = open();
  const auto define_elements = [&](const char* name, int64_t count) {
    return define(checkpoint, name, array_of(CAIRN_TYPE_FLOAT64, values.data(), {count}),
                  block_of({count}, {0}));
  };
  EXPECT_EQ(define_elements("v", of_all), -ENOSPC);
  const std::string said = cairn_last_error();
  EXPECT_NE(said.find("variable 'v'"), std::string::npos) << said;
  EXPECT_NE(said.find("70.0 MiB, and the pool " + pool_.path() + " has 64.0 MiB"),
            std::string::npos)
      << said;
  // The sum counts, not one of them, and what a new definition replaces does not.
  EXPECT_EQ(define_elements("v", of_all / 2), 0) << cairn_last_error();
  // One version fits, and a loop needs three.
  const std::string warned = cairn_last_error();
  EXPECT_TRUE(warned.starts_with("warning: variable 'v': a version takes 35.0 MiB")) << warned;
  EXPECT_NE(warned.find("room for 3 versions (options.keep is 2)"), std::string::npos) << warned;
  EXPECT_EQ(define_elements("u", 1000), 0);
  EXPECT_EQ(cairn_checkpoint_undefine(checkpoint, "u"), 0);
  EXPECT_EQ(define_elements("w", of_all / 2), -ENOSPC);
  EXPECT_EQ(define_elements("v", of_all / 2 + 1), 0) << cairn_last_error();
  // One version fits, though two do not.
  std::fill(values.begin(), values.end(), 7.0);
  EXPECT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
  EXPECT_EQ(cairn_checkpoint_write(checkpoint, 2), -ENOSPC);
  // The set has a version, which a program may want to read into anything.
  EXPECT_EQ(define_elements("w", of_all), 0) << cairn_last_error();
  EXPECT_EQ(cairn_checkpoint_write(checkpoint, 2), -ENOSPC);
  const std::string also = cairn_last_error();
  EXPECT_NE(also.find("a version takes of this host: 105.0 MiB, and the pool"), std::string::npos)
      << also;
  ASSERT_EQ(cairn_checkpoint_undefine(checkpoint, "w"), 0);
  std::fill(values.begin(), values.end(), 0.0);
  EXPECT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), 0)
      << cairn_last_error();
  EXPECT_EQ(values[of_all / 2], 7.0);
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
}

// A full pool costs no version, and what was tried goes back.
TEST_F(Arrays, WithoutRoomTheVersionBeforeStays) {
  constexpr size_t count = (8ULL << 20) / sizeof(double);
  with_ranks(2, [&](uint32_t rank) {
    std::vector<double> values(count, 1);
    cairn_checkpoint* checkpoint = open(rank, 2);
    ASSERT_EQ(define(checkpoint, "v", array_of(CAIRN_TYPE_FLOAT64, values.data(), {count}),
                     block_of({2 * count}, {rank == 0 ? 0 : static_cast<int64_t>(count)})),
              0);
    for (const int64_t version : {1, 2, 3}) {
      std::fill(values.begin(), values.end(), static_cast<double>(version));
      ASSERT_EQ(cairn_checkpoint_write(checkpoint, version), 0) << cairn_last_error();
    }
    // A second set finds no room beside three slots of 16 MiB.
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = 2;
    cairn_checkpoint* other = open_set(pool_.get(), "other", options);
    ASSERT_EQ(define(other, "v", array_of(CAIRN_TYPE_FLOAT64, values.data(), {count}),
                     block_of({2 * count}, {rank == 0 ? 0 : static_cast<int64_t>(count)})),
              0);
    for (int tries = 0; tries < 3; ++tries)
      EXPECT_EQ(cairn_checkpoint_write(other, 1), -ENOSPC) << cairn_last_error();
    // What is needed and what is there.
    const std::string said = cairn_last_error();
    EXPECT_NE(said.find("a version takes 16.0 MiB of this host's pool "), std::string::npos)
        << said;
    EXPECT_NE(said.find(" of them free, and options.keep is 2: make it larger (cairn pool grow)"),
              std::string::npos)
        << said;
    EXPECT_EQ(cairn_checkpoint_finalize(other), 0) << cairn_last_error();
    std::fill(values.begin(), values.end(), 4.0);
    EXPECT_EQ(cairn_checkpoint_write(checkpoint, 4), 0) << cairn_last_error();
    std::fill(values.begin(), values.end(), 0.0);
    ASSERT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), 0);
    EXPECT_EQ(values, std::vector<double>(count, 4.0));
    cairn_checkpoint_finalize(checkpoint);
  });
}

}  // namespace
}  // namespace cairn::test
