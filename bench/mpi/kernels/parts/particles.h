// The particles of VPIC-IO: eight variables of four bytes; the values depend on the particle's
// number in the whole file.
//
// VPIC-IO draws x, y, px and py by rand(), the same on every rank. Here they are drawn from the
// particle's global number, and id1 is that number: so any number of readers can verify them, and
// data of the wrong rank are found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kernels {

constexpr int64_t particle_bytes = 32;
constexpr int64_t value_bytes = 4;  // of every variable

enum class Kind { real, integer };  // float, int32_t

struct Variable {
  const char* name;
  Kind kind;
};

// In the order of the file.
const std::vector<Variable>& particle_variables();
// Its number, by "x" or "/Step#0/x"; -1 if there is none.
int find_variable(const std::string& path);

// Values of `variable` for particles first .. first + count - 1 of `total`. `to`: count *
// value_bytes.
void make_values(int variable, int64_t first, int64_t count, int64_t total, void* to);

}  // namespace kernels
