#include "program/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "commands/all_commands.h"
#include "commands/command.h"
#include "frame/description.h"
#include "machine/own_size_limit.h"
#include "pools/pool_owner.h"
#include "process/preload.h"
#include "text/error.h"
#include "text/output.h"
#include "text/suggest.h"

// NOLINTNEXTLINE(readability-redundant-declaration): POSIX asks programs to declare it
extern char** environ;

namespace cairn::cli {
namespace {

// The deepest command that the arguments reached.
CLI::App* reached(CLI::App& root) {
  CLI::App* app = &root;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

std::string title(const CLI::App* app) {
  return app->get_parent() == nullptr ? app->get_name()
                                      : title(app->get_parent()) + " " + app->get_name();
}

std::vector<std::string> option_names(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app->get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// Words after `--` are arguments, even if they begin with a dash. CLI11 2.1 takes such words for
// options if a command can take more arguments. So no_option() hides the dash, and as_given() shows
// it again when the words are arguments.
constexpr char before_dash = '\x01';
std::string no_option(const std::string& word) {
  return word.starts_with("-") ? before_dash + word : word;
}
std::string as_given(const std::string& word) {
  return word.starts_with(before_dash) ? word.substr(1) : word;
}
void take_as_given(CLI::App& command) {
  for (CLI::Option* option :
       command.get_options([](const CLI::Option* each) { return each->get_positional(); }))
    option->transform(as_given);
}

// Reports a word that the parser did not know: an option, a command, or an argument too many.
[[noreturn]] void unknown(CLI::App* app, const std::string& given) {
  const std::string word = as_given(given);
  if (given.size() > 1 && given[0] == '-') {
    const std::string name = word.substr(0, word.find('='));
    usage_error("unknown option {}{}", name, did_you_mean(name, option_names(app)));
  }
  std::vector<std::string> commands;
  for (const CLI::App* command : app->get_subcommands([](CLI::App*) { return true; }))
    commands.push_back(command->get_name());
  if (commands.empty()) usage_error("one argument too many: {}", word);
  usage_error("unknown command {}{}", word, did_you_mean(word, commands));
}

// The position of the command's name in the arguments: options before it may take a value.
size_t command_position(const std::vector<std::string>& arguments) {
  size_t i = 0;
  for (; i < arguments.size() && arguments[i].starts_with("-"); ++i) {
    const std::string& word = arguments[i];
    if (word != "--json" && word != "--help" && word != "--version" && word.starts_with("--") &&
        word.find('=') == std::string::npos)
      ++i;
  }
  return i;
}

// Takes the words after `bench` out of the arguments, because another program parses them. --help
// stays.
bool take_words_of_bench(std::vector<std::string>& arguments, std::vector<std::string>& words) {
  const size_t at = command_position(arguments);
  if (at >= arguments.size() || arguments[at] != "bench") return false;
  const auto first = arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  if (first != arguments.end() && (*first == "--help" || *first == "-h")) return false;
  words.assign(first, arguments.end());
  arguments.erase(first, arguments.end());
  return true;
}

void parse(CLI::App& root, Context& context, std::vector<std::string> arguments) {
  std::vector<std::string> rest;
  if (take_words_of_bench(arguments, context.program)) {
    std::reverse(arguments.begin(), arguments.end());
    root.parse(arguments);
    return;
  }
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  const bool separated = dashes != arguments.end();
  if (separated) {
    rest.assign(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
    // The words after `run ... --` are the program and its arguments; the parser never sees them.
    if (const size_t at = command_position(arguments);
        at == arguments.size() || arguments[at] != "run") {
      for (const std::string& word : rest) arguments.push_back(no_option(word));
      rest.clear();
    }
  }
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes a vector in reverse order
  root.parse(arguments);

  CLI::App* app = reached(root);
  std::vector<std::string> extra = root.remaining(true);
  if (app->get_name() == "run") {
    if (!extra.empty() && extra.front().starts_with("-")) unknown(app, extra.front());
    if (!extra.empty() && separated) extra.emplace_back("--");
    extra.insert(extra.end(), rest.begin(), rest.end());
    context.program = std::move(extra);
  } else if (!extra.empty()) {
    unknown(app, extra.front());
  }
  if (!app->get_subcommands([](CLI::App*) { return true; }).empty()) {
    if (app == &root) usage_error("missing command; `cairn help` lists them");
    usage_error("missing command; `{} --help` lists them", title(app));
  }
}

Config load_config(const Context& context) {
  std::vector<std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    variables.push_back(text.substr(0, text.find('=')));
  }
  Config config =
      Config::load([](const std::string& name) { return std::getenv(name.c_str()); }, variables);
  for (const auto& [key, value] : context.given) config.set(key, value, "command line");
  return config;
}

int parse_and_run(CLI::App& root, Context& context, int argc, char** argv) {
  try {
    parse(root, context, std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  } catch (const CLI::CallForHelp&) {
    print_lines(help_text(describe(*reached(root))));
    return exit_ok;
  } catch (const CLI::CallForVersion&) {
    print("cairn {}\n", cairn_version());
    return exit_ok;
  } catch (const CLI::ParseError& error) {
    // Reports a mistyped option first: because of it, another option may be missing.
    for (const std::string& word : root.remaining(true)) unknown(reached(root), word);
    usage_error("{}", error.what());
  }
  // These commands work on covered directories or pools from outside of a run.
  static const std::vector<std::string> outside = {"run",    "drain",  "discard",
                                                   "status", "doctor", "pool"};
  for (const CLI::App* app = reached(root); app != nullptr; app = app->get_parent())
    if (std::find(outside.begin(), outside.end(), app->get_name()) != outside.end()) {
      leave_cover(argv);
      raise_own_size_limit();
    }
  context.config = load_config(context);
  set_log_level(context.config.value("log.level"));
  for (const std::string& notice : context.config.notices()) warn(printable(notice));
  return context.action();
}

// The description of all commands; `context` must outlive it.
std::unique_ptr<CLI::App> describe_commands(Context& context) {
  auto root = std::make_unique<CLI::App>("HPC storage at memory speed", "cairn");
  root->set_help_flag("-h,--help", "Show this help.");
  root->set_version_flag("--version", cairn_version(), "Show the version.");
  root->get_help_ptr()->group("Common options");
  root->get_version_ptr()->group("Common options");
  root->require_subcommand(0, 1);
  root->allow_extras();
  root->footer(overview_prose());
  add_common_options(*root, context);
  add_run_command(*root, context);
  add_cover_commands(*root, context);
  add_stage_command(*root, context);
  add_status_command(*root, context);
  add_pool_commands(*root, context);
  add_list_commands(*root, context);
  add_copy_command(*root, context);
  add_change_commands(*root, context);
  add_ckpt_commands(*root, context);
  add_config_command(*root, context);
  add_doctor_command(*root, context);
  add_bench_command(*root, context);
  add_help_commands(*root, context);
  for (CLI::App* command : root->get_subcommands([](CLI::App*) { return true; })) {
    command->allow_extras();
    take_as_given(*command);
    for (CLI::App* below : command->get_subcommands([](CLI::App*) { return true; })) {
      below->allow_extras();
      take_as_given(*below);
    }
  }
  return root;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  Context context;
  std::unique_ptr<CLI::App> root;
  int code = exit_failed;
  try {
    root = describe_commands(context);
    code = parse_and_run(*root, context, argc, argv);
    flush_output();
    return code;
  } catch (const Error& error) {
    code = error.exit_code();
    std::fflush(stdout);
    // Says that root works as another user: otherwise "permission denied" would surprise root.
    const std::string rights = owner_text().empty() ? "" : fmt::format(" ({})", owner_text());
    tell("{}: {}{}\n", root ? title(reached(*root)) : "cairn", error.what(), rights);
  } catch (const std::exception& error) {
    code = exit_failed;
    tell("cairn: {}\n", error.what());
  }
  return code;
}

}  // namespace cairn::cli
