// bench_programs: whole programs in a covered directory against the same programs in a plain
// directory on tmpfs, in turn: `git status`, unpacking an archive, `make`, a history of commits.
// Runs itself under `cairn run`.
//
// The project is this source tree for git and tar. For make it is forty C files that include what C
// files include, or what CAIRN_BENCH_PROJECT names: a tar archive whose only folder builds with
// `make`.
//
// Times are processor times of all processes that a program consists of, which run one after the
// other.
#include <cstdio>
#include <cstdlib>

#include "harness/contest.h"
#include "harness/program_time.h"
#include "programs/covered.h"

namespace cairn::bench {
namespace {

struct Place {
  std::string directory;
  bool covered;
};

// A shell's processor time; @ in the command is the place's directory.
double run_shell(const Place& place, std::string command) {
  for (size_t at; (at = command.find('@')) != std::string::npos;)
    command.replace(at, 1, place.directory);
  const char* const arguments[] = {"/bin/sh", "-c", command.c_str(), nullptr};
  const ProgramRun run = run_program(arguments, place.covered);
  if (run.status != 0) {
    std::fprintf(stderr, "bench_programs: failed: %s\n", command.c_str());
    std::exit(2);
  }
  return run.time_ns;
}

struct Program {
  const char* name;
  std::string before;  // each time, not measured
  std::string command;
  Bar bar;
};

void add_row(const Settings& settings, const Program& program, const Place (&places)[2],
             Report& report) {
  Contest contest;
  for (const Place& place : places)
    contest.add(program.name, [&](size_t) {
      if (!program.before.empty()) run_shell(place, program.before);
      return run_shell(place, program.command);
    });
  for (const Place& place : places) {  // warm
    if (!program.before.empty()) run_shell(place, program.before);
    run_shell(place, program.command);
  }
  const size_t rounds = settings.quick ? 3 : settings.pairs / 2;
  contest.run(rounds);
  Row row;
  row.group = "programs: time against tmpfs";
  row.what = program.name;
  row.against = "tmpfs";
  row.measured = bootstrap_median(contest.speed_ratios(1, 0));
  row.bar = program.bar;
  row.unit = Unit::times;
  row.ours_ns = contest.median(0);
  row.limit_ns = contest.median(1);
  row.pairs = contest.rounds();
  report.add(std::move(row));
}

// Forty files, a library of them, and a program.
const char* const own_project = R"(mkdir -p @/project && cd @/project
i=0; while [ $i -lt 40 ]; do
printf '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <math.h>\n#include <unistd.h>\nint part_%d(const char* text, int n) {\n  char line[256];\n  int sum = 0;\n  for (int i = 0; i < n; ++i) {\n    snprintf(line, sizeof line, "%%s %%d", text, i * %d);\n    sum += (int)strlen(line) + line[i %% 7] + (int)fabs(sin(i));\n  }\n  return sum + getpid() %% 2;\n}\n' $i $i > part_$i.c
i=$((i + 1)); done
printf 'int part_7(const char*, int);\nint main(void) { return part_7("x", 3) < 0; }\n' > main.c
printf 'CFLAGS = -O2 -Wall\nobjects = $(patsubst %%.c,%%.o,$(wildcard part_*.c))\nall: main\nmain: main.o libparts.a\n\t$(CC) -o main $^ -lm\nlibparts.a: $(objects)\n\t$(AR) rc libparts.a $^\nclean:\n\trm -f *.o *.a main\n' > Makefile
)";

void measure(const Settings& settings, const std::string& directory, Report& report) {
  const Place places[2] = {{directory + "/covered", true}, {directory + "/plain", false}};
  const std::string archive = directory + "/tree.tar";
  const std::string tree = CAIRN_SOURCE_DIRECTORY;
  run_shell({directory, false},
            "cd @ && tar -C '" + tree +
                "' -cf tree.tar --exclude=./build --exclude=./.git . && "
                "mkdir home && git config --file home/.gitconfig user.email a@b && "
                "git config --file home/.gitconfig user.name bench && "
                "git config --file home/.gitconfig gc.auto 0");
  setenv("HOME", (directory + "/home").c_str(), 1);
  setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
  const char* given = std::getenv("CAIRN_BENCH_PROJECT");
  for (const Place& place : places) {
    run_shell(place, "mkdir @/tree && tar -C @/tree -xf '" + archive + "'");
    run_shell(place, "cd @/tree && git init -q . && git add -A && git commit -qm start");
    run_shell(place, given == nullptr ? own_project
                                      : std::string("tar -C @ -xf '") + given +
                                            "' --one-top-level=project --strip-components=1");
  }
  const Bar bar = Bar::at_most(1.1);
  const Program programs[] = {
      {"git status", "", "exec git -C @/tree status --short > /dev/null", bar},
      {"untar", "rm -rf @/unpacked && mkdir @/unpacked", "exec tar -C @/unpacked -xf " + archive,
       bar},
      {"make", "make -s -C @/project clean > /dev/null",
       "exec make -s -C @/project > /dev/null 2>&1", bar},
      {"git commit, five times", "",
       "cd @/tree && for i in 1 2 3 4 5; do echo $i >> README.md && git commit -qam more; done",
       Bar()}};
  for (const Program& program : programs)
    if (settings.wants(program.name)) add_row(settings, program, places, report);
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  return run_covered({.name = "bench_programs",
                      .purpose = "whole programs, through the adapter",
                      .options = {"--drain", "never"},
                      .measure = measure},
                     argc, argv);
}
