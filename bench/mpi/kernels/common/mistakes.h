// Mistakes gathers what is wrong with a command line, so that one start names all of it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace kernels {

class Mistakes {
 public:
  void add(const std::string& text) { texts_.push_back(text); }
  [[nodiscard]] bool empty() const { return texts_.empty(); }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
};

// A mistake in the value of one option. Arguments catches it and goes on with the next option.
struct Mistake {
  std::string text;
};
[[noreturn]] inline void mistake(const std::string& text) { throw Mistake{text}; }

// "a, b or c"
inline std::string listed(const std::vector<std::string>& words) {
  std::string text;
  size_t left = words.size();
  for (const std::string& word : words) {
    text += word;
    --left;
    text += left > 1 ? ", " : left == 1 ? " or " : "";
  }
  return text;
}

// Adds a mistake if a file of so many bytes cannot be: their product is 2^63 or more.
inline void check_file_size(const char* option, std::initializer_list<int64_t> factors,
                            Mistakes* mistakes) {
  int64_t product = 1;
  for (const int64_t factor : factors) {
    if (!__builtin_mul_overflow(product, factor, &product)) continue;
    mistakes->add(std::string(option) + ": too large: the file would have more than 2^63 bytes");
    return;
  }
}

}  // namespace kernels
