// Command lines of the kernels: what getopt_long leaves to do for numbers, sizes and common
// options.
#pragma once

#include <getopt.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

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

// Values of the long options above; a kernel's own begin at own_option.
constexpr int common_option = 1000;
constexpr int own_option = 1100;

// `own` and the common long options, ended as getopt_long wants it.
std::vector<option> with_common(std::vector<option> own);
// Whether `option` is a common one; then its value is taken from optarg.
bool take_common(int option, Common* common);
// Their lines in a --help text.
const char* common_help();

// 4096, 4k, 1m, 2g: powers of 1024, as IOR writes them. A usage error names `option` otherwise.
int64_t size_argument(const char* option, const std::string& text);
int64_t count_argument(const char* option, const std::string& text, int64_t least = 0);

// An absolute path: Open MPI 4.1's OMPIO does not open a name without '/'.
std::string path_argument(const std::string& text);

// Rank 0 prints `text`; every rank finalizes MPI and exits with 0.
[[noreturn]] void show_help(const std::string& text);
// Ends with a usage error that names the option getopt_long did not know.
[[noreturn]] void unknown_option(char** argv);

}  // namespace kernels
