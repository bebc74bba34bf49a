// What a command shows: a table for people, JSON for programs, from the same data.
//
// Numbers stay numbers in JSON (sizes in bytes, keys end in _bytes); people get units.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cairn::cli {

using Json = nlohmann::ordered_json;

// Columns are as wide as their widest cell; those named in `right` are aligned to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> headings, std::vector<size_t> right = {});
  void row(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::string> headings_;
  std::vector<size_t> right_;
  std::vector<std::vector<std::string>> rows_;
};

// Writes to stdout; a reader that has gone (SIGPIPE aside) or a full disk is an error.
void print(const std::string& text);
void print_json(const Json& json);
// Throws if what was printed did not arrive.
void flush_output();

// Writes to stderr. Where nobody can be told (a full disk, a reader that has gone), the work goes
// on: a run whose program has ended still drains.
void tell(const std::string& text);

// A name as a terminal may safely show it: control characters as \xNN. For JSON use json_text.
std::string printable(const std::string& name);
// Valid UTF-8 for JSON: bytes that are none become U+FFFD.
std::string json_text(const std::string& bytes);

// A line on stderr, "cairn: warning: ..." if log.level allows.
void set_log_level(const std::string& level);
void warn(const std::string& text);
void inform(const std::string& text);
// As warn(), word for word.
void note(const std::string& line);

}  // namespace cairn::cli
