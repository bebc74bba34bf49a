#include "common/arguments.h"

#include <getopt.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

#include "common/job.h"

namespace kernels {
namespace {

std::vector<std::string> given_in_vain;

Format format_argument(const std::string& text) {
  if (text == "ior") return Format::ior;
  if (text == "json") return Format::json;
  return text == "csv" ? Format::csv : Format::original;
}

void take_hint(const std::string& text, Hints* hints) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    mistake("--hint: invalid hint '" + text + "': expected KEY=VALUE");
  (*hints)[text.substr(0, equals)] = text.substr(equals + 1);
}

// The number before the unit; `rest` is what follows it.
int64_t number(const std::string& option, const std::string& text, std::string* rest) {
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (end == text.c_str() || errno != 0 || value < 0)
    mistake(option + ": invalid number '" + text + "'");
  *rest = end;
  return value;
}

// Powers of two that a unit is: IOR's letters in either case, or KiB and so on. -1: not a unit.
int unit_shift(const std::string& unit) {
  if (unit.empty() || unit == "B") return 0;
  const size_t power = std::string("kmgt").find(
      static_cast<char>(std::tolower(static_cast<unsigned char>(unit.front()))));
  if (power == std::string::npos || (unit.size() > 1 && unit.substr(1) != "iB")) return -1;
  return 10 * (static_cast<int>(power) + 1);
}

double factor_argument(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !(value > 0) || !std::isfinite(value))
    mistake(option + ": invalid factor '" + text + "': expected a number above 0");
  return value;
}

// Rank 0 prints `text`; every rank finalizes MPI, if it runs, and exits with 0.
[[noreturn]] void show(const std::string& text) {
  if (job().rank == 0) std::fputs(text.c_str(), stdout);
  int is_running = 0;
  MPI_Initialized(&is_running);
  if (is_running != 0) MPI_Finalize();
  std::exit(0);
}

// How an unknown option is named: a letter may stand in a group of them.
std::string unknown_option(const std::string& word) {
  if (optopt != 0 && !word.starts_with("--")) return std::string("-") + static_cast<char>(optopt);
  return word;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

[[noreturn]] void unknown(const std::string& option, const std::string& what,
                          const std::string& text, const std::vector<std::string>& known) {
  mistake(option + ": unknown " + what + " '" + text + "': expected " + listed(known));
}

}  // namespace

Arguments::Arguments(Description description, Common* common)
    : description_(std::move(description)), common_(common) {}

Option& Arguments::add(const char* name, const char* value, const char* help, Option::Kind kind,
                       Take take) {
  options_.push_back(
      {.name = name, .value = value, .help = help, .kind = kind, .take = std::move(take)});
  return options_.back();
}

void Arguments::add_common() {
  choice("--format", "FORMAT", "original, ior (its table), json or csv",
         {"original", "ior", "json", "csv"}, &format_)
      .standard = "original";
  text("--hint", "KEY=VALUE", "a hint for MPI-IO; may be repeated",
       [this](const std::string& hint) { take_hint(hint, &common_->hints); });
  flag("--no-check", "do not verify the data", &common_->check, false);
  flag("--keep", "leave the files", &common_->keep);
  size("--corrupt", "flip one bit at this offset of a written file: the check must find it",
       &common_->corrupt)
      .standard = {};
  flag("--check-only",
       "check the options as for --ranks N on --nodes N, write nothing, and exit: needs no mpirun",
       &check_only_);
  count("--ranks", "N", "with --check-only: ranks of the job; default 1", &assumed_ranks_, 1)
      .standard = {};
  count("--nodes", "N",
        "with --check-only: nodes of the job; by default what depends on them is not checked",
        &assumed_nodes_, 1)
      .standard = {};
}

Option& Arguments::flag(const char* name, const char* help, bool* to, bool becomes) {
  return add(name, "", help, Option::Kind::flag, [=](const std::string&) { *to = becomes; });
}

Option& Arguments::count(const char* name, const char* value, const char* help, int64_t* to,
                         int64_t least) {
  Option& option = add(name, value, help, Option::Kind::count,
                       [=](const std::string& text) { *to = count_argument(name, text, least); });
  option.least = least;
  option.standard = *to;
  return option;
}

Option& Arguments::count(const char* name, const char* value, const char* help, int* to,
                         int64_t least) {
  Option& option = add(name, value, help, Option::Kind::count, [=](const std::string& text) {
    const int64_t found = count_argument(name, text, least);
    if (found > INT_MAX) mistake(std::string(name) + ": number '" + text + "' is too large");
    *to = static_cast<int>(found);
  });
  option.least = least;
  option.standard = int64_t{*to};
  return option;
}

Option& Arguments::size(const char* name, const char* help, int64_t* to) {
  Option& option = add(name, "SIZE", help, Option::Kind::size,
                       [=](const std::string& text) { *to = size_argument(name, text); });
  option.standard = *to;
  return option;
}

Option& Arguments::factor(const char* name, const char* help, double* to) {
  Option& option = add(name, "FACTOR", help, Option::Kind::number,
                       [=](const std::string& text) { *to = factor_argument(name, text); });
  option.standard = *to;
  return option;
}

Option& Arguments::choice(const char* name, const char* value, const char* help,
                          const std::vector<std::string>& known, std::string* to) {
  const std::string what = lower_case(value);
  Option& option = add(name, value, help, Option::Kind::choice, [=](const std::string& text) {
    if (std::find(known.begin(), known.end(), text) == known.end())
      unknown(name, what, text, known);
    *to = text;
  });
  option.choices = known;
  if (!to->empty()) option.standard = *to;
  return option;
}

Option& Arguments::path(const char* name, const char* value, const char* help, std::string* to) {
  return add(name, value, help, Option::Kind::path,
             [=](const std::string& text) { *to = path_argument(text); });
}

Option& Arguments::api(const char* help, std::initializer_list<Api> known, Api* to) {
  const std::vector<Api> apis = known;
  std::vector<std::string> names;
  for (const Api api : apis) names.emplace_back(api_name(api));
  Option& option = add("-a", "API", help, Option::Kind::choice, [=](const std::string& text) {
    for (const Api api : apis) {
      if (text != api_name(api)) continue;
      if (api == Api::hdf5 && !have_hdf5())
        mistake(
            "-a: this build has no parallel HDF5; install libhdf5-openmpi-dev and "
            "libhdf5-mpich-dev and build again, or use another API");
      *to = api;
      return;
    }
    unknown("-a", "API", text, names);
  });
  option.choices = names;
  return option;
}

Option& Arguments::text(const char* name, const char* value, const char* help, Take take) {
  return add(name, value, help, Option::Kind::text, std::move(take));
}

Option& Arguments::ignored(const char* name, const char* value, const char* help) {
  const auto kind = *value == '\0' ? Option::Kind::flag : Option::Kind::text;
  Option& option = add(name, value, help, kind, [name](const std::string&) {
    if (std::find(given_in_vain.begin(), given_in_vain.end(), name) == given_in_vain.end())
      given_in_vain.emplace_back(name);
  });
  option.is_ignored = true;
  return option;
}

const std::vector<std::string>& ignored_options() { return given_in_vain; }

Option& Arguments::existing(bool* to, const char* when) {
  description_.existing = when;
  return flag("--existing",
              "write over files that are there, as an earlier command with --keep leaves them", to);
}

Option& Arguments::count_operand(const char* name, const char* help, int64_t* to, int64_t least) {
  Option& option = count(name, name, help, to, least);
  option.is_operand = true;
  return option;
}

Option& Arguments::path_operand(const char* name, const char* help, std::string* to) {
  Option& option = path(name, name, help, to);
  option.is_operand = true;
  return option;
}

void Arguments::check(Geometry check) { checks_.push_back(std::move(check)); }

void Arguments::parse(int argc, char** argv, const Geometry& geometry) {
  add_common();
  if (job().describes) show(json_text(job().kernel, description_, options_));
  Mistakes mistakes;
  take_words(argc, argv, &mistakes);
  if (!format_.empty()) common_->format = format_argument(format_);
  if (job().checks_only) assume_job(assumed_ranks_, assumed_nodes_);
  if (!check_only_ && (assumed_ranks_ > 0 || assumed_nodes_ > 0))
    mistakes.add("--ranks, --nodes: need --check-only: the launcher starts the ranks");
  // Values are judged together once each of them is right.
  if (mistakes.empty()) {
    for (const Geometry& check : checks_) check(&mistakes);
    geometry(&mistakes);
  }
  if (!mistakes.empty()) usage_error(mistakes);
  if (check_only_ || job().checks_only) show("");
}

void Arguments::take_words(int argc, char** argv, Mistakes* mistakes) const {
  std::set<const Option*> given;
  const bool are_known = take_options(argc, argv, &given, mistakes);
  // The value of an unknown option looks like an operand.
  if (are_known) take_operands({argv + optind, argv + argc}, mistakes);
  for (const Option& one : options_)
    if (one.is_needed && !one.is_operand && given.count(&one) == 0)
      mistakes->add(one.name + ": missing " + lower_case(one.value) + "; --help shows the usage");
}

bool Arguments::take_options(int argc, char** argv, std::set<const Option*>* given,
                             Mistakes* mistakes) const {
  constexpr int first_long = 1000;  // beyond every letter
  std::string letters = ":h";       // ':' tells a missing value from an unknown option
  std::vector<option> words = {{"help", no_argument, nullptr, 'h'}};
  std::map<int, const Option*> by_code;
  for (size_t i = 0; i < options_.size(); ++i) {
    const Option& one = options_[i];
    if (one.is_operand) continue;
    int code = static_cast<unsigned char>(one.name[1]);
    if (one.name.starts_with("--")) {
      code = first_long + static_cast<int>(i);
      words.push_back(
          {one.name.c_str() + 2, one.is_flag() ? no_argument : required_argument, nullptr, code});
    } else {
      letters += one.name[1];
      if (!one.is_flag()) letters += ':';
    }
    by_code[code] = &one;
  }
  words.push_back({nullptr, 0, nullptr, 0});
  opterr = 0;
  bool are_known = true;
  for (int code = 0;
       (code = getopt_long(argc, argv, letters.c_str(), words.data(), nullptr)) != -1;) {
    if (code == 'h') show(help_text(job().kernel, description_, options_));
    const auto found = by_code.find(code == ':' ? optopt : code);
    if (found == by_code.end()) {
      mistakes->add("unknown option " + unknown_option(argv[optind - 1]) +
                    "; --help lists the options");
      are_known = false;
    } else if (code == ':') {
      mistakes->add(found->second->name + ": missing " + lower_case(found->second->value));
    } else {
      take(*found->second, optarg == nullptr ? "" : optarg, mistakes);
    }
    if (found != by_code.end()) given->insert(found->second);
  }
  return are_known;
}

void Arguments::take(const Option& option, const std::string& value, Mistakes* mistakes) {
  try {
    option.take(value);
  } catch (const Mistake& wrong) {
    mistakes->add(wrong.text);
  }
}

void Arguments::take_operands(const std::vector<std::string>& words, Mistakes* mistakes) const {
  size_t taken = 0;
  for (const Option& one : options_) {
    if (!one.is_operand) continue;
    if (taken < words.size()) {
      take(one, words[taken++], mistakes);
    } else if (one.is_needed) {
      mistakes->add("expected " + operands_in_words() + "; --help shows the usage");
      return;
    }
  }
  if (taken < words.size()) mistakes->add("one argument too many: " + words[taken]);
}

// "PARTICLES and PATH"
std::string Arguments::operands_in_words() const {
  std::string text;
  for (const Option& one : options_)
    if (one.is_operand && one.is_needed) text += (text.empty() ? "" : " and ") + one.name;
  return text;
}

int64_t size_argument(const std::string& option, const std::string& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const int shift = unit_shift(text.substr(digits));
  if (digits == 0 || shift < 0)
    mistake(option + ": invalid size '" + text +
            "': expected bytes, or a number with k, m, g or t, or with KiB, MiB, GiB or TiB");
  errno = 0;
  const long long value = std::strtoll(text.substr(0, digits).c_str(), nullptr, 10);
  if (errno != 0 || value > INT64_MAX >> shift)
    mistake(option + ": invalid size '" + text + "': expected less than 2^63 bytes");
  return value << shift;
}

int64_t count_argument(const std::string& option, const std::string& text, int64_t least) {
  std::string rest;
  const int64_t value = number(option, text, &rest);
  if (!rest.empty() || value < least)
    mistake(option + ": invalid number '" + text + "': expected an integer from " +
            std::to_string(least));
  return value;
}

std::string path_argument(const std::string& text) {
  return std::filesystem::absolute(text).string();
}

}  // namespace kernels
