// The command line: one description (a CLI::App tree) from which parsing, --help, the manual pages,
// the reference in docs/ and shell completion all come.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "frame/config.h"

namespace cairn::cli {

struct Context {
  Config config;
  bool json = false;
  // What the parsed command does; returns the exit code.
  std::function<int()> action;
  // Keys given on the command line.
  std::map<std::string, std::string> given;
  // run: the program and its arguments. bench: what follows the command's name.
  std::vector<std::string> program;
};

// A command below `parent`. `prose` follows the options in --help and the manual: paragraphs
// separated by an empty line; a paragraph whose first line begins with two blanks is shown as it
// stands (examples).
CLI::App* add_command(CLI::App& parent, Context& context, const std::string& name,
                      const std::string& summary, const std::string& prose);

// The whole description. The context must outlive it.
std::unique_ptr<CLI::App> describe_commands(Context& context);

// Each is added by the file that implements it.
void add_pool_commands(CLI::App& root, Context& context);
void add_pool_clean_command(CLI::App& pool, Context& context);
void add_list_commands(CLI::App& root, Context& context);
void add_change_commands(CLI::App& root, Context& context);
void add_copy_command(CLI::App& root, Context& context);
void add_run_command(CLI::App& root, Context& context);
void add_cover_commands(CLI::App& root, Context& context);
void add_stage_command(CLI::App& root, Context& context);
void add_status_command(CLI::App& root, Context& context);
void add_config_command(CLI::App& root, Context& context);
void add_doctor_command(CLI::App& root, Context& context);
void add_bench_command(CLI::App& root, Context& context);
void add_help_commands(CLI::App& root, Context& context);

// Parses, runs, reports; returns the exit code.
int run_command_line(int argc, char** argv);

}  // namespace cairn::cli
