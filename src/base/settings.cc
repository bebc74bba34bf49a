#include "base/settings.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/bounded_file.h"
#include "base/lines.h"

namespace cairn {
namespace {

constexpr size_t most_bytes = size_t{64} << 10;
constexpr std::string_view own_keys[] = {"pool.dir",     "pool.name",    "pool.size",
                                         "pool.protect", "pool.release", "checkpoint.domain"};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// "pool.dir" → "CAIRN_POOL_DIR".
std::string environment_name(std::string_view key) {
  std::string name = "CAIRN_";
  for (const char c : key)
    name += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

bool is_key(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  });
}

Status not_read(unsigned line, const char* what) {
  return fail(
      ENOSYS,
      "line %u: libcairn reads keys, nesting, and plain or quoted values, not %s; start the "
      "program with `cairn run`, or set the environment",
      line, what);
}

bool is_end_or_comment(std::string_view rest) {
  rest = trimmed(rest);
  return rest.empty() || rest.front() == '#';
}

Status parse_quoted(std::string_view text, unsigned line, std::string* value) {
  const char quote = text.front();
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == quote) {
      if (quote == '\'' && i + 1 < text.size() && text[i + 1] == quote) {
        *value += quote;
        ++i;
        continue;
      }
      return is_end_or_comment(text.substr(i + 1)) ? Status()
                                                   : not_read(line, "text behind a quoted value");
    }
    if (quote == '"' && text[i] == '\\') {
      if (i + 1 == text.size() || (text[i + 1] != '"' && text[i + 1] != '\\'))
        return not_read(line, "such an escape");
      ++i;
    }
    *value += text[i];
  }
  return not_read(line, "a quoted value of several lines");
}

// `text` is not empty and no comment.
Status parse_value(std::string_view text, unsigned line, std::string* value) {
  if (text.front() == '"' || text.front() == '\'') return parse_quoted(text, line, value);
  constexpr std::string_view others = "[]{}&*!|>%@`,?";
  if (others.find(text.front()) != std::string_view::npos || text.starts_with("- "))
    return not_read(line, "such a value");
  text = trimmed(text.substr(0, std::min(text.find(" #"), text.find("\t#"))));
  if (text.find(": ") != std::string_view::npos) return not_read(line, "two keys in a line");
  *value = text;
  return Status();
}

struct Above {  // a key that has others below it
  size_t indent;
  std::string prefix;
};

}  // namespace

Status parse_settings(std::string_view text,
                      const std::function<Status(const std::string& key, const std::string& value,
                                                 unsigned line)>& visit) {
  std::vector<Above> above;
  unsigned line_number = 0;
  Lines lines(text);
  for (std::string_view line; lines.next(&line);) {
    ++line_number;
    if (is_end_or_comment(line) || line == "---") continue;
    const size_t indent = line.find_first_not_of(' ');
    if (line[indent] == '\t') return not_read(line_number, "tabs in front of a key");
    while (!above.empty() && above.back().indent >= indent) above.pop_back();
    if (above.empty() && indent != 0) return not_read(line_number, "such an indentation");
    const std::string_view rest = line.substr(indent);
    const size_t colon = rest.find(':');
    const std::string_view key = rest.substr(0, colon);
    const bool ends =
        colon != std::string_view::npos &&
        (colon + 1 == rest.size() || std::strchr(" \r\t", rest[colon + 1]) != nullptr);
    if (!ends || !is_key(key)) return not_read(line_number, "a line without a key");
    const std::string name = (above.empty() ? "" : above.back().prefix) + std::string(key);
    const std::string_view value_text = trimmed(rest.substr(colon + 1));
    if (is_end_or_comment(value_text)) {
      above.push_back({indent, name + "."});
      continue;
    }
    std::string value;
    CAIRN_TRY(parse_value(value_text, line_number, &value));
    CAIRN_TRY(visit(name, value, line_number));
  }
  return Status();
}

Status Settings::read_file(const std::string& path) {
  if (path.front() != '/')
    return fail(EINVAL, "%s: a configuration file needs an absolute path", path.c_str());
  CAIRN_TRY_ASSIGN(text, read_trusted_file(path, most_bytes));
  return read_text(text, path);
}

Status Settings::read_text(const std::string& text, const std::string& path) {
  const Status status =
      parse_settings(text, [&](const std::string& key, const std::string& value, unsigned line) {
        const bool is_own = key.starts_with("pool.") || key.starts_with("checkpoint.");
        if (!is_own) return Status();  // the command checks the others
        if (std::find(std::begin(own_keys), std::end(own_keys), key) == std::end(own_keys))
          return fail(EINVAL, "line %u: unknown key %s", line, key.c_str());
        settings_[key] = {value, path + ":" + std::to_string(line)};
        return Status();
      });
  return status.ok() ? status : annotate(status, "%s", path.c_str());
}

// Some file of another user where the configuration is looked for must not keep programs from
// starting. `cairn config` says which files do not count.
Status Settings::look_for_file(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) return Status();
  const auto text = read_trusted_file(path, most_bytes);
  return text.ok() ? read_text(*text, path) : Status();
}

Result<Settings> Settings::load() {
  Settings settings;
  if (const std::string named = variable("CAIRN_CONFIG"); !named.empty()) {
    CAIRN_TRY(settings.read_file(named));
  } else {
    CAIRN_TRY(settings.look_for_file("/etc/cairn/cairn.yaml"));
    std::string home = variable("XDG_CONFIG_HOME");
    if (!home.starts_with('/')) home = variable("HOME") + "/.config";
    if (home.front() == '/' && home != "/.config")
      CAIRN_TRY(settings.look_for_file(home + "/cairn/cairn.yaml"));
  }
  for (const std::string_view key : own_keys) {
    const std::string name = environment_name(key);
    if (std::string value = variable(name.c_str()); !value.empty())
      settings.settings_[std::string(key)] = {std::move(value), name};
  }
  return settings;
}

std::string Settings::value(const std::string& key) const {
  const auto found = settings_.find(key);
  return found == settings_.end() ? "" : found->second.value;
}

Result<uint64_t> Settings::bytes(const std::string& key) const {
  const std::string text = value(key);
  if (text.empty() || text == "auto") return uint64_t{0};
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string unit = end;
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (unit == "%")
    return fail(ENOSYS,
                "%s (%s): '%s': libcairn reads bytes with a unit only (512M); create the pool with "
                "`cairn pool create`",
                key.c_str(), origin(key).c_str(), text.c_str());
  const std::string letters = "KMGTP";
  const size_t power = unit.empty() ? std::string::npos : letters.find(unit[0]);
  const std::string rest = unit.empty() ? "" : unit.substr(power == std::string::npos ? 0 : 1);
  const double base = rest == "B" && power != std::string::npos ? 1000 : 1024;
  double size = number;
  for (size_t i = 0; power != std::string::npos && i <= power; ++i) size *= base;
  const bool has_unit = rest.empty() || rest == "B" || rest == "IB";
  if (end == text.c_str() || !has_unit || size < 1 || size > 9e18)
    return fail(EINVAL, "%s (%s): invalid size '%s': expected 512M, 10GiB or auto", key.c_str(),
                origin(key).c_str(), text.c_str());
  return static_cast<uint64_t>(size);
}

std::string Settings::origin(const std::string& key) const {
  const auto found = settings_.find(key);
  return found == settings_.end() ? "default" : found->second.origin;
}

}  // namespace cairn
