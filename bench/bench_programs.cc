// bench_programs: whole programs in a covered directory against the same programs in a plain directory on
// tmpfs, in turn: `git status`, unpacking an archive, `make`, a history of commits. Runs itself under
// `cairn run`.
//
// The project is this source tree for git and tar. For make it is forty C files that include what C files
// include, or what CAIRN_BENCH_PROJECT names: a tar archive whose only folder builds with `make`.
//
// Times are processor times of all processes that a program consists of, which run one after the other.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "contest.h"
#include "medium.h"
#include "pools.h"

namespace cairn::bench {
namespace {

constexpr const char* inside_variable = "CAIRN_BENCH_INSIDE";

struct Place {
  std::string directory;
  bool covered;
};

// A shell's processor time with that of all it waits for; @ in the command is the place's directory. By
// system call, so that nothing but the program itself goes through the adapter, or, in a plain
// directory, not even that.
double run_shell(const Place& place, std::string command) {
  std::vector<char*> environment;
  for (char** e = environ; *e != nullptr; ++e) {
    if (place.covered || std::strncmp(*e, "LD_PRELOAD=", 11) != 0) environment.push_back(*e);
  }
  environment.push_back(nullptr);
  for (size_t at; (at = command.find('@')) != std::string::npos;)
    command.replace(at, 1, place.directory);
  const char* arguments[] = {"/bin/sh", "-c", command.c_str(), nullptr};
  const auto child = static_cast<pid_t>(syscall(SYS_fork));
  must_posix(child, "fork");
  if (child == 0) {
    syscall(SYS_execve, arguments[0], arguments, environment.data());
    syscall(SYS_exit_group, 127);
  }
  int status = 0;
  rusage usage = {};
  must_posix(wait4(child, &status, 0, &usage), "wait4");
  if (status != 0) {
    std::fprintf(stderr, "bench_programs: failed: %s\n", command.c_str());
    std::exit(2);
  }
  const auto ns = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
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
  const auto ratios = [&] { return bootstrap_median(contest.speed_ratios(1, 0)); };
  while (program.bar.is_open(ratios()) && contest.rounds() < 3 * rounds) contest.run(rounds);
  Row row;
  row.group = "programs: time against tmpfs";
  row.what = program.name;
  row.against = "tmpfs";
  row.measured = ratios();
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

int inside(const Settings& settings, const std::string& directory) {
  Report report;
  report.fact("cairn", cairn_version());
  report.fact("machine", machine_name());
  report.fact("medium", "/dev/shm, 4 KiB pages");
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
  return report.conclude(settings.json);
}

int run(int argc, char** argv) {
  const Settings settings = parse_settings(argc, argv, "whole programs, through the adapter");
  if (const char* directory = std::getenv(inside_variable)) return inside(settings, directory);
  const Medium shm = Medium::shared_memory();
  if (!shm.ok()) {
    std::fprintf(stderr, "bench_programs: %s\n", shm.why().c_str());
    return 2;
  }
  for (const char* name : {"covered", "plain", "pools"})
    must_posix(mkdir(shm.path(name).c_str(), 0700), name);
  setenv(inside_variable, shm.directory().c_str(), 1);
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string cairn = self.parent_path().parent_path() / "bin/cairn";
  std::vector<std::string> words{cairn,         "run",   "--at",       shm.path("covered"),
                                 "--drain",     "never", "--pool-dir", shm.path("pools"),
                                 "--pool-size", "1GiB",  "--",         self};
  words.insert(words.end(), argv + 1, argv + argc);
  const pid_t child = fork();
  must_posix(child, "fork");
  if (child == 0) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(cairn.c_str(), arguments.data());
    std::perror(cairn.c_str());
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  if (std::getenv(cairn::bench::inside_variable) != nullptr) return cairn::bench::run(argc, argv);
  return cairn::bench::supervised(cairn::bench::run, argc, argv);
}
