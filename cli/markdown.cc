// The reference in docs/, made from the description of the commands.
#include <fmt/format.h>

#include "config.h"
#include "description.h"

namespace cairn::cli {
namespace {

// A cell of a table: '|' would end it, and what looks like a tag would vanish.
std::string cell(const std::string& text) {
  std::string result;
  for (char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result;
}

std::string code(const std::string& text) { return "`" + text + "`"; }

}  // namespace

std::string markdown(const CommandDescription& command) {
  std::string text = std::string(std::min<size_t>(command.path.size() + 1, 4), '#') + " " +
                     command.title() + "\n\n" + wrap(command.summary, 0, 104);
  text += "\n```\n" + command.synopsis() + "\n```\n";
  for (const std::string& paragraph : command.prose) {
    if (paragraph.starts_with("  "))
      text += "\n```\n" + paragraph + "\n```\n";
    else
      text += "\n" + wrap(paragraph, 0, 104);
  }
  std::string rows;
  for (const OptionDescription& option : command.options) {
    if (option.common) continue;
    std::string names;
    for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + code(name);
    if (!option.positional && !option.metavar.empty()) names += " " + code(cell(option.metavar));
    rows += "| " + names + " | " + cell(option.help) + " |\n";
  }
  if (!rows.empty()) text += "\n| argument or option | |\n| --- | --- |\n" + rows;
  for (const CommandDescription& below : command.commands) text += "\n" + markdown(below);
  return text;
}

std::string markdown_page(const CommandDescription& command) {
  if (command.path.size() > 1) return markdown(command);
  return "# Reference of the command\n\nMade by `cairn help --markdown`; "
         "[user/run.md](user/run.md) says how the pieces belong together.\n\n" +
         markdown(command) + "\n## Configuration\n\n" + configuration_markdown();
}

std::string configuration_markdown() {
  std::string text =
      "| key | environment | option | takes | default | what it is |\n| --- | --- | --- | --- | "
      "--- | --- |\n";
  for (const Key& key : keys())
    text +=
        fmt::format("| {} | {} | {} | {} | {} | {} |\n", code(key.name), code(key.environment()),
                    code(key.option()), cell(key.metavar), code(key.standard), cell(key.help));
  return text;
}

}  // namespace cairn::cli
