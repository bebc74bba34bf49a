#include "arguments.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "job.h"

namespace kernels {
namespace {

enum : int {
  format_option = common_option,
  hint_option,
  no_check_option,
  keep_option,
  corrupt_option
};

Format format_argument(const std::string& text) {
  if (text == "original") return Format::original;
  if (text == "ior") return Format::ior;
  if (text == "json") return Format::json;
  if (text == "csv") return Format::csv;
  usage_error("--format: unknown format '" + text + "': expected original, ior, json or csv");
}

// The number before the unit; `rest` is what follows it.
int64_t number(const char* option, const std::string& text, std::string* rest) {
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (end == text.c_str() || errno != 0 || value < 0)
    usage_error(std::string(option) + ": invalid number '" + text + "'");
  *rest = end;
  return value;
}

}  // namespace

std::vector<option> with_common(std::vector<option> own) {
  own.push_back({"format", required_argument, nullptr, format_option});
  own.push_back({"hint", required_argument, nullptr, hint_option});
  own.push_back({"no-check", no_argument, nullptr, no_check_option});
  own.push_back({"keep", no_argument, nullptr, keep_option});
  own.push_back({"corrupt", required_argument, nullptr, corrupt_option});
  own.push_back({nullptr, 0, nullptr, 0});
  return own;
}

bool take_common(int option, Common* common) {
  const std::string value = optarg == nullptr ? "" : optarg;
  switch (option) {
    case format_option:
      common->format = format_argument(value);
      return true;
    case no_check_option:
      common->check = false;
      return true;
    case keep_option:
      common->keep = true;
      return true;
    case corrupt_option:
      common->corrupt = size_argument("--corrupt", value);
      return true;
    case hint_option: {
      const size_t equals = value.find('=');
      if (equals == 0 || equals == std::string::npos)
        usage_error("--hint: invalid hint '" + value + "': expected KEY=VALUE");
      common->hints[value.substr(0, equals)] = value.substr(equals + 1);
      return true;
    }
    default:
      return false;
  }
}

const char* common_help() {
  return "  --format F      original, ior (its table), json or csv; default original\n"
         "  --hint K=V      a hint for MPI-IO; may be repeated\n"
         "  --no-check      do not verify the data\n"
         "  --keep          leave the files\n"
         "  --corrupt N     flip one bit at offset N of a written file: the check must find it\n"
         "Sizes take k, m, g (powers of 1024). Exit codes: 0 done, 1 failed, 2 usage, 3 wrong "
         "data.\n";
}

int64_t size_argument(const char* option, const std::string& text) {
  std::string unit;
  const int64_t value = number(option, text, &unit);
  int shift = 0;
  if (unit == "k" || unit == "K")
    shift = 10;
  else if (unit == "m" || unit == "M")
    shift = 20;
  else if (unit == "g" || unit == "G")
    shift = 30;
  else if (!unit.empty())
    usage_error(std::string(option) + ": invalid size '" + text + "': expected 4096, 4k, 1m or 2g");
  if (value > INT64_MAX >> shift)
    usage_error(std::string(option) + ": size '" + text + "' is too large");
  return value << shift;
}

int64_t count_argument(const char* option, const std::string& text, int64_t least) {
  std::string rest;
  const int64_t value = number(option, text, &rest);
  if (!rest.empty() || value < least)
    usage_error(std::string(option) + ": invalid number '" + text + "': expected an integer from " +
                std::to_string(least));
  return value;
}

std::string path_argument(const std::string& text) {
  return std::filesystem::absolute(text).string();
}

void show_help(const std::string& text) {
  if (job().rank == 0) std::fputs(text.c_str(), stdout);
  MPI_Finalize();
  std::exit(0);
}

void unknown_option(char** argv) {
  usage_error(std::string("unknown option or missing value: ") + argv[optind - 1] +
              "; --help lists the options");
}

}  // namespace kernels
