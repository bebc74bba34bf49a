// Makes manual pages in roff from the description of the commands.
#include <cairn/cairn.h>
#include <fmt/format.h>

#include "frame/config.h"
#include "frame/description.h"

namespace cairn::cli {
namespace {

// Escapes text for roff: backslashes, hyphens, and lines that begin with a control character.
std::string escape(const std::string& text) {
  std::string result;
  bool line_start = true;
  for (char c : text) {
    if (line_start && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
    line_start = c == '\n';
  }
  return result;
}

std::string formatted_prose(const CommandDescription& command) {
  std::string text;
  for (const std::string& paragraph : command.prose) {
    if (paragraph.starts_with("  "))
      text += ".PP\n.nf\n" + escape(paragraph) + "\n.fi\n";
    else
      text += ".PP\n" + escape(paragraph) + "\n";
  }
  return text;
}

std::string option(const OptionDescription& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += (names.empty() ? "" : ", ") +
             (option.positional ? "\\fI" + escape(name) : "\\fB" + escape(name)) + "\\fR";
  if (!option.positional && !option.metavar.empty())
    names += " \\fI" + escape(option.metavar) + "\\fR";
  return ".TP\n" + names + "\n" + escape(option.help) + "\n";
}

std::string own_options(const CommandDescription& command) {
  std::string text;
  for (const OptionDescription& each : command.options)
    if (!each.common) text += option(each);
  return text;
}

}  // namespace

std::string man_page(const CommandDescription& command) {
  std::string upper = command.page();
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string text =
      fmt::format(".TH {} 1 \"\" \"Cairn {}\" \"Cairn\"\n", escape(upper), escape(cairn_version()));
  text += ".SH NAME\n" + escape(command.page()) + " \\- " + escape(command.summary) +
          "\n.SH SYNOPSIS\n";
  if (command.commands.empty() || command.path.size() == 1)
    text += ".B " + escape(command.synopsis()) + "\n";
  if (command.path.size() > 1)
    for (const CommandDescription& below : command.commands)
      text += ".B " + escape(below.synopsis()) + "\n.br\n";
  text += ".SH DESCRIPTION\n" + formatted_prose(command);

  if (command.path.size() == 1) {
    text += ".SH COMMANDS\n";
    for (const CommandDescription& below : command.commands)
      text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", escape(below.page()), escape(below.summary));
  } else {
    for (const CommandDescription& below : command.commands)
      text += fmt::format(".SH {}\n{}\n", escape(below.title()), escape(below.summary)) +
              formatted_prose(below) + own_options(below);
  }
  if (const std::string own = own_options(command); !own.empty()) text += ".SH OPTIONS\n" + own;
  text += ".SH COMMON OPTIONS\n";
  for (const OptionDescription& each : command.options)
    if (each.common) text += option(each);
  if (command.path.size() == 1) text += configuration_man();
  return text + ".SH SEE ALSO\n" +
         (command.path.size() == 1 ? "The pages of the commands above.\n" : "\\fBcairn\\fR(1)\n");
}

std::string configuration_man() {
  std::string text = ".SH CONFIGURATION\n" + escape(configuration_prose());
  for (const Key& key : keys())
    text += fmt::format(".TP\n\\fB{}\\fR, \\fB{}\\fR, \\fB{}\\fR = \\fI{}\\fR (default {})\n{}\n",
                        escape(key.name), escape(key.environment()), escape(key.option()),
                        escape(key.metavar), escape(key.standard), escape(key.help));
  return text;
}

}  // namespace cairn::cli
