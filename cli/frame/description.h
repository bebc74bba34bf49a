// Describes a command as data, read from the CLI::App tree, and prints it for people as --help,
// roff or Markdown.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace cairn::cli {

struct OptionDescription {
  std::vector<std::string> names;  // "-l", "--long"; a positional's one name: "PATH"
  std::string metavar;             // "SIZE"; "exit|never" for choices; "" for a flag
  std::string help;
  bool positional = false;
  bool required = false;
  bool many = false;
  bool common = false;  // every command has it
  int rank = 0;         // where it stands in the list
};

struct CommandDescription {
  std::vector<std::string> path;  // "cairn", "pool", "create"
  std::string summary;
  std::vector<std::string> prose;  // paragraphs; one that begins with two blanks stays as it is
  std::vector<OptionDescription> options;
  std::vector<CommandDescription> commands;

  [[nodiscard]] std::string title() const;     // "cairn pool create"
  [[nodiscard]] std::string page() const;      // "cairn-pool"; of pool's commands too
  [[nodiscard]] std::string synopsis() const;  // "cairn pool create [options] [NAME]"
};

CommandDescription describe(const CLI::App& app);

// The prose of `cairn --help`: pools and paths, sizes, exit codes.
std::string overview_prose();

std::string help_text(const CommandDescription& command);
// A manual page of section 1, with those of the commands below it.
std::string man_page(const CommandDescription& command);
// A section of the reference, commands below it included; and the whole page, if it is `cairn`
// itself.
std::string markdown(const CommandDescription& command);
std::string markdown_page(const CommandDescription& command);

// Explains where keys are set, and which place counts.
std::string configuration_prose();
// The keys of the configuration with default and help, as --help, roff and Markdown.
std::string configuration_help();
std::string configuration_man();
std::string configuration_markdown();

// Words of `text` in lines of at most `width` columns, each after `indent` blanks.
std::string wrap(const std::string& text, size_t indent, size_t width = 96);

}  // namespace cairn::cli
