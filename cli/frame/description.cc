#include "frame/description.h"

#include <CLI/CLI.hpp>

namespace cairn::cli {
namespace {

std::vector<std::string> paragraphs(const std::string& text) {
  std::vector<std::string> all;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = text.find("\n\n", begin);
    if (end == std::string::npos) end = text.size();
    std::string paragraph = text.substr(begin, end - begin);
    while (paragraph.starts_with("\n")) paragraph.erase(0, 1);
    while (paragraph.ends_with("\n")) paragraph.pop_back();
    if (!paragraph.empty()) all.push_back(paragraph);
    begin = end + 2;
  }
  return all;
}

OptionDescription describe_option(const CLI::Option& option) {
  OptionDescription result;
  result.positional = option.get_positional();
  result.required = option.get_required();
  result.many = option.get_items_expected_max() > 1;
  result.common = option.get_group() == "Common options";
  result.rank = result.common ? 2 : option.get_group() == "Configuration" ? 1 : 0;
  result.help = option.get_description();
  if (result.positional) {
    result.names.push_back(option.get_name(true));
    result.metavar = option.get_type_name();
    return result;
  }
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0 && option.get_type_size() > 0)
    result.metavar = option.get_type_name();
  return result;
}

}  // namespace

CommandDescription describe(const CLI::App& app) {
  CommandDescription command;
  for (const CLI::App* above = &app; above != nullptr; above = above->get_parent())
    command.path.insert(command.path.begin(), above->get_name());
  command.summary = app.get_description();
  command.prose = paragraphs(app.get_footer());
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) command.options.push_back(describe_option(*option));
  // Puts a command's own options first, then keys of the configuration, then the common options.
  std::stable_sort(
      command.options.begin(), command.options.end(),
      [](const OptionDescription& x, const OptionDescription& y) { return x.rank < y.rank; });
  for (const CLI::App* below : app.get_subcommands(std::function<bool(const CLI::App*)>()))
    command.commands.push_back(describe(*below));
  return command;
}

std::string CommandDescription::title() const {
  std::string text;
  for (const std::string& word : path) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string CommandDescription::page() const {
  return path.size() < 2 ? path.front() : path[0] + "-" + path[1];
}

std::string CommandDescription::synopsis() const {
  std::string text = title();
  if (!commands.empty()) return text + " COMMAND ...";
  if (path.back() == "run") text += " --at DIR";
  text += " [OPTIONS]";
  for (const OptionDescription& option : options) {
    if (option.positional || !option.required) continue;
    text += " " + option.names.back() + " " + option.metavar;
  }
  for (const OptionDescription& option : options) {
    if (!option.positional) continue;
    const std::string word = option.names.front() + (option.many ? "..." : "");
    text += option.required ? " " + word : " [" + word + "]";
  }
  if (path.back() == "run") text += " -- PROGRAM [ARGUMENTS...]";
  return text;
}

std::string overview_prose() {
  return R"(Cairn keeps a job's files in memory-speed storage on the node that runs it, and writes
them to the covered directory. Programs run unchanged:

  cairn run --at results -- ./simulation

Cairn serves the directory results from memory, over what is already there. When the last process
using it exits, Cairn writes the changes back, and results holds ordinary files.

A POOL is a name in the pool directory (see pool.dir), or a path, which contains a '/'. Without a
POOL, commands use the configured pool. A PATH inside a pool is written POOL:/path; in the
configured pool, :/path or /path. In `cp`, a path without ':' is an ordinary file. Without any
configuration, pools are in /dev/shm/cairn-UID, which is closed to other users, and the pool is
called default.

Sizes take units: K, M, G, T, P and KiB ... are powers of 1024, KB ... powers of 1000.

Exit codes: 0 done; 1 failed, with one line on stderr that names path and cause; 2 wrong command
line or configuration. `cairn run` returns the program's exit code, 126 if it cannot be executed,
127 if it is not found, 128 + N if signal N ended it.)";
}

}  // namespace cairn::cli
