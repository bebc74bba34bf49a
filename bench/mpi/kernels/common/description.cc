#include "common/description.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "common/api.h"

namespace kernels {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t help_column = 20;
constexpr size_t help_width = 100;

const char* const footer =
    "Sizes take k, m, g, t or KiB, MiB, GiB, TiB (powers of 1024). Exit codes: 0 done, 1 failed,\n"
    "2 usage, 3 wrong data.\n";

// A size as an option takes it: 64m, 256k, 100.
std::string size_text(int64_t bytes) {
  const char* unit = "";
  for (const char* next : {"k", "m", "g"}) {
    if (bytes == 0 || bytes % 1024 != 0) break;
    bytes /= 1024;
    unit = next;
  }
  return std::to_string(bytes) + unit;
}

std::string standard_text(const Option& option) {
  if (const auto* number = std::get_if<int64_t>(&option.standard))
    return option.kind == Option::Kind::size ? size_text(*number) : std::to_string(*number);
  if (const auto* number = std::get_if<double>(&option.standard)) {
    std::ostringstream text;
    text << *number;
    return text.str();
  }
  const auto* text = std::get_if<std::string>(&option.standard);
  return text == nullptr ? "" : *text;
}

// Breaks `text` at blanks; every line but the first begins at `help_column`.
std::string wrapped(const std::string& text) {
  std::istringstream words(text);
  std::string result;
  size_t column = help_column;
  for (std::string word; words >> word;) {
    if (column > help_column && column + 1 + word.size() > help_width) {
      result += "\n" + std::string(help_column, ' ');
      column = help_column;
    } else if (column > help_column) {
      result += " ";
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

std::string help_line(const Option& option) {
  std::string head = "  " + option.name;
  if (!option.value.empty() && !option.is_operand) head += " " + option.value;
  std::string help = (option.is_ignored ? "ignored: " : "") + option.help;
  const std::string standard = standard_text(option);
  if (!standard.empty())
    help += option.kind == Option::Kind::choice ? "; default " + standard : " (" + standard + ")";
  head += head.size() < help_column ? std::string(help_column - head.size(), ' ')
                                    : "\n" + std::string(help_column, ' ');
  return head + wrapped(help) + "\n";
}

std::string help_line(const Measured& measured) {
  std::string text = measured.access + " (" + measured.unit + ":";
  for (const std::string& phase : measured.phases) text += " " + phase;
  return text + ")";
}

Json to_json(const Value& value) {
  return std::visit(
      [](const auto& held) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>)
          return nullptr;
        else
          return held;
      },
      value);
}

const char* kind_name(Option::Kind kind) {
  switch (kind) {
    case Option::Kind::flag:
      return "flag";
    case Option::Kind::count:
      return "count";
    case Option::Kind::size:
      return "size";
    case Option::Kind::number:
      return "number";
    case Option::Kind::choice:
      return "choice";
    case Option::Kind::text:
      return "text";
    case Option::Kind::path:
      break;
  }
  return "path";
}

Json key_of(const Option& option) {
  Json key = {{"name", option.key}, {"default", to_json(option.key_standard)}};
  if (option.is_flag()) key["given_for"] = to_json(option.given_for);
  if (!option.otherwise.empty()) key["otherwise"] = option.otherwise;
  if (!option.unless.empty()) key["unless"] = option.unless;
  if (!option.formula.empty()) key["formula"] = option.formula;
  if (option.may_be_none) key["may_be_none"] = true;
  if (option.is_amount) key["grows"] = {{"step", option.step}, {"root", option.root}};
  return key;
}

Json to_json(const Option& option) {
  Json all = {{"name", option.name},
              {"value", option.value},
              {"kind", kind_name(option.kind)},
              {"help", option.help},
              {"default", to_json(option.standard)},
              {"operand", option.is_operand}};
  if (option.is_ignored) all["ignored"] = true;
  if (option.kind == Option::Kind::count) all["least"] = option.least;
  if (!option.choices.empty()) all["choices"] = option.choices;
  if (!option.key.empty()) all["key"] = key_of(option);
  if (option.is_path_of_run) all["file"] = option.file;
  return all;
}

}  // namespace

Option& Option::needed() {
  is_needed = true;
  return *this;
}

Option& Option::as(const std::string& called) {
  key = called;
  if (is_flag())
    given_for = true;
  else
    key_standard = standard;
  return *this;
}

Option& Option::as(const std::string& called, Value fallback) {
  as(called);
  key_standard = std::move(fallback);
  return *this;
}

Option& Option::as_not(const std::string& called) {
  as(called);
  given_for = false;
  return *this;
}

Option& Option::as_word(const std::string& called, const std::string& word,
                        const std::string& other, const std::string& first) {
  as(called, first);
  given_for = word;
  otherwise = other;
  return *this;
}

Option& Option::in_run(const std::string& called) {
  is_path_of_run = true;
  file = called;
  return *this;
}

Option& Option::grows(const std::string& step_key) {
  is_amount = true;
  step = step_key;
  return *this;
}

std::string help_text(const std::string& kernel, const Description& description,
                      const std::deque<Option>& options) {
  std::string text =
      kernel + ": " + description.about + ".\nUsage: " + kernel + " " + description.usage + "\n\n";
  for (const Option& option : options) text += help_line(option);
  text += footer;
  if (!description.accesses.empty()) text += "Accesses:\n";
  for (const Measured& measured : description.accesses) text += "  " + help_line(measured) + "\n";
  if (!description.verifies.empty()) text += "Verifies: " + description.verifies + ".\n";
  return text;
}

std::string json_text(const std::string& kernel, const Description& description,
                      const std::deque<Option>& options) {
  Json accesses = Json::array();
  for (const Measured& measured : description.accesses)
    accesses.push_back(
        {{"access", measured.access}, {"unit", measured.unit}, {"phases", measured.phases}});
  Json listed = Json::array();
  for (const Option& option : options) listed.push_back(to_json(option));
  Json bytes = nullptr;
  if (!description.bytes.medium.empty())
    bytes = {{"medium", description.bytes.medium},
             {"memory", description.bytes.memory},
             {"call", description.bytes.call}};
  const Json all = {
      {"format", 1},
      {"name", kernel},
      {"about", description.about},
      {"usage", description.usage},
      {"options", listed},
      {"accesses", accesses},
      {"verifies", description.verifies},
      {"bytes", bytes},
      {"existing", description.existing.empty() ? Json() : Json(description.existing)},
      {"hdf5", have_hdf5()}};
  return all.dump(1) + "\n";
}

}  // namespace kernels
