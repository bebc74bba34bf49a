#include "harness/free_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "harness/pools.h"

namespace cairn::bench {
namespace {

size_t memory_info(const std::string& key) {
  std::ifstream info("/proc/meminfo");
  for (std::string word; info >> word;) {
    size_t kib = 0;
    if (word == key && info >> kib) return kib << 10;
  }
  return 0;
}

double seconds() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

[[noreturn]] void touch(size_t size) {
  // If memory gets short, the kernel ends this process first.
  const int preference = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (preference < 0 || write(preference, "1000", 4) != 4) _exit(1);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) _exit(1);
  madvise(memory, size, MADV_HUGEPAGE);  // fewer faults, where there are 2 MiB pages
  const size_t count = std::max(1U, std::thread::hardware_concurrency());
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t share = (size / count + page - 1) / page * page;
  std::vector<std::thread> threads;
  for (size_t from = 0; from < size; from += share) {
    threads.emplace_back([=] {
      auto* bytes = static_cast<volatile uint8_t*>(memory);
      for (size_t at = from; at < std::min(from + share, size); at += page) bytes[at] = 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  _exit(0);
}

}  // namespace

size_t available_memory() { return memory_info("MemAvailable:"); }

std::string touch_free_memory() {
  constexpr size_t for_others = size_t{512} << 20;
  const size_t free = memory_info("MemFree:");
  if (free <= for_others) return "none: less than 512 MiB is free";
  const size_t size = (free - for_others) >> 20 << 20;
  const double begin = seconds();
  std::fflush(nullptr);
  const pid_t child = fork();
  must_posix(child, "fork");
  if (child == 0) touch(size);
  int status = 0;
  must_posix(waitpid(child, &status, 0), "waitpid");
  char text[96];
  std::snprintf(text, sizeof text, "%s %.1f GiB in %.1f s",
                WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "all but 512 MiB:"
                                                              : "not all: ended within",
                static_cast<double>(size) / (1 << 30), seconds() - begin);
  return text;
}

}  // namespace cairn::bench
