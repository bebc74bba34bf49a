#include "common/arguments.h"

#include <getopt.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "common/job.h"

namespace kernels {
namespace {

const char* const common_help =
    "  --format F      original, ior (its table), json or csv; default original\n"
    "  --hint K=V      a hint for MPI-IO; may be repeated\n"
    "  --no-check      do not verify the data\n"
    "  --keep          leave the files\n"
    "  --corrupt N     flip one bit at offset N of a written file: the check must find it\n"
    "Sizes take k, m, g (powers of 1024). Exit codes: 0 done, 1 failed, 2 usage, 3 wrong data.\n";

Format format_argument(const std::string& text) {
  if (text == "original") return Format::original;
  if (text == "ior") return Format::ior;
  if (text == "json") return Format::json;
  if (text == "csv") return Format::csv;
  usage_error("--format: unknown format '" + text + "': expected original, ior, json or csv");
}

void take_hint(const std::string& text, std::map<std::string, std::string>* hints) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    usage_error("--hint: invalid hint '" + text + "': expected KEY=VALUE");
  (*hints)[text.substr(0, equals)] = text.substr(equals + 1);
}

// The number before the unit; `rest` is what follows it.
int64_t number(const std::string& option, const std::string& text, std::string* rest) {
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (end == text.c_str() || errno != 0 || value < 0)
    usage_error(option + ": invalid number '" + text + "'");
  *rest = end;
  return value;
}

// Rank 0 prints `text`; every rank finalizes MPI and exits with 0.
[[noreturn]] void show_help(const std::string& text) {
  if (job().rank == 0) std::fputs(text.c_str(), stdout);
  MPI_Finalize();
  std::exit(0);
}

std::string listed(std::initializer_list<Api> apis) {
  std::string text;
  size_t left = apis.size();
  for (const Api api : apis) {
    text += api_name(api);
    --left;
    text += left > 1 ? ", " : left == 1 ? " or " : "";
  }
  return text;
}

}  // namespace

Arguments::Arguments(std::string help, Common* common) : help_(std::move(help) + common_help) {
  value("--format", [=](const std::string& text) { common->format = format_argument(text); });
  value("--hint", [=](const std::string& text) { take_hint(text, &common->hints); });
  flag("--no-check", &common->check, false);
  flag("--keep", &common->keep);
  size("--corrupt", &common->corrupt);
}

void Arguments::flag(const char* name, bool* to, bool becomes) {
  options_.push_back({name, false, [=](const std::string&) { *to = becomes; }});
}

void Arguments::count(const char* name, int64_t* to, int64_t least) {
  value(name, [=](const std::string& text) { *to = count_argument(name, text, least); });
}

void Arguments::count(const char* name, int* to, int64_t least) {
  value(name, [=](const std::string& text) {
    const int64_t found = count_argument(name, text, least);
    if (found > INT_MAX) usage_error(std::string(name) + ": number '" + text + "' is too large");
    *to = static_cast<int>(found);
  });
}

void Arguments::size(const char* name, int64_t* to) {
  value(name, [=](const std::string& text) { *to = size_argument(name, text); });
}

void Arguments::path(const char* name, std::string* to) {
  value(name, [=](const std::string& text) { *to = path_argument(text); });
}

void Arguments::needed_path(const char* name, std::string* to, const char* what) {
  path(name, to);
  needed_.push_back({name, to, what});
}

void Arguments::api(const char* name, std::initializer_list<Api> known, Api* to) {
  const std::vector<Api> apis = known;
  const std::string expected = listed(known);
  value(name, [=](const std::string& text) {
    for (const Api api : apis) {
      if (text != api_name(api)) continue;
      if (api == Api::hdf5 && !have_hdf5())
        usage_error(
            "-a: this build has no parallel HDF5; install libhdf5-openmpi-dev and "
            "libhdf5-mpich-dev and build again, or use another API");
      *to = api;
      return;
    }
    usage_error(std::string(name) + ": unknown API '" + text + "': expected " + expected);
  });
}

void Arguments::value(const char* name, Take take) {
  options_.push_back({name, true, std::move(take)});
}

std::vector<std::string> Arguments::parse(int argc, char** argv) const {
  constexpr int first_long = 1000;  // beyond every letter
  std::string letters = "h";
  std::vector<option> words = {{"help", no_argument, nullptr, 'h'}};
  std::map<int, const Option*> by_code;
  for (size_t i = 0; i < options_.size(); ++i) {
    const Option& one = options_[i];
    int code = static_cast<unsigned char>(one.name[1]);
    if (one.name.starts_with("--")) {
      code = first_long + static_cast<int>(i);
      words.push_back(
          {one.name.c_str() + 2, one.has_value ? required_argument : no_argument, nullptr, code});
    } else {
      letters += one.name[1];
      if (one.has_value) letters += ':';
    }
    by_code[code] = &one;
  }
  words.push_back({nullptr, 0, nullptr, 0});
  opterr = 0;
  for (int code = 0;
       (code = getopt_long(argc, argv, letters.c_str(), words.data(), nullptr)) != -1;) {
    if (code == 'h') show_help(help_);
    const auto found = by_code.find(code);
    if (found == by_code.end())
      usage_error(std::string("unknown option or missing value: ") + argv[optind - 1] +
                  "; --help lists the options");
    found->second->take(optarg == nullptr ? "" : optarg);
  }
  for (const Needed& one : needed_)
    if (one.value->empty())
      usage_error(one.name + ": missing " + one.what + "; --help shows the usage");
  return {argv + optind, argv + argc};
}

void Arguments::parse_all(int argc, char** argv) const {
  const std::vector<std::string> rest = parse(argc, argv);
  if (!rest.empty()) usage_error("one argument too many: " + rest.front());
}

std::vector<std::string> Arguments::operands(int argc, char** argv, const char* what, size_t least,
                                             size_t most) const {
  std::vector<std::string> found = parse(argc, argv);
  if (found.size() < least || found.size() > most)
    usage_error(std::string("expected ") + what + "; --help shows the usage");
  return found;
}

int64_t size_argument(const std::string& option, const std::string& text) {
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
    usage_error(option + ": invalid size '" + text + "': expected 4096, 4k, 1m or 2g");
  if (value > INT64_MAX >> shift) usage_error(option + ": size '" + text + "' is too large");
  return value << shift;
}

int64_t count_argument(const std::string& option, const std::string& text, int64_t least) {
  std::string rest;
  const int64_t value = number(option, text, &rest);
  if (!rest.empty() || value < least)
    usage_error(option + ": invalid number '" + text + "': expected an integer from " +
                std::to_string(least));
  return value;
}

std::string path_argument(const std::string& text) {
  return std::filesystem::absolute(text).string();
}

const char* api_name(Api api) {
  return api == Api::posix ? "POSIX" : api == Api::mpiio ? "MPIIO" : "HDF5";
}

}  // namespace kernels
