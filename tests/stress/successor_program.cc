// What a worker of the storm becomes by exec: takes over the open file that it was handed, and uses
// it; struck by its own timer now and then.
//
//   successor POOL LANE SLOT GENERATION WORKER SEED
#include <sys/mman.h>
#include <sys/time.h>

#include "stress/worker.h"

namespace cairn::test {
namespace {

int succeed(char** arguments) {
  const auto number = [arguments](int i) { return std::strtoull(arguments[i], nullptr, 10); };
  Random random(number(6));
  if (random.one_in(3)) {
    itimerval timer{};
    timer.it_value.tv_usec = static_cast<suseconds_t>(100 + random.below(4000));
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
  cairn_pool* pool = nullptr;
  if (cairn_pool_attach(arguments[1], 0, &pool) != 0) return 2;
  cairn_file* file = nullptr;
  if (cairn_file_adopt(pool, cairn_file_id{number(3), number(4)}, &file) != 0) return 3;
  if (cairn_exec_adopt(pool, static_cast<int>(number(2))) != 0) return 4;
  auto* oracle = static_cast<Oracle*>(
      mmap(nullptr, sizeof(Oracle), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (static_cast<void*>(oracle) == MAP_FAILED) return 5;
  new (oracle) Oracle;
  Worker worker(*oracle, static_cast<unsigned>(number(5)), pool, random.next());
  for (int i = 0; i < 5; ++i) {
    if (worker.use_shared_file(file)) continue;
    std::fprintf(stderr, "successor: %s\n", oracle->failure);
    return 6;
  }
  if (random.one_in(2)) {
    cairn_close(file);
    cairn_pool_detach(pool);
  }
  return 0;
}

}  // namespace
}  // namespace cairn::test

int main(int count, char** arguments) { return count == 7 ? cairn::test::succeed(arguments) : 1; }
