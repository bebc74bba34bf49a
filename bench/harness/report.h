// The report: rows with a measured value, its interval and its bar; a table for people, JSON for
// programs.
//
// A row with a bar *holds* when the whole interval is on the right side of it, else it is *short*.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "harness/statistics.h"

namespace cairn::bench {

struct Bar {
  enum class Kind { none, at_least, at_most };
  Kind kind = Kind::none;
  double value = 0;

  static Bar at_least(double value) { return {Kind::at_least, value}; }
  static Bar at_most(double value) { return {Kind::at_most, value}; }

  [[nodiscard]] bool holds(const Interval& measured) const;
};

// How a value is shown: 0.931 as 93.1 %, 6.2 as 6.20 x, else with its unit.
enum class Unit { percent, times, nanoseconds, microseconds, milliseconds, seconds };

struct Row {
  std::string group;    // "overwrite, volatile"
  std::string what;     // "4 KiB"
  std::string against;  // "memcpy"
  Interval measured;
  Bar bar;
  Unit unit = Unit::percent;
  double ours_ns = 0;  // per call, medians; 0: not shown
  double limit_ns = 0;
  size_t pairs = 0;
  std::string note;
};

class Report {
 public:
  // Facts about the run, shown above the table and kept in the JSON.
  void fact(const std::string& key, const std::string& value);
  // Prints the row at once.
  void add(Row row);
  // A row that could not be measured here; it counts as short if it has a bar.
  void skip(const std::string& group, const std::string& what, const std::string& why);

  // The end of a program: prints what is short, writes the JSON (to nowhere if the path is empty),
  // and returns the exit code that says which.
  [[nodiscard]] int conclude(const std::string& json_path) const;

 private:
  [[nodiscard]] bool write_json(const std::string& path) const;
  // Prints what is short; returns how many rows are.
  [[nodiscard]] size_t summary() const;

  std::vector<std::pair<std::string, std::string>> facts_;
  std::vector<Row> rows_;
  std::vector<Row> skipped_;
  std::string group_;
};

std::string size_name(size_t bytes);

}  // namespace cairn::bench
