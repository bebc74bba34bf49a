// The C++ header: what an array can be, and each call.
#include <cairn/checkpoint.hpp>
#include <fstream>
#include <memory>
#include <numeric>

#include "checkpoint/ranks.h"

namespace cairn::test {
namespace {

struct Particle {
  int32_t id;
  double x;
  double y;
};

// What std::mdspan offers.
struct View {
  double* first;
  std::array<int64_t, 2> extents;
  std::array<int64_t, 2> strides;
  [[nodiscard]] size_t rank() const { return 2; }
  [[nodiscard]] int64_t extent(size_t k) const { return extents[k]; }
  [[nodiscard]] int64_t stride(size_t k) const { return strides[k]; }
  [[nodiscard]] double* data_handle() const { return first; }
};

class Cpp : public ::testing::Test {
 protected:
  Options options() {
    Options options;
    options.pool = pool_.get();
    return options;
  }
  PoolInMemory pool_{64 << 20};
};

// Columns of a matrix, dealt out to two ranks and read by three; `b` moves.
TEST_F(Cpp, ADarrayIsDealtOut) {
  constexpr int64_t columns = 7;
  const auto run = [&](uint32_t ranks, bool reads) {
    with_ranks(ranks, [&](uint32_t rank) {
      Options its = options();
      its.rank = rank;
      its.ranks = ranks;
      its.job = "test";
      Checkpoint checkpoint("dealt", CAIRN_NO_COMMUNICATOR, its);
      std::vector<double> expected;
      for (int64_t column = 0; column < columns; ++column)
        if (column % ranks == rank)
          for (const int64_t row : {0, 1})
            expected.push_back(static_cast<double>(column * 2 + row));
      std::vector<double> a = expected;
      if (reads) a.assign(a.size(), -1);
      auto b = std::make_unique<std::vector<double>>(a);
      const int64_t own = static_cast<int64_t>(a.size()) / 2;
      const Darray dealt{.global = {2, columns}, .processes = {1, ranks}};
      // As in Fortran: rows are contiguous.
      checkpoint.define("a", {a.data(), {2, own}, {8, 16}}, dealt);
      checkpoint.define(
          "b",
          [&] {
            return Array(b->data(), {2, own}, {8, 16});
          },
          dealt);
      b = std::make_unique<std::vector<double>>(*b);
      if (!reads) {
        checkpoint.begin(1);
        checkpoint.write_var("c", {a.data(), {2, own}, {8, 16}}, dealt);
        checkpoint.commit();
        EXPECT_THROW(checkpoint.define("d", a, dealt), Error) << "of another dimension";
      } else {
        checkpoint.read(1);
        EXPECT_EQ(a, expected);
        EXPECT_EQ(*b, expected);
        std::vector<double> all(2 * columns);
        checkpoint.read_var("c", {all.data(), {2, columns}, {8, 16}});
        for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<double>(i));
      }
      checkpoint.close();
    });
  };
  run(2, false);
  run(3, true);
}

TEST_F(Cpp, ArraysComeBack) {
  double scalar = 1.5;
  bool flag = true;
  std::complex<float> number{1, -2};
  std::vector<int16_t> vector{1, 2, 3};
  std::array<uint64_t, 2> array{UINT64_MAX, 7};
  char text[4] = {'a', 'b', 'c', 'd'};
  std::vector<Particle> particles{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  std::vector<double> matrix(12);
  std::iota(matrix.begin(), matrix.end(), 0.0);
  const auto expected = matrix;
  std::vector<uint16_t> halves{0x3c00, 0x4000};

  Checkpoint checkpoint("arrays", CAIRN_NO_COMMUNICATOR, options());
  checkpoint.define("scalar", scalar);
  checkpoint.define("flag", flag);
  checkpoint.define("number", number);
  checkpoint.define("vector", vector);
  checkpoint.define("array", array);
  checkpoint.define("text", text);
  checkpoint.define("x", {&particles[0].x, {3}, {sizeof(Particle)}});
  checkpoint.define("middle", std::span(particles).subspan(1, 1));
  checkpoint.define("turned", View{matrix.data(), {4, 3}, {1, 4}});
  checkpoint.define("halves", Array(halves).as(CAIRN_TYPE_FLOAT16));
  checkpoint.write(1);

  scalar = 0;
  flag = false;
  number = 0;
  vector.assign(3, 0);
  array.fill(0);
  std::memset(text, 0, sizeof text);
  particles.assign(3, {});
  matrix.assign(12, 0);
  halves.assign(2, 0);
  EXPECT_EQ(checkpoint.read().number, 1);
  EXPECT_EQ(scalar, 1.5);
  EXPECT_TRUE(flag);
  EXPECT_EQ(number, (std::complex<float>{1, -2}));
  EXPECT_EQ(vector, (std::vector<int16_t>{1, 2, 3}));
  EXPECT_EQ(array, (std::array<uint64_t, 2>{UINT64_MAX, 7}));
  EXPECT_EQ(std::string(text, 4), "abcd");
  EXPECT_EQ(particles[0].x, 2);
  EXPECT_EQ(particles[0].id, 0);
  EXPECT_EQ(particles[1].id, 4);
  EXPECT_EQ(particles[2].x, 8);
  EXPECT_EQ(matrix, expected);
  EXPECT_EQ(halves, (std::vector<uint16_t>{0x3c00, 0x4000}));

  std::vector<double> box(4);
  checkpoint.read_var("turned", {std::span(box), {2, 2}}, 1, {1, 1});
  EXPECT_EQ(box, (std::vector<double>{5, 9, 6, 10}));
  checkpoint.close();
}

TEST_F(Cpp, BlocksOfRanksComeBackOnOtherNumbers) {
  for (const uint32_t ranks : {3U, 2U, 4U}) {
    with_ranks(ranks, [&](uint32_t rank) {
      Options mine = options();
      mine.rank = rank;
      mine.ranks = ranks;
      mine.job = "cpp " + std::to_string(ranks);
      Rows rows(20, rank, ranks, 1);
      Checkpoint checkpoint("rows", CAIRN_NO_COMMUNICATOR, mine);
      checkpoint.define("rows", {rows.values.data(), {rows.count + 2, Rows::columns}},
                        Block{.global = {20, Rows::columns}, .offset = {rows.first}, .halo = {1}});
      if (const auto found = checkpoint.restart_test()) {
        EXPECT_EQ(checkpoint.read(found->number, CAIRN_READ_HALO).number, found->number);
        EXPECT_EQ(rows.difference(found->number, true), "");
      }
      rows.set(ranks);
      const auto handle = checkpoint.iwrite(ranks);
      rows.set(99);
      handle.wait();
      EXPECT_TRUE(handle.test());
      EXPECT_EQ(handle.progress().level, uint32_t{CAIRN_LEVEL_LOCAL});
      checkpoint.close();
    });
  }
}

TEST_F(Cpp, AFunctionSaysWhereAnArrayIs) {
  auto values = std::make_unique<std::vector<int>>(std::vector<int>{1, 2, 3});
  bool fails = false;
  Checkpoint checkpoint("getter", CAIRN_NO_COMMUNICATOR, options());
  checkpoint.define("values", [&] {
    if (fails) throw std::length_error("not now");
    return Array(*values);
  });
  checkpoint.write(1);
  values = std::make_unique<std::vector<int>>(3);
  Checkpoint moved = std::move(checkpoint);
  moved.read();
  EXPECT_EQ(*values, (std::vector<int>{1, 2, 3}));
  fails = true;
  EXPECT_THROW(moved.write(2), std::length_error);
  fails = false;
  moved.write(3);
  EXPECT_EQ(moved.versions().size(), 2U);
  EXPECT_EQ(moved.versions().front().number, 3);
}

TEST_F(Cpp, AVersionSaysWhatItHolds) {
  std::vector<float> values(6);
  int64_t count = 0;
  Checkpoint checkpoint("holds", CAIRN_NO_COMMUNICATOR, options());
  checkpoint.define("values", {values.data(), {2, 3}},
                    Details{.attributes = {text_attribute("units", "K")}});
  checkpoint.define("count", count, Details{.optional = true});
  checkpoint.set_attributes({text_attribute("title", "a test")});
  checkpoint.write(1);
  const auto all = checkpoint.variables();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "count");
  EXPECT_TRUE(all[0].optional);
  EXPECT_EQ(all[1].global, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(all[1].type, uint32_t{CAIRN_TYPE_FLOAT32});
  const Info info = checkpoint.read();
  ASSERT_EQ(info.attribute_count, 1U);
  EXPECT_STREQ(info.attributes[0].key, "title");
}

TEST_F(Cpp, ErrorsSayWhatTheLibrarySays) {
  std::vector<double> four(4);
  Checkpoint checkpoint("errors", CAIRN_NO_COMMUNICATOR, options());
  try {
    checkpoint.define("four", four, Block{.global = {3}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), std::errc::invalid_argument);
    EXPECT_NE(error.text().find("four"), std::string::npos) << error.text();
  }
  EXPECT_THROW(checkpoint.define("four", {std::span(four), {2, 3}}), Error);
  EXPECT_THROW(checkpoint.define("four", {four.data(), {2, 2}, {8}}), Error);
  EXPECT_THROW(checkpoint.define("four", four, Block{.global = {2, 2}}), Error);
  EXPECT_THROW(checkpoint.read(), Error);
  EXPECT_THROW(checkpoint.undefine("four"), Error);
  EXPECT_FALSE(checkpoint.restart_test().has_value());

  const double fallback = 7;
  std::vector<double> renamed(4);
  double added = 0;
  checkpoint.define("four", four);
  checkpoint.write(1);
  checkpoint.undefine("four");
  checkpoint.define("renamed", renamed, Details{.aliases = {"other", "four"}});
  checkpoint.define("added", added, Details{.optional = true, .default_value = &fallback});
  EXPECT_EQ(checkpoint.read().missing, 1U);
  EXPECT_EQ(added, 7);
  EXPECT_FALSE(checkpoint.need(3));
  checkpoint.close();
  checkpoint.close();
}

TEST_F(Cpp, ArraysWhoseLengthChanges) {
  const auto with = [this](uint32_t ranks, const auto& work) {
    with_ranks(ranks, [&](uint32_t rank) {
      Options own = options();
      own.rank = rank;
      own.ranks = ranks;
      own.job = "lists";
      Checkpoint checkpoint("lists", CAIRN_NO_COMMUNICATOR, own);
      const int64_t cells = 12 / ranks;
      std::vector<int32_t> counts(static_cast<size_t>(cells));
      std::vector<double> lists;
      std::vector<int64_t> keys;
      std::vector<float> speeds;
      std::vector<char> log;
      checkpoint.define("counts", counts, Block{.global = {12}, .offset = {rank * cells}});
      checkpoint.define("lists", lists, Counted{CAIRN_RAGGED, "counts"});
      checkpoint.define("keys", keys, Counted{CAIRN_PARTICLES, "counts"});
      checkpoint.define("speeds", speeds, Counted{CAIRN_PARTICLES, "counts", "keys"});
      checkpoint.define("log", log, Counted{});
      work(checkpoint, rank, rank * cells, counts, lists, keys, speeds, log);
      checkpoint.close();
    });
  };
  with(2, [](Checkpoint& checkpoint, uint32_t rank, int64_t first, auto& counts, auto& lists,
             auto& keys, auto& speeds, auto& log) {
    for (size_t i = 0; i < counts.size(); ++i) {
      const int64_t cell = first + static_cast<int64_t>(i);
      counts[i] = static_cast<int32_t>(cell % 4);
      for (int32_t k = 0; k < counts[i]; ++k) lists.push_back(static_cast<double>(10 * cell + k));
      keys.push_back(cell);
      speeds.push_back(static_cast<float>(cell) / 2);
    }
    log.assign(rank + 1, 'x');
    checkpoint.write(1);
  });
  with(3, [](Checkpoint& checkpoint, uint32_t rank, int64_t first, auto& counts, auto& lists,
             auto& keys, auto& speeds, auto& log) {
    checkpoint.read();
    size_t next = 0;
    for (size_t i = 0; i < counts.size(); ++i)
      for (int32_t k = 0; k < counts[i]; ++k)
        EXPECT_EQ(lists.at(next++),
                  static_cast<double>(10 * (first + static_cast<int64_t>(i)) + k));
    EXPECT_EQ(next, lists.size());
    ASSERT_EQ(keys.size(), 4U);
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(speeds.at(i), static_cast<float>(keys[i]) / 2);
    EXPECT_EQ(log.size(), rank < 2 ? rank + 1 : 0U);
    EXPECT_EQ(checkpoint.counts("log"), (std::vector<uint64_t>{1, 2}));
    for (const Variable& one : checkpoint.variables())
      EXPECT_EQ(one.key, one.name == "speeds" ? "keys" : "") << one.name;
  });
}

TEST_F(Cpp, VersionsWithVariablesOfTheirOwn) {
  int64_t always = 1;
  int64_t once = 7;
  std::vector<double> own{2.5, 3.5};
  std::vector<std::pair<int64_t, uint32_t>> reached;
  Options chosen = options();
  chosen.keep = 4;
  Checkpoint checkpoint("own", CAIRN_NO_COMMUNICATOR, chosen);
  checkpoint.observe([&](int64_t version, const cairn_checkpoint_progress& progress) {
    reached.emplace_back(version, progress.level);
  });
  checkpoint.define("always", always);
  checkpoint.begin(1);
  checkpoint.write_var("always", once);
  checkpoint.write_var("own", own, Counted{});
  checkpoint.commit();
  EXPECT_EQ(reached.back(), (std::pair<int64_t, uint32_t>(1, CAIRN_LEVEL_LOCAL)));
  checkpoint.observe(nullptr);
  checkpoint.write(2);
  EXPECT_EQ(reached.back().first, 1);
  int64_t found = 0;
  checkpoint.read_var("always", found, 1);
  EXPECT_EQ(found, 7);
  checkpoint.read_var("always", found, 2);
  EXPECT_EQ(found, 1);
  EXPECT_EQ(checkpoint.variables(1).size(), 2U);
  checkpoint.verify(1);
  checkpoint.drop(1);
  EXPECT_EQ(checkpoint.versions().size(), 1U);
  EXPECT_THROW(checkpoint.drop(2), Error);
  EXPECT_THROW(checkpoint.commit(), Error);
}

TEST_F(Cpp, ARunEndsInTimeAndLeavesACopy) {
  const TemporaryFolder folder;
  Options chosen = options();
  chosen.lower = folder.path();
  chosen.flags = CAIRN_CHECKPOINT_BACKGROUND;
  chosen.lower_multiple = 2;
  chosen.halt_file = folder.path() + "/halt";
  double value = 3;
  Checkpoint checkpoint("end", CAIRN_NO_COMMUNICATOR, chosen);
  checkpoint.define("value", value);
  checkpoint.iwrite(1).wait(CAIRN_LEVEL_GLOBAL);
  EXPECT_FALSE(checkpoint.should_exit());
  std::ofstream(chosen.halt_file).put('1');
  cairn_checkpoint_outlook outlook{};
  outlook.struct_size = sizeof outlook;
  EXPECT_TRUE(checkpoint.should_exit(&outlook));
  EXPECT_STREQ(outlook.text, "the halt file is there");
  checkpoint.close();
  chosen.halt_file.clear();
  chosen.end_time = std::chrono::system_clock::now() + std::chrono::seconds(5);
  chosen.exit_margin = std::chrono::minutes(1);
  Checkpoint last("end", CAIRN_NO_COMMUNICATOR, chosen);
  EXPECT_TRUE(last.should_exit());
}

}  // namespace
}  // namespace cairn::test
