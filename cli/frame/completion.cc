// Makes completion scripts for shells. The scripts hold commands, options and the values that
// options take. For the names of pools they run `cairn completion pools`, for the words of `cairn
// bench` `cairn bench complete`.
#include "frame/completion.h"

#include <fmt/format.h>

#include <functional>
#include <map>

#include "frame/config.h"

namespace cairn::cli {
namespace {

// The kinds of words that a shell offers for a metavar.
enum class Values { none, choices, directories, files, pools, programs, commands, keys };

Values values_of(const std::string& metavar) {
  if (metavar.find('|') != std::string::npos) return Values::choices;
  if (metavar == "DIR" || metavar == "ELSEWHERE") return Values::directories;
  if (metavar == "PATH" || metavar == "FILE") return Values::files;
  if (metavar == "POOL" || metavar == "NAME" || metavar == "POOLPATH") return Values::pools;
  if (metavar == "PROGRAM") return Values::programs;
  if (metavar == "COMMAND") return Values::commands;
  if (metavar == "KEY") return Values::keys;
  return Values::none;
}

std::string with_blanks(std::string text) {
  for (char& c : text)
    if (c == '|') c = ' ';
  return text;
}

void each_command(const CommandDescription& command,
                  const std::function<void(const CommandDescription&)>& visit) {
  visit(command);
  for (const CommandDescription& below : command.commands) each_command(below, visit);
}

// "pool create" of "cairn pool create".
std::string key_of(const CommandDescription& command) {
  std::string key;
  for (size_t i = 1; i < command.path.size(); ++i) key += (i == 1 ? "" : " ") + command.path[i];
  return key;
}

std::string single_quoted(const std::string& text) {
  std::string result = "'";
  for (char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string first_sentence(const std::string& text) {
  return text.substr(0, std::min(text.find(". "), text.find(": ")));
}

std::string words_of(const CommandDescription& command) {
  std::string words;
  for (const CommandDescription& below : command.commands)
    words += (words.empty() ? "" : " ") + below.path.back();
  return words;
}

std::string words_of_keys() {
  std::string words;
  for (const Key& key : keys()) words += (words.empty() ? "" : " ") + key.name;
  return words;
}

// One line of bash (zsh runs it too) that fills COMPREPLY with values.
std::string bash_values(const std::string& metavar) {
  switch (values_of(metavar)) {
    case Values::choices:
      return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", with_blanks(metavar));
    case Values::directories:
      return "COMPREPLY=($(compgen -d -- \"$cur\"))";
    case Values::files:
      return "COMPREPLY=($(compgen -f -- \"$cur\"))";
    case Values::pools:
      return "COMPREPLY=($(compgen -W \"$(cairn completion pools 2> /dev/null)\" -- \"$cur\"))";
    case Values::programs:
      return "COMPREPLY=($(compgen -c -f -- \"$cur\"))";
    case Values::commands:
      return "COMPREPLY=($(compgen -W '@commands@' -- \"$cur\"))";
    case Values::keys:
      return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", words_of_keys());
    case Values::none:
      return "COMPREPLY=()";
  }
  return "";
}

}  // namespace

std::string bash_completion(const CommandDescription& root) {
  std::string arguments, commands;
  std::map<std::string, std::string> valued;  // an option means the same in every command
  each_command(root, [&](const CommandDescription& command) {
    const std::string key = single_quoted(key_of(command));
    std::string names, positional;
    for (const OptionDescription& option : command.options) {
      if (option.positional) {
        positional = bash_values(option.metavar);
        continue;
      }
      for (const std::string& name : option.names) {
        names += (names.empty() ? "" : " ") + name;
        if (!option.metavar.empty()) valued[name] = bash_values(option.metavar);
      }
    }
    commands += fmt::format("    {}) words='{}'; flags='{}' ;;\n", key, words_of(command), names);
    if (command.path.back() == "run") positional = bash_values("PROGRAM");
    if (!positional.empty()) arguments += fmt::format("    {}) {} ;;\n", key, positional);
  });
  std::string patterns, options;
  for (const auto& [name, values] : valued) {
    patterns += (patterns.empty() ? "" : " | ") + name;
    options += fmt::format("    {}) {} ;;\n", name, values);
  }
  std::string script =
      fmt::format(R"(# bash completion for cairn; made by `cairn completion bash`.
_cairn() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command='' words='' flags='' word i
  COMPREPLY=()
  # Which command are we in? Options, and the values of options, are no part of its name.
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${{COMP_WORDS[i]}}
    if [ "$word" = -- ]; then
      if declare -F _command_offset > /dev/null; then _command_offset $((i + 1)); else COMPREPLY=($(compgen -c -f -- "$cur")); fi
      return
    fi
    case $word in
      {valued}) i=$((i + 1)); continue ;;
      -*) continue ;;
    esac
    _cairn_words "$command"
    case " $words " in *" $word "*) command=${{command:+$command }}$word ;; *) break ;; esac
  done
  _cairn_words "$command"
  if [ "$command" = bench ]; then
    # `cairn bench` has commands and options of its own.
    words=$(cairn bench complete "${{COMP_WORDS[@]:$i:$((COMP_CWORD - i))}}" 2> /dev/null)
    case $words in *@files*) COMPREPLY=($(compgen -f -- "$cur")) ;; esac
    COMPREPLY+=($(compgen -W "${{words/@files/}}" -- "$cur"))
    return
  fi
  case $prev in
{options}    *)
      if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$flags" -- "$cur"))
      elif [ -n "$words" ]; then
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
      else
        _cairn_arguments "$command"
      fi
      ;;
  esac
}}
_cairn_words() {{
  case $1 in
{commands}  esac
}}
_cairn_arguments() {{
  case $1 in
{arguments}  esac
}}
complete -F _cairn cairn
)",
                  fmt::arg("valued", patterns), fmt::arg("options", options),
                  fmt::arg("commands", commands), fmt::arg("arguments", arguments));
  for (size_t at; (at = script.find("@commands@")) != std::string::npos;)
    script.replace(at, 10, words_of(root));
  return script;
}

std::string zsh_completion(const CommandDescription& root) {
  // zsh runs bash completions; arrays count from 0 there, as bash's do.
  std::string script = bash_completion(root);
  const std::string head = "_cairn() {\n";
  script.insert(script.find(head) + head.size(), "  emulate -L ksh\n");
  script.erase(0, script.find('\n') + 1);
  return "#compdef cairn\n# zsh completion for cairn; made by `cairn completion zsh`.\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         script;
}

std::string fish_completion(const CommandDescription& root) {
  std::string script =
      "# fish completion for cairn; made by `cairn completion fish`.\ncomplete -c cairn -f\n";
  each_command(root, [&](const CommandDescription& command) {
    std::string seen;
    for (size_t i = 1; i < command.path.size(); ++i)
      seen += (seen.empty() ? "" : "; and ") + std::string("__fish_seen_subcommand_from ") +
              command.path[i];
    const std::string words = words_of(command);
    std::string here = command.path.size() == 1 ? "__fish_use_subcommand" : seen;
    if (command.path.size() > 1 && !words.empty())
      here += "; and not __fish_seen_subcommand_from " + words;
    for (const CommandDescription& below : command.commands)
      script += fmt::format("complete -c cairn -n {} -a {} -d {}\n", single_quoted(here),
                            below.path.back(), single_quoted(below.summary));
    for (const OptionDescription& option : command.options) {
      std::string values;
      switch (values_of(option.metavar)) {
        case Values::choices:
          values = "-xa " + single_quoted(with_blanks(option.metavar));
          break;
        case Values::directories:
          values = "-xa '(__fish_complete_directories)'";
          break;
        case Values::pools:
          values = "-xa '(cairn completion pools 2> /dev/null)'";
          break;
        case Values::commands:
          values = "-xa " + single_quoted(words_of(root));
          break;
        case Values::keys:
          values = "-xa " + single_quoted(words_of_keys());
          break;
        case Values::programs:
          values = "-xa '(__fish_complete_command)'";
          break;
        case Values::files:
          values = "-rF";
          break;
        case Values::none:
          values = option.metavar.empty() ? "" : "-x";
          break;
      }
      if (option.positional) {
        if (values.size() > 4)
          script += fmt::format("complete -c cairn -n {} {}\n", single_quoted(here),
                                values.starts_with("-x") ? "-" + values.substr(2) : "-F");
        continue;
      }
      std::string names;
      for (const std::string& name : option.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      const std::string condition = command.path.size() == 1 ? "__fish_use_subcommand" : seen;
      script += fmt::format("complete -c cairn -n {}{} {} -d {}\n", single_quoted(condition), names,
                            values, single_quoted(first_sentence(option.help)));
    }
    if (command.path.back() == "bench")
      script += fmt::format(
          "complete -c cairn -n {0} -a '(cairn bench complete (commandline -opc)[3..] 2> /dev/null "
          "| string match -v @files)'\ncomplete -c cairn -n {0} -F\n",
          single_quoted(here));
    if (command.path.back() == "run")
      script +=
          fmt::format("complete -c cairn -n {} -a '(__fish_complete_subcommand --fcs-skip=2)'\n",
                      single_quoted(here));
  });
  return script;
}

}  // namespace cairn::cli
