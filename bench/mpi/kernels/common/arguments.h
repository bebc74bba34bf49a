// Arguments is the table of a kernel's options: each is bound to the variable that takes its value.
// The parser, --help and --describe are made from it. The options that every kernel has are in it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "common/api.h"
#include "common/description.h"
#include "common/mistakes.h"

namespace kernels {

enum class Format { original, ior, json, csv };

// Options that every kernel has.
struct Common {
  Format format = Format::original;
  Hints hints;           // --hint KEY=VALUE, for MPI-IO
  bool check = true;     // --no-check
  bool keep = false;     // --keep: leave the files
  int64_t corrupt = -1;  // --corrupt OFFSET
};

class Arguments {
 public:
  using Take = std::function<void(const std::string& value)>;

  Arguments(Description description, Common* common);
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  // `name` is as the user gives it, "-F" or "--independent"; `value` is the word for its value in
  // --help. The value that `to` has now is the option's default.
  Option& flag(const char* name, const char* help, bool* to, bool becomes = true);
  Option& count(const char* name, const char* value, const char* help, int64_t* to,
                int64_t least = 0);
  Option& count(const char* name, const char* value, const char* help, int* to, int64_t least = 0);
  Option& size(const char* name, const char* help, int64_t* to);
  Option& factor(const char* name, const char* help, double* to);
  Option& choice(const char* name, const char* value, const char* help,
                 const std::vector<std::string>& known, std::string* to);
  Option& path(const char* name, const char* value, const char* help, std::string* to);
  Option& api(const char* help, std::initializer_list<Api> known, Api* to);
  Option& text(const char* name, const char* value, const char* help, Take take);

  // An option of the original that has no effect here. `value` is "" for a flag.
  Option& ignored(const char* name, const char* value, const char* help);
  // --existing: write over files that are there. `when`: for which keys of a matrix the kernel has
  // it, as a formula.
  Option& existing(bool* to, const char* when = "1");

  // Operands, in their order. One that is not needed() may be missing at the end.
  Option& count_operand(const char* name, const char* help, int64_t* to, int64_t least = 0);
  Option& path_operand(const char* name, const char* help, std::string* to);

  // Judges what depends on several options, or on the number of ranks. job() has it, with
  // --check-only too, but nothing else of MPI may be used. Values that others depend on are
  // completed here.
  using Geometry = std::function<void(Mistakes* mistakes)>;
  // Adds one for a group of options.
  void check(Geometry check);

  // Takes the words of the command line; then `geometry` judges them together. Ends the job with a
  // usage error that names every mistake, or after --help, --describe and --check-only.
  void parse(int argc, char** argv, const Geometry& geometry);

 private:
  Option& add(const char* name, const char* value, const char* help, Option::Kind kind, Take take);
  void add_common();
  void take_words(int argc, char** argv, Mistakes* mistakes) const;
  // Returns whether all options are known.
  bool take_options(int argc, char** argv, std::set<const Option*>* given,
                    Mistakes* mistakes) const;
  void take_operands(const std::vector<std::string>& words, Mistakes* mistakes) const;
  static void take(const Option& option, const std::string& value, Mistakes* mistakes);
  [[nodiscard]] std::string operands_in_words() const;

  Description description_;
  Common* common_;
  std::string format_;  // "": not given
  bool check_only_ = false;
  int assumed_ranks_ = 0;
  int assumed_nodes_ = 0;
  std::vector<Geometry> checks_;
  std::deque<Option> options_;  // references to its elements stay valid
};

// The options that the command line has, but that have no effect.
const std::vector<std::string>& ignored_options();

// 4096, 4k, 1M, 2GiB: powers of 1024, by IOR's letters or by units. Otherwise a mistake that names
// `option`.
int64_t size_argument(const std::string& option, const std::string& text);
int64_t count_argument(const std::string& option, const std::string& text, int64_t least = 0);

// An absolute path: Open MPI 4.1's OMPIO does not open a name without '/'.
std::string path_argument(const std::string& text);

}  // namespace kernels
