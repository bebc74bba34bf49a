// Prints the output of a command: a table for people, JSON for programs, from the same data.
//
// Numbers stay numbers in JSON (sizes in bytes, keys end in _bytes); people get units.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cairn::cli {

using Json = nlohmann::ordered_json;

// Columns are as wide as their widest cell; those named in `right` are aligned to the right. Cells
// are printable.
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

// A text of one line as a terminal may show it: hidden characters, line ends among them, as \xNN
// (cairn/adapter/printable.h). A text that is printable already stays as it is.
std::string printable(std::string_view text);

namespace detail {
template <typename T>
auto as_printable(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>)
    return printable(std::string_view(value));
  else
    return value;
}
template <typename... Values>
std::string format_values(fmt::string_view format, const Values&... values) {
  return fmt::vformat(format, fmt::make_format_args(values...));
}
}  // namespace detail

// Formats a text for a terminal: makes every text among the values printable. Line ends are those
// of `format`.
template <typename... Values>
std::string format_printable(fmt::format_string<const Values&...> format, const Values&... values) {
  return detail::format_values(format, detail::as_printable(values)...);
}

// Writes lines to stdout, with hidden characters other than line ends as \xNN. A closed pipe
// (SIGPIPE aside) or a full disk is an error.
void print_lines(std::string_view lines);
template <typename... Values>
void print(fmt::format_string<const Values&...> format, const Values&... values) {
  print_lines(format_printable<Values...>(format, values...));
}
void print_json(const Json& json);
// JSON in one line, in ASCII. Bytes that are not UTF-8 become U+FFFD.
std::string json_line(const Json& json);
// Throws if what was printed did not arrive.
void flush_output();

// Writes to stderr. If that fails (a full disk, a reader that has closed the pipe), the command
// goes on: a run whose program has ended still drains.
void tell_lines(std::string_view lines);
template <typename... Values>
void tell(fmt::format_string<const Values&...> format, const Values&... values) {
  tell_lines(format_printable<Values...>(format, values...));
}
// Replaces the last line that stderr shows on a terminal, or clears it.
void show_over(std::string_view line);
void clear_line();

// Makes valid UTF-8 for JSON: other bytes become U+FFFD.
std::string json_text(const std::string& bytes);

// warn() and inform() print a line on stderr, "cairn: warning: ..." if log.level allows it.
void set_log_level(const std::string& level);
void warn(const std::string& text);
void inform(const std::string& text);
// Prints a line to stderr as warn() does, with nothing in front of it.
void note(const std::string& text);

}  // namespace cairn::cli
