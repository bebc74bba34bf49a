// A command of the command line: one description (a CLI::App tree) from which parsing, --help, the
// manual pages, the reference in docs/ and shell completion all come.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "frame/config.h"

namespace cairn::cli {

struct Context {
  Config config;
  bool json = false;
  // Carries out the parsed command; returns the exit code.
  std::function<int()> action;
  // Keys given on the command line.
  std::map<std::string, std::string> given;
  // run: the program and its arguments. bench: the words that follow the command's name.
  std::vector<std::string> program;
};

// Adds --json and an option for every key of the configuration, which every command takes.
void add_common_options(CLI::App& app, Context& context);

// Adds a command below `parent`. `prose` follows the options in --help and the manual: paragraphs
// separated by an empty line; a paragraph whose first line begins with two blanks is shown as it
// stands (examples).
CLI::App* add_command(CLI::App& parent, Context& context, const std::string& name,
                      const std::string& summary, const std::string& prose);

}  // namespace cairn::cli
