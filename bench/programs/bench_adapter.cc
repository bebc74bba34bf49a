// bench_adapter: what unchanged programs pay, through the preloaded adapter: against the C API for
// data, against tmpfs for metadata, against the bare system call for paths that are not covered,
// and for starting at all. Runs itself under `cairn run`.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/contest.h"
#include "harness/pools.h"
#include "harness/program_time.h"
#include "programs/covered.h"

namespace cairn::bench {
namespace {

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
  contest.run(2 * settings.pairs);
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
    Row row = contest.judge(settings, ours, {ours + 1}, batch, Bar::at_least(1), Unit::times);
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
  contest.run(2 * settings.pairs);
  add_difference(report, contest, "stat, uncovered path", "bare system call",
                 static_cast<double>(calls), 1, Bar::at_most(50), Unit::nanoseconds);
}

double start_time(bool preloaded) {
  const char* const arguments[] = {"/bin/true", nullptr};
  return run_program(arguments, preloaded).time_ns;
}

void start_row(const Settings& settings, Report& report) {
  Contest contest;
  contest.add("preloaded", [](size_t) { return start_time(true); });
  contest.add("plain", [](size_t) { return start_time(false); });
  contest.run(2 * settings.pairs);
  add_difference(report, contest, "start of a program", "without the adapter", 1, 1e3,
                 Bar::at_most(100), Unit::microseconds);
}

void measure(const Settings& settings, const std::string& directory, Report& report) {
  const std::string covered = directory + "/covered";
  const std::string plain = directory + "/plain";
  if (settings.wants("data")) data_row(settings, covered, plain, report);
  if (settings.wants("metadata")) metadata_rows(settings, covered, plain, report);
  if (settings.wants("uncovered")) uncovered_row(settings, plain, report);
  if (settings.wants("start")) start_row(settings, report);
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  return run_covered({.name = "bench_adapter",
                      .purpose = "unchanged programs, through the adapter",
                      .options = {},
                      .measure = measure},
                     argc, argv);
}
