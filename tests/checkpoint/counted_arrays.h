// CountedArrays: the arrays of a rank of which it has another number of elements in each version,
// for the tests of checkpoints. Lists of values for the cells of a grid, particles with and without
// cells, bytes of the rank.
#pragma once

#include <map>
#include <vector>

#include "checkpoint/ranks.h"

namespace cairn::test {

// Where a vector of a rank is: made as large as Cairn says before it is filled.
template <typename T>
int get_vector(void* context, int purpose, cairn_array* array) {
  auto& values = *static_cast<std::vector<T>*>(context);
  if (purpose == CAIRN_ARRAY_TO_FILL) values.assign(static_cast<size_t>(array->extent[0]), T{});
  array->base = values.data();
  array->extent[0] = static_cast<int64_t>(values.size());
  return 0;
}

template <typename T>
int define_vector(cairn_checkpoint* checkpoint, const char* name, uint32_t type, uint32_t kind,
                  std::vector<T>* values, const char* over = nullptr, const char* key = nullptr) {
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = type;
  array.element_size = type == CAIRN_TYPE_OPAQUE ? sizeof(T) : 0;
  array.dimensions = 1;
  cairn_distribution distribution{};
  distribution.struct_size = sizeof distribution;
  distribution.kind = kind;
  distribution.over = over;
  distribution.key = key;
  cairn_definition more{};
  more.struct_size = sizeof more;
  more.getter = get_vector<T>;
  more.context = values;
  return cairn_checkpoint_define(checkpoint, name, &array, &distribution, &more);
}

struct CountedArrays {
  static constexpr int64_t rows = 13;
  static constexpr int64_t columns = 5;

  uint32_t rank;
  uint32_t ranks;
  bool is_fortran;     // in memory rows are the fastest
  size_t large_bytes;  // of even versions
  int64_t first;
  int64_t count;
  std::vector<int32_t> counts;
  std::vector<double> values;
  std::vector<int64_t> cells;
  std::vector<double> masses;
  std::vector<float> plain;
  std::vector<uint8_t> bytes;

  CountedArrays(uint32_t its_rank, uint32_t all, bool fortran = false, size_t large = 40'000)
      : rank(its_rank), ranks(all), is_fortran(fortran), large_bytes(large) {
    first = rows * its_rank / all;
    count = rows * (its_rank + 1) / all - first;
    counts.assign(static_cast<size_t>(count * columns), -1);
  }
  // Cells of this rank as they lie in its memory.
  template <typename Visit>
  void for_each_cell(Visit visit) {
    for (int64_t i = 0; i < count * columns; ++i) {
      const int64_t row = first + (is_fortran ? i % count : i / columns);
      const int64_t column = is_fortran ? i / count : i % columns;
      visit(static_cast<size_t>(i), row * columns + column);
    }
  }
  static int32_t count_of(int64_t cell, int64_t version) {
    return static_cast<int32_t>((cell * 7 + version) % 4);
  }
  static double value(int64_t cell, int64_t i, int64_t version) {
    return static_cast<double>(version) * 1e6 + static_cast<double>(cell * 100 + i);
  }
  [[nodiscard]] std::vector<uint8_t> bytes_of(int64_t version) const {
    return std::vector<uint8_t>(3 * size_t{rank} + (version % 2 == 0 ? large_bytes : 1),
                                static_cast<uint8_t>(rank + 1 + 16 * version));
  }
  void set(int64_t version) {
    values.clear();
    cells.clear();
    masses.clear();
    plain.clear();
    for_each_cell([&](size_t i, int64_t cell) {
      counts[i] = count_of(cell, version);
      for (int32_t k = 0; k < counts[i]; ++k) values.push_back(value(cell, k, version));
      // Every third particle has left the rank of its cell.
      for (int32_t k = 0; k <= count_of(cell, version + 1); ++k) {
        cells.push_back(k == 2 ? (cell + 31) % (rows * columns) : cell);
        masses.push_back(value(cells.back(), 1000 * cell + k, version));
      }
    });
    for (int i = 0; i < 7 + 5 * static_cast<int>(rank) + static_cast<int>(version % 3); ++i)
      plain.push_back(static_cast<float>(1000 * rank + static_cast<uint32_t>(i)) +
                      static_cast<float>(100'000 * version));
    bytes = bytes_of(version);
  }
  int define_grid(cairn_checkpoint* checkpoint) {
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = CAIRN_TYPE_INT32;
    array.dimensions = 2;
    array.flags = is_fortran ? CAIRN_ARRAY_FORTRAN : 0;
    array.base = counts.data();
    array.extent[0] = count;
    array.extent[1] = columns;
    cairn_distribution block{};
    block.struct_size = sizeof block;
    block.kind = CAIRN_BLOCK;
    block.global[0] = rows;
    block.global[1] = columns;
    block.offset[0] = first;
    return cairn_checkpoint_define(checkpoint, "counts", &array, &block, nullptr);
  }
  int define(cairn_checkpoint* checkpoint) {
    int result = define_grid(checkpoint);
    const auto add = [&](int one) { result = result == 0 ? one : result; };
    add(define_vector(checkpoint, "values", CAIRN_TYPE_FLOAT64, CAIRN_RAGGED, &values, "counts"));
    add(define_vector(checkpoint, "cell", CAIRN_TYPE_INT64, CAIRN_PARTICLES, &cells, "counts"));
    add(define_vector(checkpoint, "mass", CAIRN_TYPE_FLOAT64, CAIRN_PARTICLES, &masses, "counts",
                      "cell"));
    add(define_vector(checkpoint, "plain", CAIRN_TYPE_FLOAT32, CAIRN_PARTICLES, &plain));
    add(define_vector(checkpoint, "bytes", CAIRN_TYPE_OPAQUE, CAIRN_PER_RANK, &bytes));
    return result;
  }
  // "" or what this rank has of the version that is wrong by itself.
  std::string difference(int64_t version, uint32_t writers) {
    size_t next = 0;
    std::string wrong;
    for_each_cell([&](size_t i, int64_t cell) {
      if (counts[i] != count_of(cell, version)) wrong = "count of cell " + std::to_string(cell);
      for (int32_t k = 0; k < count_of(cell, version); ++k, ++next)
        if (next >= values.size() || values[next] != value(cell, k, version))
          wrong = "value " + std::to_string(k) + " of cell " + std::to_string(cell);
    });
    if (wrong.empty() && next != values.size()) wrong = "too many values";
    for (const int64_t cell : cells)
      if (cell / columns < first || cell / columns >= first + count)
        wrong = "a particle of cell " + std::to_string(cell);
    if (cells.size() != masses.size()) wrong = "masses and cells differ";
    if (bytes != (rank < writers ? bytes_of(version) : std::vector<uint8_t>()))
      wrong = "bytes: " + std::to_string(bytes.size());
    return wrong;
  }
  [[nodiscard]] bool is_untouched() const {
    return counts[0] == -1 && values.empty() && cells.empty() && masses.empty() && plain.empty() &&
           bytes.empty();
  }
};

// "" or what all ranks have of a version that is wrong: a particle is lost or there twice, those
// without cells are in another order, or what a rank has by itself.
inline std::string difference_of_all(std::vector<CountedArrays>& states, int64_t version,
                                     uint32_t writers) {
  std::multimap<int64_t, double> found;
  std::multimap<int64_t, double> expected;
  std::vector<float> plain;
  std::vector<float> expected_plain;
  for (CountedArrays& state : states) {
    if (const std::string wrong = state.difference(version, writers); !wrong.empty())
      return "rank " + std::to_string(state.rank) + ": " + wrong;
    for (size_t i = 0; i < state.cells.size(); ++i) found.emplace(state.cells[i], state.masses[i]);
    plain.insert(plain.end(), state.plain.begin(), state.plain.end());
  }
  for (uint32_t rank = 0; rank < writers; ++rank) {
    CountedArrays state(rank, writers);
    state.set(version);
    for (size_t i = 0; i < state.cells.size(); ++i)
      expected.emplace(state.cells[i], state.masses[i]);
    expected_plain.insert(expected_plain.end(), state.plain.begin(), state.plain.end());
  }
  const auto sorted = [](const std::multimap<int64_t, double>& all) {
    std::vector<std::pair<int64_t, double>> list(all.begin(), all.end());
    std::sort(list.begin(), list.end());
    return list;
  };
  if (sorted(found) != sorted(expected)) return "other particles";
  return plain == expected_plain ? "" : "other particles without cells";
}

}  // namespace cairn::test
