#include "persist/region/write_window.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>

#include "persist/region/region.h"

namespace cairn::persist {
namespace {

bool processor_has_keys() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string word; cpuinfo >> word;) {
    if (word == "ospke") return true;
  }
  return false;
}

class Memory {
 public:
  Memory()
      : base_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~Memory() { munmap(base_, size); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  [[nodiscard]] RegionOptions options() const {
    RegionOptions options;
    options.base = base_;
    options.size = size;
    options.large_pages = true;
    return options;
  }
  // Makes a store like any program.
  [[nodiscard]] int stray(char value) const {
    *static_cast<volatile char*>(base_) = value;
    return 0;
  }
  [[nodiscard]] char at(size_t offset) const { return static_cast<volatile char*>(base_)[offset]; }

 private:
  static constexpr size_t size = 1 << 16;
  void* base_;
};

// Runs `body` in a process of its own, because the switch stays on for good. Returns wait's status.
template <typename Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

bool ended_by(int status, int signal) { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }

TEST(WriteWindow, NothingIsHinderedWithoutIt) {
  const Memory memory;
  Region region;
  ASSERT_TRUE(region.open(memory.options()).ok());
  const WriteWindow window;
  EXPECT_EQ(in_child([&] { return memory.stray(0); }), 0);
}

TEST(WriteWindow, StopsStraysWhereTheProcessorCanAndRefusesElsewhere) {
  std::printf("this processor has %sprotection keys\n", processor_has_keys() ? "" : "no ");
  if (!processor_has_keys()) {
    EXPECT_EQ(in_child([] { return switch_on_write_window().code() == EOPNOTSUPP ? 0 : 1; }), 0);
    return;
  }
  const Memory memory;
  const auto with_region = [&](auto body) {
    return in_child([&] {
      Region region;
      if (!switch_on_write_window().ok() || !region.open(memory.options()).ok()) return 9;
      return body(region);
    });
  };
  EXPECT_TRUE(ended_by(with_region([&](Region&) { return memory.stray(1); }), SIGSEGV));
  EXPECT_EQ(with_region([&](Region& region) {
              const WriteWindow window;
              return region.copy(0, "abc", 3).ok() && memory.at(1) == 'b' ? 0 : 1;
            }),
            0);
  // Closed again, with reading allowed; also behind an inner window.
  EXPECT_EQ(with_region([&](Region&) {
              { const WriteWindow window; }
              return memory.at(2) == 'c' ? 0 : 1;
            }),
            0);
  EXPECT_EQ(with_region([&](Region&) {
              const WriteWindow outer;
              { const WriteWindow inner; }
              return memory.stray(0);
            }),
            0);
  EXPECT_TRUE(ended_by(with_region([&](Region&) {
                         {
                           const WriteWindow outer;
                           const WriteWindow inner;
                         }
                         return memory.stray(1);
                       }),
                       SIGSEGV));
}

}  // namespace
}  // namespace cairn::persist
