// cairn config: shows every key, its value and the value's origin.
#include <CLI/CLI.hpp>
#include <memory>

#include "commands/all_commands.h"
#include "commands/command.h"
#include "text/error.h"
#include "text/output.h"
#include "text/suggest.h"

namespace cairn::cli {
namespace {

int config_command(const Config& config, bool json, const std::string& wanted) {
  if (!wanted.empty()) {
    std::vector<std::string> names;
    for (const Key& key : keys()) names.push_back(key.name);
    if (std::find(names.begin(), names.end(), wanted) == names.end())
      usage_error("unknown key {}{}", wanted, did_you_mean(wanted, names));
  }
  Json all = Json::object();
  Table table({"KEY", "VALUE", "ORIGIN"});
  for (const Key& key : keys()) {
    if (!wanted.empty() && key.name != wanted) continue;
    const Setting& setting = config.at(key.name);
    all[key.name] = {{"value", json_text(setting.value)},
                     {"origin", json_text(setting.origin)},
                     {"environment", key.environment()},
                     {"option", key.option()}};
    table.row({key.name, printable(setting.value), printable(setting.origin)});
  }
  if (json)
    print_json(all);
  else
    print_lines(wanted.empty() ? table.text() : printable(config.value(wanted)) + "\n");
  return exit_ok;
}

}  // namespace

void add_config_command(CLI::App& root, Context& context) {
  auto wanted = std::make_shared<std::string>();
  CLI::App* config = add_command(
      root, context, "config", "Show every key of the configuration, with its value and origin.",
      "Each key has one name in the file (pool.size, or size below pool), in the environment "
      "(CAIRN_POOL_SIZE) and on the command line (--pool-size). The command line overrides the "
      "environment, which overrides $XDG_CONFIG_HOME/cairn/cairn.yaml, which overrides "
      "/etc/cairn/cairn.yaml. CAIRN_CONFIG names one file that replaces both. An unknown key is an "
      "error.\n\n"
      "  # cairn.yaml\n"
      "  pool:\n"
      "    dir: /mnt/pmem\n"
      "    size: 50%\n"
      "  durability: write");
  config->add_option("KEY", *wanted, "Show only the value of this key.")->type_name("KEY");
  config->callback([&context, wanted] {
    context.action = [&context, wanted] {
      return config_command(context.config, context.json, *wanted);
    };
  });
}

}  // namespace cairn::cli
