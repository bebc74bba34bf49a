// Report gathers what a kernel measured and prints it: as JSON, as CSV, or as IOR's table.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/api.h"
#include "common/latency.h"
#include "common/pattern.h"
#include "common/stopwatch.h"

namespace kernels {

constexpr double mib = 1 << 20;

// The unit of a rate.
enum class Unit { mebibytes, operations };

// One timed access (a write, a read, or a kind of call) by all ranks.
struct Access {
  std::string name;
  int repetition = 0;
  int64_t bytes = 0;           // all ranks: what they asked for, each byte of a file once
  int64_t calls = 0;           // all ranks
  int64_t block_bytes = 0;     // one rank's contiguous piece
  int64_t transfer_bytes = 0;  // the largest call
  Times times;
  double seconds = 0;    // the figure that the original reports, and its name there
  std::string original;  // "MaxTime[sec]"
  Unit unit = Unit::mebibytes;
  Percentiles latency;  // of single calls, if they were timed; on rank 0

  [[nodiscard]] double mib_per_second() const { return static_cast<double>(bytes) / mib / seconds; }
  // In its unit.
  [[nodiscard]] double rate() const {
    return unit == Unit::mebibytes ? mib_per_second() : static_cast<double>(calls) / seconds;
  }
};

// A parameter of the run, for JSON: a number, or a text if there is one.
struct Parameter {
  Parameter(std::string its_name, std::string its_text)
      : name(std::move(its_name)), text(std::move(its_text)), is_text(true) {}
  Parameter(std::string its_name, const char* its_text)
      : Parameter(std::move(its_name), std::string(its_text)) {}
  Parameter(std::string its_name, int64_t its_number)
      : name(std::move(its_name)), number(its_number) {}

  std::string name;
  std::string text;
  int64_t number = 0;
  bool is_text = false;
};

struct Report {
  std::string api;
  std::vector<Parameter> parameters;
  Hints hints;
  std::vector<Access> accesses;
  std::vector<Check> checks;

  [[nodiscard]] bool valid() const;
};

// A line for each check: bytes verified, bytes wrong.
void print_checks(const Report& report);

}  // namespace kernels
