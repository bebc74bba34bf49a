// Each function adds the commands of one file in this folder; program/command_line.cc calls them.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace cairn::cli {

struct Context;

void add_pool_commands(CLI::App& root, Context& context);
void add_pool_clean_command(CLI::App& pool, Context& context);
void add_list_commands(CLI::App& root, Context& context);
void add_change_commands(CLI::App& root, Context& context);
void add_copy_command(CLI::App& root, Context& context);
void add_run_command(CLI::App& root, Context& context);
void add_cover_commands(CLI::App& root, Context& context);
void add_stage_command(CLI::App& root, Context& context);
void add_status_command(CLI::App& root, Context& context);
void add_ckpt_commands(CLI::App& root, Context& context);
void add_config_command(CLI::App& root, Context& context);
void add_doctor_command(CLI::App& root, Context& context);
void add_bench_command(CLI::App& root, Context& context);
void add_help_commands(CLI::App& root, Context& context);

}  // namespace cairn::cli
