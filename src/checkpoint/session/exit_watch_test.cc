#include "checkpoint/session/exit_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>  // NOLINT: raise
#include <unistd.h>

#include <cstdlib>

#include "base/coarse_clock.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t second = 1'000'000'000;

TEST(ExitWatch, NothingEndsAJobThatNobodyLimits) {
  unsetenv("SLURM_JOB_END_TIME");
  const ExitWatch watch({});
  EXPECT_EQ(watch.look(1000 * second), ExitWatch::none);
  const ExitOutlook outlook = watch.outlook(ExitWatch::none, second);
  EXPECT_EQ(outlook.left_ns, UINT64_MAX);
  EXPECT_EQ(outlook.interval_ns, 0U);
  EXPECT_EQ(outlook.text, "");
}

TEST(ExitWatch, TheTimeThatIsLeftHasToHoldOneAndAHalfCheckpointsAndTheMargin) {
  ExitWatch::Options options;
  options.end_time_ns = fine_now_ns() + 100 * second;
  options.margin_ns = 40 * second;
  const ExitWatch watch(options);
  EXPECT_EQ(watch.look(20 * second), ExitWatch::none) << "70 s are needed";
  EXPECT_EQ(watch.look(60 * second), ExitWatch::time) << "130 s are needed";
  const ExitOutlook outlook = watch.outlook(ExitWatch::time, 60 * second);
  EXPECT_LE(outlook.left_ns, 100 * second);
  EXPECT_NE(outlook.text.find("a checkpoint takes 60.0 s"), std::string::npos) << outlook.text;
}

TEST(ExitWatch, SlurmNamesTheEndOfItsJob) {
  setenv("SLURM_JOB_END_TIME", "1000", 1);
  const ExitWatch over({});
  EXPECT_EQ(over.look(0), ExitWatch::time);
  setenv("SLURM_JOB_END_TIME", "soon", 1);
  EXPECT_EQ(ExitWatch({}).look(0), ExitWatch::none) << "a text that is not a number";
  unsetenv("SLURM_JOB_END_TIME");
}

TEST(ExitWatch, AHaltFileEndsTheJobOnceItExists) {
  char path[] = "/tmp/cairn-halt-XXXXXX";
  const int descriptor = mkstemp(path);
  ASSERT_GE(descriptor, 0);
  close(descriptor);
  ASSERT_EQ(unlink(path), 0);
  ExitWatch::Options options;
  options.halt_file = path;
  const ExitWatch watch(options);
  EXPECT_EQ(watch.look(0), ExitWatch::none);
  close(open(path, O_CREAT | O_WRONLY, 0600));
  EXPECT_EQ(watch.look(0), ExitWatch::halt_file);
  EXPECT_EQ(watch.outlook(ExitWatch::halt_file, 0).text, "the halt file is there");
  unlink(path);
}

TEST(ExitWatch, AdvisesAnIntervalIfItKnowsCostAndFailures) {
  ExitWatch::Options options;
  options.mtbf_ns = 86400 * second;
  const uint64_t interval = ExitWatch(options).outlook(ExitWatch::none, 10 * second).interval_ns;
  EXPECT_GT(interval, 1000 * second);
  EXPECT_LT(interval, 2000 * second);
}

int handled = 0;

// The last test: the signal stays known to the process.
TEST(ExitWatch, ZASignalIsSeenByWatchesOfSignalsAndReachesTheProgram) {
  signal(SIGUSR1, [](int number) { handled = number; });
  ExitWatch::Options options;
  options.watches_signals = true;
  const ExitWatch watch(options);
  const ExitWatch other({});
  EXPECT_EQ(watch.look(0), ExitWatch::none);
  EXPECT_EQ(watch.outlook(ExitWatch::signal, 0).text, "a signal came to another rank");
  raise(SIGUSR1);
  EXPECT_EQ(handled, SIGUSR1);
  EXPECT_EQ(watch.look(0), ExitWatch::signal);
  EXPECT_EQ(other.look(0), ExitWatch::none);
  EXPECT_EQ(watch.outlook(ExitWatch::signal, 0).text,
            "signal " + std::to_string(SIGUSR1) + " came");
}

}  // namespace
}  // namespace cairn::checkpoint
