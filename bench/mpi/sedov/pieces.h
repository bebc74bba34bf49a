// The state of the mini-application as pieces of memory: what a checkpoint has to hold.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sedov/state.h"

namespace sedov {

constexpr size_t element_bytes = 8;  // of each array, and of each scalar

struct Piece {
  std::string name;
  char* data;
  size_t bytes;
};

// The arrays, then the scalars as one piece, `clock`. Valid while the state lives.
inline std::vector<Piece> pieces_of(State& state) {
  static_assert(sizeof(Clock) == 5 * element_bytes);
  std::vector<Piece> pieces;
  for (const Variable& variable : state.variables())
    pieces.push_back({variable.name, reinterpret_cast<char*>(variable.values->data()),
                      variable.values->size() * element_bytes});
  pieces.push_back({"clock", reinterpret_cast<char*>(&state.clock), sizeof state.clock});
  return pieces;
}

inline size_t bytes_of(State& state) {
  size_t sum = 0;
  for (const Piece& piece : pieces_of(state)) sum += piece.bytes;
  return sum;
}

}  // namespace sedov
