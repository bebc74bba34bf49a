#include "commands/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace cairn::cli {

void add_common_options(CLI::App& app, Context& context) {
  app.add_flag("--json", context.json, "Print JSON.")->group("Common options");
  for (const Key& key : keys()) {
    std::string names = key.option();
    if (key.name == "pool.name") names.insert(0, "--pool,");
    const bool of_run =
        app.get_name() == "run" && (key.name.starts_with("pool.") || key.name == "drain.mode");
    const bool of_create = app.get_name() == "create" && key.name == "pool.size";
    if (key.name == "drain.mode" && of_run) names.insert(0, "--drain,");
    if (of_create) names.insert(0, "--size,");
    app.add_option_function<std::string>(
           names,
           [&context, name = key.name](const std::string& value) { context.given[name] = value; },
           fmt::format("{} Default: {}; key {}.", key.help, key.standard, key.name))
        ->type_name(key.metavar)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->group(of_run || of_create ? "Configuration" : "Common options");
  }
}

CLI::App* add_command(CLI::App& parent, Context& context, const std::string& name,
                      const std::string& summary, const std::string& prose) {
  CLI::App* command = parent.add_subcommand(name, summary);
  command->footer(prose);
  command->set_help_flag("-h,--help", "Show this help.");
  command->get_help_ptr()->group("Common options");
  add_common_options(*command, context);
  return command;
}

}  // namespace cairn::cli
