// Model makes the variables of PALM's restart data on this rank: the counts and proportions of a
// domain of 4096 x 4096 x 256 points, on a smaller one.
//
//   192 scalars (907 B), a 4-D table: replicated
//    57 one-dimensional: surface elements, 0.13 for each column of the grid, in the order of ranks
//    21 two-dimensional: (i, j) of the rank's box, 75 B for each column
//     9 three-dimensional: (i, j, k), 60 B for each point
//
// Arrays of the horizontal grid have three ghost layers around the rank's box; k lies together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace palm {

enum class Kind { replicated, line, box };

struct Variable {
  std::string name;
  Kind kind;
  int64_t element;              // bytes
  std::vector<int64_t> global;  // extents; the first varies slowest
  std::vector<int64_t> offset;  // of this rank's box
  std::vector<int64_t> count;
  int64_t ghosts = 0;  // on both sides of the first two dimensions
  std::vector<char> memory{};

  [[nodiscard]] int64_t global_bytes() const;
  [[nodiscard]] int64_t box_bytes() const;
  [[nodiscard]] std::vector<int64_t> extents() const;  // ghosts included
  // The box's bytes, piece by piece, as they lie together in memory and in the box.
  void each_run(const std::function<void(char* data, int64_t bytes)>& use);
  void pack(char* to);
  void unpack(const char* from);
};

class Model {
 public:
  // `scale`: levels of the grid; it has 16 times as many points in i and in j.
  Model(int64_t scale, int rank, int ranks);

  std::vector<Variable>& variables() { return variables_; }
  [[nodiscard]] int64_t global_bytes() const;
  [[nodiscard]] int64_t box_bytes() const;    // of this rank's boxes
  [[nodiscard]] int64_t largest_box() const;  // of one variable
  void fill(int64_t version);
  void clear();
  // False: some element is not that of `version`.
  bool holds(int64_t version);

  int rank;
  int ranks;

 private:
  void add(const std::string& name, Kind kind, int64_t element, std::vector<int64_t> global);
  std::vector<Variable> variables_;
  std::vector<int64_t> box_offset_;  // of the horizontal grid
  std::vector<int64_t> box_count_;
};

}  // namespace palm
