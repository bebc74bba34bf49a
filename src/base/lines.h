// Lines takes a text apart at its line ends.
#pragma once

#include <string_view>

namespace cairn {

class Lines {
 public:
  // The text has to outlive the lines.
  explicit Lines(std::string_view text) : left_(text) {}

  // The next line, without its end. False: the text has no more of them; an end of the text behind
  // the last line end is not a line.
  bool next(std::string_view* line) {
    if (left_.empty()) return false;
    *line = left_.substr(0, left_.find('\n'));
    left_.remove_prefix(line->size() < left_.size() ? line->size() + 1 : line->size());
    return true;
  }

 private:
  std::string_view left_;
};

}  // namespace cairn
