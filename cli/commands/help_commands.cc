// cairn help and cairn completion: print texts made from the description of the commands.
#include <CLI/CLI.hpp>
#include <memory>

#include "commands/all_commands.h"
#include "commands/command.h"
#include "frame/completion.h"
#include "frame/description.h"
#include "pools/pool_place.h"
#include "text/error.h"
#include "text/output.h"
#include "text/suggest.h"

namespace cairn::cli {
namespace {

// The only help topic that is not a command.
constexpr const char* configuration_topic = "configuration";

const CommandDescription& find_command(const CommandDescription& root,
                                       const std::vector<std::string>& words) {
  const CommandDescription* here = &root;
  for (const std::string& word : words) {
    std::vector<std::string> names;
    const CommandDescription* next = nullptr;
    for (const CommandDescription& below : here->commands) {
      names.push_back(below.path.back());
      if (below.path.back() == word) next = &below;
    }
    if (here == &root) names.emplace_back(configuration_topic);
    if (next == nullptr) usage_error("unknown command {}{}", word, did_you_mean(word, names));
    here = next;
  }
  return *here;
}

int completion_command(const CLI::App& root, const Config& config, const std::string& shell) {
  if (shell == "bash")
    print_lines(bash_completion(describe(root)));
  else if (shell == "zsh")
    print_lines(zsh_completion(describe(root)));
  else if (shell == "fish")
    print_lines(fish_completion(describe(root)));
  else if (shell == "pools")
    for (const std::string& path : list_pools(config)) print("{}\n", pool_name_of(path));
  else
    usage_error("unknown shell {}{}", shell, did_you_mean(shell, {"bash", "zsh", "fish"}));
  return exit_ok;
}

}  // namespace

void add_help_commands(CLI::App& root, Context& context) {
  struct Arguments {
    std::vector<std::string> words;
    std::string shell;
    bool man = false, markdown = false, names = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* help = add_command(root, context, "help",
                               "Show help for a command, or for the keys of the configuration.",
                               "  cairn help pool create\n  cairn help configuration\n"
                               "  cairn help --man run | man -l -");
  help->add_option("COMMAND", arguments->words,
                   "The command, or configuration; without it, all commands.")
      ->type_name("COMMAND");
  help->add_flag("--man", arguments->man, "Print a manual page, in roff.");
  help->add_flag("--markdown", arguments->markdown,
                 "Print a section of the reference, in Markdown.");
  help->add_flag("--names", arguments->names, "Print only the names of the commands.");
  help->callback([&root, &context, arguments] {
    context.action = [&root, arguments] {
      if (arguments->words == std::vector<std::string>{configuration_topic}) {
        print_lines(arguments->man        ? configuration_man()
                    : arguments->markdown ? configuration_markdown()
                                          : configuration_help());
        return exit_ok;
      }
      const CommandDescription all = describe(root);
      const CommandDescription& command = find_command(all, arguments->words);
      if (arguments->names) {
        for (const CommandDescription& below : command.commands) print("{}\n", below.path.back());
        return exit_ok;
      }
      print_lines(arguments->man        ? man_page(command)
                  : arguments->markdown ? markdown_page(command)
                                        : help_text(command));
      return exit_ok;
    };
  });
  CLI::App* completion =
      add_command(root, context, "completion", "Print a completion script for a shell.",
                  "`make install` installs the scripts where the shells look for them. To install "
                  "one by hand:\n\n"
                  "  source <(cairn completion bash)\n"
                  "  cairn completion fish > ~/.config/fish/completions/cairn.fish");
  completion
      ->add_option("SHELL", arguments->shell,
                   "bash, zsh or fish; or pools, for the names of pools, which the scripts need.")
      ->type_name("bash|zsh|fish|pools")
      ->required();
  completion->callback([&root, &context, arguments] {
    context.action = [&root, &context, arguments] {
      return completion_command(root, context.config, arguments->shell);
    };
  });
}

}  // namespace cairn::cli
