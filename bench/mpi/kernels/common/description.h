// Description says what a kernel is: its options, what it measures, what it verifies, and how a
// matrix of `cairn bench` gives its options. --help and --describe print it; the runner, its schema
// and docs/user/bench-options.md are made from --describe (docs/dev/bench-kernel.md).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace kernels {

using Value = std::variant<std::monostate, bool, int64_t, double, std::string>;

// Option is an option or an operand, with its key in a matrix.
struct Option {
  enum class Kind { flag, count, size, number, choice, text, path };

  std::string name;   // "-b", "--way", or an operand's name
  std::string value;  // "SIZE"; "" for a flag
  std::string help;
  Kind kind = Kind::flag;
  std::function<void(const std::string& value)> take;
  std::vector<std::string> choices = {};
  int64_t least = 0;
  Value standard = {};  // of the kernel, if the option is not given
  bool is_operand = false;
  bool is_needed = false;
  bool is_ignored = false;  // of the original; it is accepted and has no effect here

  // The part for matrices.
  std::string key = {};        // "": a matrix gives the option as a word of `options` only
  Value key_standard = {};     // of a matrix that leaves the key out; none: not given
  Value given_for = {};        // the key's value for which the runner gives a flag
  std::string otherwise = {};  // the key's other value, if these are words
  std::string unless = {};     // the runner leaves a flag out where the cell has this key
  std::string formula = {};    // of the value; "": the key's value
  std::string file = {};       // of a path: its name in the directory of the run
  bool is_path_of_run = false;
  bool may_be_none = false;  // a size may be 0
  bool is_amount = false;    // `scale` multiplies the key
  std::string step = {};     // another key, whose multiples this one keeps to
  int root = 1;              // the bytes grow with this power of the key

  [[nodiscard]] bool is_flag() const { return kind == Kind::flag; }

  // A path, an operand or a flag that must be given.
  Option& needed();
  // A matrix gives the option by the key `called`: a value, or true for a flag. A matrix that
  // leaves out the key of a value has the kernel's own default.
  Option& as(const std::string& called);
  // The same, but a matrix that leaves out the key has `fallback`.
  Option& as(const std::string& called, Value fallback);
  // A flag that a matrix gives by false.
  Option& as_not(const std::string& called);
  // A flag that a matrix gives by the word `word` for the key. Its default is `first`, one of the
  // two.
  Option& as_word(const std::string& called, const std::string& word, const std::string& other,
                  const std::string& first);
  // A path: that of the run's directory, or of `called` in it.
  Option& in_run(const std::string& called);
  // The key is an amount of data, which `scale` multiplies. It stays a multiple of the key `step`.
  Option& grows(const std::string& step_key = "");
};

// Access that a kernel may report, with its phases in their order.
struct Measured {
  std::string access;
  std::vector<std::string> phases = {"transfer"};
  std::string unit = "MiB/s";
};

// Formulas of the keys of a matrix and of `ranks`, as bench/python/cairn_bench/plan/formula.py
// reads them.
struct Bytes {
  std::string medium;  // bytes that the kernel keeps on the medium
  std::string memory;  // of all ranks together, MPI not counted
  std::string call;    // of most calls; "": it moves no data
};

struct Description {
  std::string about;  // a noun phrase, without a full stop
  std::string usage;  // "[options] -o FILE"
  std::vector<Measured> accesses;
  std::string verifies;  // what the check compares
  Bytes bytes = {};      // `medium` is "" for a kernel that a matrix cannot name
  // Formula: not 0 where the kernel has --existing. "" for a kernel without it.
  std::string existing = {};
};

// The text of --help.
std::string help_text(const std::string& kernel, const Description& description,
                      const std::deque<Option>& options);
// The JSON object of --describe.
std::string json_text(const std::string& kernel, const Description& description,
                      const std::deque<Option>& options);

}  // namespace kernels
