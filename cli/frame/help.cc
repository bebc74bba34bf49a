// Makes the text of --help for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "frame/config.h"
#include "frame/description.h"

namespace cairn::cli {
namespace {

constexpr size_t column = 28;

std::string entry(const std::string& left, const std::string& help) {
  std::string text = "  " + left;
  const std::string wrapped = wrap(help, column);
  if (text.size() + 2 > column) return text + "\n" + wrapped;
  text.resize(column, ' ');
  return text + wrapped.substr(std::min(column, wrapped.size()));
}

std::string option_entry(const OptionDescription& option) {
  std::string left;
  for (const std::string& name : option.names) left += (left.empty() ? "" : ", ") + name;
  if (!option.positional && !option.metavar.empty()) left += " " + option.metavar;
  return entry(left, option.help + (option.required && !option.positional ? " Required." : ""));
}

bool is_key(const OptionDescription& option) {
  return std::any_of(keys().begin(), keys().end(),
                     [&](const Key& key) { return option.names.back() == key.option(); });
}

// Explains in `cairn --help` the common options that are not keys. Other commands only name all of
// them.
std::string common_options(const CommandDescription& command) {
  const bool in_full = command.path.size() == 1;
  std::string text = "Options of every command:\n";
  std::string names = "Common options (explained by `cairn help configuration`):";
  for (const OptionDescription& option : command.options) {
    if (!option.common) continue;
    if (!is_key(option)) text += option_entry(option);
    names += " " + option.names.back();
  }
  return in_full ? text + entry("--KEY VALUE",
                                "A key of the configuration, such as --pool-size "
                                "10GiB. `cairn help configuration` explains them.")
                 : wrap(names, 0);
}

std::string command_list(const CommandDescription& command) {
  std::string text = command.commands.empty() ? "" : "\nCommands:\n";
  for (const CommandDescription& below : command.commands)
    text += entry(below.path.back(), below.summary);
  return text;
}

std::string prose(const CommandDescription& command) {
  std::string text;
  for (const std::string& paragraph : command.prose)
    text += "\n" + (paragraph.starts_with("  ") ? paragraph + "\n" : wrap(paragraph, 0));
  return text;
}

}  // namespace

std::string wrap(const std::string& text, size_t indent, size_t width) {
  std::istringstream words(text);
  std::string result;
  std::string line(indent, ' ');
  bool empty = true;
  for (std::string word; words >> word;) {
    if (!empty && line.size() + 1 + word.size() > width) {
      result += line + "\n";
      line.assign(indent, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
  }
  return empty ? result + "\n" : result + line + "\n";
}

std::string help_text(const CommandDescription& command) {
  std::string text =
      wrap(command.title() + ": " + command.summary, 0) + "\nUsage: " + command.synopsis() + "\n";
  // The first page is for a user who looks for a command.
  text += command.path.size() == 1 ? command_list(command) + prose(command)
                                   : prose(command) + command_list(command);
  std::string heading = "\nArguments and options:\n";
  for (const OptionDescription& option : command.options) {
    if (option.common) continue;
    text += heading + option_entry(option);
    heading.clear();
  }
  return text + "\n" + common_options(command);
}

std::string configuration_prose() {
  return wrap(
      "Configuration: each key has one name in the file (pool.size, or size below pool), in the "
      "environment (CAIRN_POOL_SIZE) and on the command line (--pool-size). The command line "
      "overrides the environment, which overrides $XDG_CONFIG_HOME/cairn/cairn.yaml, which "
      "overrides /etc/cairn/cairn.yaml. CAIRN_CONFIG names one file that replaces both. `cairn "
      "config` shows every value and its origin.",
      0);
}

std::string configuration_help() {
  std::string text = configuration_prose() + "\nKeys:\n";
  for (const Key& key : keys())
    text += entry(fmt::format("{} {}", key.name, key.metavar),
                  fmt::format("{} Default: {}. {}, {}.", key.help, key.standard, key.environment(),
                              key.option()));
  return text;
}

}  // namespace cairn::cli
