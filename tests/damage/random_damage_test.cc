// The fuzzer's target without the fuzzer: random damage of all kinds, in processes that are
// watched.
//
//   CAIRN_SEED, CAIRN_DAMAGE_SECONDS   repeat a failure, run for longer
#include <sys/wait.h>

#include <csignal>

#include "damage/sample_pool.h"

namespace cairn::test {
namespace {

TEST(RandomDamage, NeitherCrashesNorHangs) {
  const uint64_t seed = test_seed();
  const double end =
      now_s() + static_cast<double>(number_from_environment("CAIRN_DAMAGE_SECONDS", 8));
  constexpr uint64_t batch = 20;
  SamplePool pool;  // made here, so that it goes away also when a child crashes
  uint64_t failures = 0;
  uint64_t tries = 0;
  for (uint64_t first = 0; now_s() < end && failures < 3; first += batch) {
    int progress[2];
    ASSERT_EQ(pipe(progress), 0);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      for (uint64_t i = first; i < first + batch; ++i) {
        if (write(progress[1], &i, sizeof i) != sizeof i) _exit(2);
        Random random(seed + i);
        std::vector<uint8_t> script(12 * (1 + random.below(3)));
        for (uint8_t& byte : script) byte = static_cast<uint8_t>(random.next());
        pool.try_script(script.data(), script.size());
      }
      _exit(0);
    }
    ::close(progress[1]);
    uint64_t last = 0;
    while (read(progress[0], &last, sizeof last) == sizeof last) ++tries;
    ::close(progress[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (status != 0) {
      ++failures;
      ADD_FAILURE() << (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "hangs" : "crashes")
                    << " (status " << status << ") with CAIRN_SEED=" << seed + last;
    }
  }
  std::printf("%llu images\n", static_cast<unsigned long long>(tries));
}

}  // namespace
}  // namespace cairn::test
