// exerciser COVERED PLAIN SECONDS SEED PROCESSES: the same random calls in a covered directory and
// in a plain one, until they differ or the time is up. Several processes work beside each other,
// each in directories of its own: the pool is one.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "adapter/exerciser/worlds.h"

static int exercise(const std::string& covered, const std::string& plain, time_t end,
                    uint64_t seed) {
  for (const std::string& root : {covered, plain}) {
    if (mkdir(root.c_str(), 0755) != 0) {
      perror(root.c_str());
      return 1;
    }
  }
  exerciser::Exerciser one(covered, plain, seed);
  while (time(nullptr) < end) {
    for (int i = 0; i < 50; ++i)
      if (!one.step()) return 1;
  }
  if (!one.compare_trees()) return 1;
  one.close_all();
  if (!one.compare_trees()) return 1;
  std::printf("seed %llu: %llu calls, the same\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(one.steps()));
  return 0;
}

int main(int count, char** arguments) {
  if (count != 6) return 2;
  const time_t end = time(nullptr) + atol(arguments[3]);
  const uint64_t seed = strtoull(arguments[4], nullptr, 10);
  const int processes = atoi(arguments[5]);
  for (int i = 0; i < processes; ++i) {
    if (fork() != 0) continue;
    const std::string own = "/" + std::to_string(i);
    const int status =
        exercise(arguments[1] + own, arguments[2] + own, end, seed + static_cast<uint64_t>(i));
    std::fflush(nullptr);
    _exit(status);
  }
  int bad = 0;
  for (int status; wait(&status) > 0;) bad += status == 0 ? 0 : 1;
  return bad == 0 ? 0 : 1;
}
