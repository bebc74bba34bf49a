#include "model.h"

#include <mpi.h>

#include <algorithm>
#include <cstring>

namespace palm {
namespace {

constexpr int64_t ghost_layers = 3;

int64_t product(const std::vector<int64_t>& numbers) {
  int64_t result = 1;
  for (const int64_t one : numbers) result *= one;
  return result;
}

// Makes the bytes at `at` of a rank's part of a variable. Parts differ, and so do versions.
uint64_t word_at(size_t variable, int64_t version, int rank, int64_t at) {
  uint64_t x = static_cast<uint64_t>(at) * 0x9e3779b97f4a7c15U + variable * 0xbf58476d1ce4e5b9U +
               static_cast<uint64_t>(version) * 0x94d049bb133111ebU + static_cast<uint64_t>(rank);
  x ^= x >> 29;
  return x * 0xff51afd7ed558ccdU;
}

void make_run(size_t variable, int64_t version, int rank, int64_t at, char* to, int64_t bytes) {
  for (int64_t done = 0; done < bytes; done += 8) {
    const uint64_t word = word_at(variable, version, rank, at + done);
    std::memcpy(to + done, &word, static_cast<size_t>(std::min<int64_t>(8, bytes - done)));
  }
}

}  // namespace

int64_t Variable::global_bytes() const { return product(global) * element; }
int64_t Variable::box_bytes() const { return product(count) * element; }

std::vector<int64_t> Variable::extents() const {
  std::vector<int64_t> all = count;
  for (size_t k = 0; k < 2 && ghosts > 0; ++k) all[k] += 2 * ghosts;
  return all;
}

void Variable::each_run(const std::function<void(char* data, int64_t bytes)>& use) {
  if (ghosts == 0) return use(memory.data(), box_bytes());
  const int64_t column = element * (count.size() > 2 ? count[2] : 1);
  const int64_t line = (count[1] + 2 * ghosts) * column;
  for (int64_t i = 0; i < count[0]; ++i)
    use(memory.data() + (i + ghosts) * line + ghosts * column, count[1] * column);
}

void Variable::pack(char* to) {
  each_run([&](const char* data, int64_t bytes) {
    std::memcpy(to, data, static_cast<size_t>(bytes));
    to += bytes;
  });
}

void Variable::unpack(const char* from) {
  each_run([&](char* data, int64_t bytes) {
    std::memcpy(data, from, static_cast<size_t>(bytes));
    from += bytes;
  });
}

Model::Model(int64_t scale, int its_rank, int its_ranks) : rank(its_rank), ranks(its_ranks) {
  const int64_t points = 16 * scale;
  int dims[2] = {0, 0};
  MPI_Dims_create(ranks, 2, dims);
  const int64_t at[2] = {rank / dims[1], rank % dims[1]};
  for (int k = 0; k < 2; ++k) {
    box_offset_.push_back(points * at[k] / dims[k]);
    box_count_.push_back(points * (at[k] + 1) / dims[k] - box_offset_.back());
  }
  const auto named = [](const char* stem, int number) { return stem + std::to_string(number); };
  for (int i = 0; i < 192; ++i)
    add(named("scalar_", i), Kind::replicated, i < 170 ? 4 : i < 186 ? 8 : i < 191 ? 16 : 19, {});
  for (int i = 0; i < 57; ++i)
    add(named("surface_", i), Kind::line, 8, {std::max<int64_t>(points * points * 13 / 100, 1)});
  for (int i = 0; i < 21; ++i) add(named("plane_", i), Kind::box, i < 18 ? 4 : 1, {points, points});
  for (int i = 0; i < 9; ++i)
    add(named("volume_", i), Kind::box, i < 6 ? 8 : 4, {points, points, scale});
  add("table", Kind::replicated, 8, {8, 8, 58, 128});
}

void Model::add(const std::string& name, Kind kind, int64_t element, std::vector<int64_t> global) {
  Variable variable{name, kind, element, std::move(global), {}, {}};
  variable.offset.assign(variable.global.size(), 0);
  variable.count = variable.global;
  if (kind == Kind::line) {
    const int64_t all = variable.global[0];
    variable.offset[0] = all * rank / ranks;
    variable.count[0] = all * (rank + 1) / ranks - variable.offset[0];
  } else if (kind == Kind::box) {
    std::copy(box_offset_.begin(), box_offset_.end(), variable.offset.begin());
    std::copy(box_count_.begin(), box_count_.end(), variable.count.begin());
    variable.ghosts = ghost_layers;
  }
  variable.memory.resize(static_cast<size_t>(product(variable.extents()) * element));
  variables_.push_back(std::move(variable));
}

int64_t Model::global_bytes() const {
  int64_t sum = 0;
  for (const Variable& variable : variables_) sum += variable.global_bytes();
  return sum;
}

int64_t Model::box_bytes() const {
  int64_t sum = 0;
  for (const Variable& variable : variables_) sum += variable.box_bytes();
  return sum;
}

int64_t Model::largest_box() const {
  int64_t most = 0;
  for (const Variable& variable : variables_) most = std::max(most, variable.box_bytes());
  return most;
}

void Model::fill(int64_t version) {
  for (size_t i = 0; i < variables_.size(); ++i) {
    const int owner = variables_[i].kind == Kind::replicated ? 0 : rank;
    int64_t at = 0;
    variables_[i].each_run([&](char* data, int64_t bytes) {
      make_run(i, version, owner, at, data, bytes);
      at += bytes;
    });
  }
}

void Model::clear() {
  for (Variable& variable : variables_)
    std::fill(variable.memory.begin(), variable.memory.end(), char{0});
}

bool Model::holds(int64_t version) {
  bool is_same = true;
  std::vector<char> expected;
  for (size_t i = 0; i < variables_.size(); ++i) {
    const int owner = variables_[i].kind == Kind::replicated ? 0 : rank;
    int64_t at = 0;
    variables_[i].each_run([&](const char* data, int64_t bytes) {
      expected.resize(static_cast<size_t>(bytes));
      make_run(i, version, owner, at, expected.data(), bytes);
      is_same = is_same && std::memcmp(data, expected.data(), expected.size()) == 0;
      at += bytes;
    });
  }
  return is_same;
}

}  // namespace palm
