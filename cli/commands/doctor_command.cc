// cairn doctor: will Cairn work here, and with this program?
#include <CLI/CLI.hpp>
#include <memory>

#include "commands/all_commands.h"
#include "commands/command.h"
#include "doctor/doctor.h"
#include "frame/description.h"
#include "text/error.h"
#include "text/output.h"

namespace cairn::cli {
namespace {

int doctor_command(const Config& config, bool json, const std::string& program) {
  const Findings all = program.empty() ? look_at_environment(config) : look_at_program(program);
  bool wrong = false;
  Json list = Json::array();
  for (const Finding& found : all) {
    wrong = wrong || found.level == Level::wrong;
    list.push_back({{"level", level_text(found.level)},
                    {"topic", found.topic},
                    {"text", json_text(found.text)}});
    if (json) continue;
    const std::string text = wrap(printable(found.text), 28);
    print("{:<8} {:<18} ", level_text(found.level), found.topic);
    print_lines(text.substr(28));
  }
  if (json) print_json({{"ok", !wrong}, {"findings", list}});
  return wrong ? exit_failed : exit_ok;
}

}  // namespace

void add_doctor_command(CLI::App& root, Context& context) {
  auto program = std::make_shared<std::string>();
  CLI::App* doctor = add_command(
      root, context, "doctor", "Check whether Cairn will work here, or with a program.",
      "Without PROGRAM, the command checks the pool directory and its medium, memory and cgroup "
      "limits, huge pages, and persistent memory. It also checks what may remove pools, whether "
      "programs can preload the library, and which MPIs are served. With PROGRAM, the command "
      "lists which file calls the program and its libraries import, and which of them Cairn "
      "serves. It names programs that cannot be served (static, Go, set-user-id, built for another "
      "machine). PROGRAM is not run. Exit code 1 if something is wrong.\n\n"
      "  cairn doctor\n"
      "  cairn doctor ./simulation");
  doctor->add_option("PROGRAM", *program, "A program: a name in PATH, or a path.")
      ->type_name("PROGRAM");
  doctor->callback([&context, program] {
    context.action = [&context, program] {
      return doctor_command(context.config, context.json, *program);
    };
  });
}

}  // namespace cairn::cli
