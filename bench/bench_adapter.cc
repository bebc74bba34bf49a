// bench_adapter: what unchanged programs pay, through the preloaded adapter: against the C API for data,
// against tmpfs for metadata, against the bare system call for paths that are not covered, and for
// starting at all. Runs itself under `cairn run`.
#include <fcntl.h>
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
constexpr size_t batch = 256;

// ours - theirs per call, judged against `most` nanoseconds (or what scale makes of them).
void add_difference(Report& report, const Contest& contest, const char* what, const char* against,
                    double calls, double scale, Bar bar, Unit unit) {
  std::vector<double> differences;
  for (size_t i = 0; i < contest.rounds(); ++i)
    differences.push_back((contest.times(0)[i] - contest.times(1)[i]) / calls / scale);
  Row row;
  row.group = "adapter: more than";
  row.what = what;
  row.against = against;
  row.measured = bootstrap_median(differences);
  row.bar = bar;
  row.unit = unit;
  row.ours_ns = contest.median(0) / calls;
  row.limit_ns = contest.median(1) / calls;
  row.pairs = contest.rounds();
  report.add(std::move(row));
}

void data_row(const Settings& settings, const std::string& covered, const std::string& scratch,
              Report& report) {
  constexpr size_t piece = 4096;
  constexpr size_t size = size_t{256} << 20;
  const uint8_t* buffer = make_buffer(size_t{1} << 20);
  const int fd = open((covered + "/data").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  must_posix(fd, "opening a covered file");
  const OwnPool own(scratch + "/pool", {.size = size + (size_t{64} << 20)});
  const Attached attached(own.path());
  cairn_file* file = attached.open("data");
  for (int pass = 0; pass < 2; ++pass) {  // the second finds every page mapped
    for (size_t at = 0; at < size; at += piece) {
      must_posix(pwrite(fd, buffer, piece, static_cast<off_t>(at)), "pwrite");
      must(cairn_pwrite(file, buffer, piece, at), "cairn_pwrite");
    }
  }
  constexpr size_t slice = Settings::slice;
  const auto each = [&](size_t turn, auto call) {
    const size_t from = turn * slice % size;
    const double begin = now_ns();
    for (size_t at = from; at < from + slice; at += piece) call(at);
    return now_ns() - begin;
  };
  Contest contest;
  contest.add("adapter", [&](size_t) {
    return each(contest.turn(), [&](size_t at) {
      must_posix(pwrite(fd, buffer, piece, static_cast<off_t>(at)), "pwrite");
    });
  });
  contest.add("C API", [&](size_t) {
    return each(contest.turn(),
                [&](size_t at) { must(cairn_pwrite(file, buffer, piece, at), "cairn_pwrite"); });
  });
  contest.run(4 * settings.pairs);
  add_difference(report, contest, "pwrite 4 KiB", "C API", static_cast<double>(slice / piece), 1,
                 Bar::at_most(60), Unit::nanoseconds);
  close(fd);
}

void metadata_rows(const Settings& settings, const std::string& covered, const std::string& plain,
                   Report& report) {
  const auto each = [](const std::string& directory, auto call) {
    const double begin = now_ns();
    for (size_t i = 0; i < batch; ++i) call((directory + "/result-" + std::to_string(i)).c_str());
    return now_ns() - begin;
  };
  const auto create = [](const char* path) {
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    must_posix(fd, path);
    close(fd);
  };
  const auto look = [](const char* path) {
    struct stat st;
    must_posix(stat(path, &st), path);
  };
  const auto remove = [](const char* path) { must_posix(unlink(path), path); };
  Contest contest;
  contest.keep_order();  // what create made, unlink removes
  for (const std::string& directory : {covered, plain})
    contest.add("create and close", [&, directory](size_t) { return each(directory, create); });
  for (const std::string& directory : {covered, plain})
    contest.add("stat", [&, directory](size_t) { return each(directory, look); });
  for (const std::string& directory : {covered, plain})
    contest.add("unlink", [&, directory](size_t) { return each(directory, remove); });
  for (size_t ours = 0; ours < 6; ours += 2) {
    Row row = contest.judge(settings, ours, {ours + 1}, static_cast<double>(batch),
                            Bar::at_least(1), Unit::times);
    row.group = "adapter, metadata";
    row.what = contest.name(ours);
    row.against = "tmpfs";
    report.add(std::move(row));
  }
}

void uncovered_row(const Settings& settings, const std::string& plain, Report& report) {
  const std::string path = plain + "/uncovered";
  close(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  constexpr size_t calls = 5000;
  struct stat st;
  const auto each = [&](auto call) {
    const double begin = now_ns();
    for (size_t i = 0; i < calls; ++i) must_posix(call(), "stat");
    return now_ns() - begin;
  };
  Contest contest;
  contest.add("adapter", [&](size_t) { return each([&] { return stat(path.c_str(), &st); }); });
  contest.add("system call", [&](size_t) {
    return each([&] { return syscall(SYS_newfstatat, AT_FDCWD, path.c_str(), &st, 0); });
  });
  contest.run(4 * settings.pairs);
  add_difference(report, contest, "stat, uncovered path", "bare system call",
                 static_cast<double>(calls), 1, Bar::at_most(50), Unit::nanoseconds);
}

// Processor time of one run of /bin/true, from before its exec to its end, with the environment as it is, or
// without the adapter. The system call itself: what starts here must not be led through the adapter.
double start_time(bool preloaded) {
  std::vector<char*> environment;
  for (char** e = environ; *e != nullptr; ++e) {
    if (preloaded || std::strncmp(*e, "LD_PRELOAD=", 11) != 0) environment.push_back(*e);
  }
  environment.push_back(nullptr);
  const auto child = static_cast<pid_t>(syscall(SYS_fork));
  if (child == 0) {
    const char* arguments[] = {"/bin/true", nullptr};
    syscall(SYS_execve, arguments[0], arguments, environment.data());
    syscall(SYS_exit_group, 127);
  }
  int status = 0;
  must_posix(child, "fork");
  rusage usage = {};
  wait4(child, &status, 0, &usage);
  const auto ns = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

void start_row(const Settings& settings, Report& report) {
  Contest contest;
  contest.add("preloaded", [](size_t) { return start_time(true); });
  contest.add("plain", [](size_t) { return start_time(false); });
  contest.run(4 * settings.pairs);
  add_difference(report, contest, "start of a program", "without the adapter", 1, 1e3,
                 Bar::at_most(100), Unit::microseconds);
}

int inside(const Settings& settings, const std::string& directory) {
  Report report;
  report.fact("cairn", cairn_version());
  report.fact("machine", machine_name());
  report.fact("medium", "/dev/shm, 4 KiB pages");
  const std::string covered = directory + "/covered";
  const std::string plain = directory + "/plain";
  if (settings.wants("data")) data_row(settings, covered, plain, report);
  if (settings.wants("metadata")) metadata_rows(settings, covered, plain, report);
  if (settings.wants("uncovered")) uncovered_row(settings, plain, report);
  if (settings.wants("start")) start_row(settings, report);
  return report.conclude(settings.json);
}

int run(int argc, char** argv) {
  const Settings settings = parse_settings(argc, argv, "unchanged programs, through the adapter");
  if (const char* directory = std::getenv(inside_variable)) return inside(settings, directory);
  const Medium shm = Medium::shared_memory();
  if (!shm.ok()) {
    std::fprintf(stderr, "bench_adapter: %s\n", shm.why().c_str());
    return 2;
  }
  for (const char* name : {"covered", "plain"})
    must_posix(mkdir(shm.path(name).c_str(), 0700), name);
  setenv(inside_variable, shm.directory().c_str(), 1);
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string cairn = self.parent_path().parent_path() / "bin/cairn";
  const std::string covered = shm.path("covered");
  const std::string pools = shm.path("pools");
  must_posix(mkdir(pools.c_str(), 0700), pools.c_str());
  std::vector<std::string> words{cairn, "run",         "--at", covered, "--pool-dir",
                                 pools, "--pool-size", "1GiB", "--",    self};
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
