// Arguments reads the command line of a kernel: each option is bound to the variable that takes
// its value. The options that every kernel has are known to it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "files/file.h"

namespace kernels {

enum class Format { original, ior, json, csv };

// Options that every kernel has.
struct Common {
  Format format = Format::original;
  std::map<std::string, std::string> hints;  // --hint KEY=VALUE, for MPI-IO
  bool check = true;                         // --no-check
  bool keep = false;                         // --keep: leave the files
  int64_t corrupt = -1;                      // --corrupt OFFSET
};

class Arguments {
 public:
  using Take = std::function<void(const std::string& value)>;

  // `help`: the text of --help, without the common options.
  Arguments(std::string help, Common* common);

  // Names are as the user gives them: "-F" or "--independent".
  void flag(const char* name, bool* to, bool becomes = true);
  void count(const char* name, int64_t* to, int64_t least = 0);
  void count(const char* name, int* to, int64_t least = 0);
  void size(const char* name, int64_t* to);
  void path(const char* name, std::string* to);
  // One that must be given: "-o: missing file" otherwise.
  void needed_path(const char* name, std::string* to, const char* what);
  void api(const char* name, std::initializer_list<Api> known, Api* to);
  void value(const char* name, Take take);

  // Returns the words that are not options. Ends the job with a usage error, or after --help.
  [[nodiscard]] std::vector<std::string> parse(int argc, char** argv) const;
  // For a kernel without operands: a word that is not an option is a usage error.
  void parse_all(int argc, char** argv) const;
  // For one with operands, `what` in words. Another number of them than `least` to `most` is a
  // usage error.
  [[nodiscard]] std::vector<std::string> operands(int argc, char** argv, const char* what,
                                                  size_t least = 1, size_t most = 1) const;

 private:
  struct Option {
    std::string name;
    bool has_value;
    Take take;
  };

  struct Needed {
    std::string name;
    const std::string* value;
    std::string what;
  };

  std::string help_;
  std::vector<Option> options_;
  std::vector<Needed> needed_;
};

// 4096, 4k, 1m, 2g: powers of 1024, as IOR writes them. A usage error names `option` otherwise.
int64_t size_argument(const std::string& option, const std::string& text);
int64_t count_argument(const std::string& option, const std::string& text, int64_t least = 0);

// An absolute path: Open MPI 4.1's OMPIO does not open a name without '/'.
std::string path_argument(const std::string& text);

// "POSIX", "MPIIO", "HDF5".
const char* api_name(Api api);

}  // namespace kernels
