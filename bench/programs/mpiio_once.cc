#include "programs/mpiio_once.h"

#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "harness/contest.h"
#include "harness/medium.h"
#include "harness/pools.h"

namespace cairn::bench {
namespace {

constexpr int ranks = 2;

// Returns the number that the command prints.
double run(const std::string& command) {
  FILE* output = popen((command + " < /dev/null").c_str(), "r");
  double value = 0;
  const bool ok = output != nullptr && std::fscanf(output, "%lf", &value) == 1;
  if (output == nullptr || pclose(output) != 0 || !ok) {
    std::fprintf(stderr, "bench_mpiio: failed: %s\n", command.c_str());
    std::exit(2);
  }
  return value;
}

class Jobs {
 public:
  Jobs(const Settings& settings, std::filesystem::path programs)
      : mib_(settings.quick ? 8 : 128),
        programs_(std::move(programs)),
        medium_(Medium::shared_memory()) {
    for (const char* name : {"covered", "pools", "plain"})
      must_posix(mkdir(medium_.path(name).c_str(), 0700), name);
  }
  [[nodiscard]] double covered(const std::string& mpi, size_t piece) const {
    std::ostringstream run_covered;
    run_covered << programs_.parent_path().parent_path() / "bin/cairn"
                << " run --drain never --at " << medium_.path("covered") << " --pool-dir "
                << medium_.path("pools") << " --pool-size " << ranks * mib_ + 128 << "MiB -- ";
    return run(run_covered.str() + job(mpi, "mpi", medium_.path("covered"), piece));
  }
  [[nodiscard]] double plain(const std::string& mpi, const std::string& way, size_t piece) const {
    return run(job(mpi, way, medium_.path("plain"), piece));
  }
  [[nodiscard]] size_t calls(size_t piece) const { return (mib_ << 20) / piece; }

 private:
  [[nodiscard]] std::string job(const std::string& mpi, const std::string& way,
                                const std::string& directory, size_t piece) const {
    std::ostringstream command;
    command << "mpirun." << mpi << " -n " << ranks << " " << (programs_ / mpi / "write_once") << " "
            << way << " " << directory << "/file " << mib_ << " " << piece;
    return command.str();
  }

  size_t mib_;
  std::filesystem::path programs_;
  Medium medium_;
};

}  // namespace

void write_once_rows(const Settings& settings, const std::filesystem::path& programs,
                     const std::vector<std::string>& mpis, Report& report) {
  const Jobs jobs(settings, programs);
  for (const size_t piece : {size_t{4} << 10, size_t{32} << 10, size_t{1} << 20}) {
    Contest contest;
    std::vector<size_t> ours;
    std::vector<size_t> own;
    for (const std::string& mpi : mpis) {
      (void)jobs.covered(mpi, piece);  // the pool is made
      ours.push_back(contest.add(mpi, [&](size_t) { return jobs.covered(mpi, piece); }));
      own.push_back(contest.add(mpi, [&](size_t) { return jobs.plain(mpi, "mpi", piece); }));
    }
    const size_t posix = contest.add(
        "POSIX, a file each", [&](size_t) { return jobs.plain(mpis.front(), "posix", piece); });
    contest.run(settings.quick ? 1 : 12);  // each is a job of its own
    for (size_t i = 0; i < mpis.size(); ++i) {
      const auto add = [&](const std::string& against, const std::vector<size_t>& limits,
                           double bar) {
        const size_t limit = contest.fastest(limits);
        const auto calls = static_cast<double>(jobs.calls(piece));
        Row row;
        row.measured = bootstrap_median(contest.speed_ratios(ours[i], limit));
        row.bar = Bar::at_least(bar);
        row.unit = Unit::times;
        row.ours_ns = contest.median(ours[i]) / calls;
        row.limit_ns = contest.median(limit) / calls;
        row.pairs = contest.rounds();
        row.group = "new ranks write once, 4 KiB pages, " + mpis[i];
        row.what = size_name(piece);
        row.against = against;
        report.add(std::move(row));
      };
      add("POSIX, a file each", {posix}, 1);
      add("the MPIs' own", own, 2);
    }
  }
}

}  // namespace cairn::bench
