// The bar of structure: reading and overwriting store to no cache line that another process writes.
// Two processes read and overwrite one file in the simulator, which shows each store's address.
#include <fcntl.h>

#include <map>
#include <set>

#include "crash/crash_lab.h"

namespace cairn::test {
namespace {

constexpr uint64_t line_size = 64;
constexpr size_t piece = 4096;
constexpr uint64_t pieces = 64;

// The lines whose contents differ between two copies of the pool's memory: who stored to them.
std::set<uint64_t> stored_lines(const std::vector<uint8_t>& before, const uint8_t* now) {
  std::set<uint64_t> lines;
  for (uint64_t at = 0; at < before.size(); at += line_size) {
    if (std::memcmp(before.data() + at, now + at, line_size) != 0) lines.insert(at / line_size);
  }
  return lines;
}

// Gathers the lines that a process stores to.
class Watch {
 public:
  explicit Watch(CrashLab& lab) : lab_(lab) {}

  // Also those whose value was stored back later: the history is replayed event by event.
  template <typename Operation>
  std::set<uint64_t> lines_of(int cpu, Operation operation) {
    persist::Simulator& simulator = lab_.simulator();
    const size_t size = simulator.region_size(0);
    simulator.settle();
    persist::Simulator::set_cpu(cpu);
    std::vector<uint8_t> before(simulator.memory(0), simulator.memory(0) + size);
    operation();
    persist::Simulator::set_cpu(0);
    std::set<uint64_t> lines = stored_lines(before, simulator.memory(0));
    // What was stored and stored back shows in the states between events.
    const uint64_t end = simulator.mark();
    std::vector<uint8_t> last = before;
    for (uint64_t point = 0; point <= end; ++point) {
      simulator.visit_killed(point, 0, 1, [&] {
        const uint8_t* image = simulator.image(0);
        for (uint64_t at = 0; at < size; at += 4096) {
          if (std::memcmp(last.data() + at, image + at, 4096) == 0) continue;
          for (uint64_t line = at; line < at + 4096; line += line_size) {
            if (std::memcmp(last.data() + line, image + line, line_size) != 0)
              lines.insert(line / line_size);
          }
          std::memcpy(last.data() + at, image + at, 4096);
        }
        return true;
      });
    }
    return lines;
  }

 private:
  CrashLab& lab_;
};

std::string common(const std::set<uint64_t>& a, const std::set<uint64_t>& b) {
  std::string text;
  for (uint64_t line : a) {
    if (b.count(line) != 0) text += " " + std::to_string(line * line_size);
  }
  return text;
}

TEST(SharedLines, ReadingAndOverwritingShareNone) {
  LabOptions options;
  options.processes = 2;
  CrashLab lab(options);
  cairn_file* file[2];
  std::vector<char> bytes(pieces * piece, 'a');
  for (int i : {0, 1})
    ASSERT_EQ(cairn_open(lab.pool(i), CAIRN_ROOT, "shared", O_RDWR | O_CREAT, 0600, &file[i]), 0);
  ASSERT_EQ(cairn_pwrite(file[0], bytes.data(), bytes.size(), 0),
            static_cast<ssize_t>(bytes.size()));
  // The first use of a handle may claim its stamp; what counts is every use after it.
  for (int i : {0, 1}) ASSERT_EQ(cairn_pwrite(file[i], "x", 1, 0), 1);
  const auto use = [&](int i) {
    return [&, i] {
      std::vector<char> mine(piece, static_cast<char>('b' + i));
      std::vector<char> read(3 * piece);
      // Each overwrites its half and reads all.
      for (uint64_t n = 0; n < 4; ++n) {
        const uint64_t at = (static_cast<uint64_t>(i) * pieces / 2 + n * 3) * piece;
        ASSERT_EQ(cairn_pwrite(file[i], mine.data(), mine.size(), at), static_cast<ssize_t>(piece));
        ASSERT_EQ(cairn_pwrite(file[i], mine.data(), 100, at + 64), 100);
      }
      for (uint64_t n = 0; n < pieces; n += 16)
        ASSERT_EQ(cairn_pread(file[i], read.data(), read.size(), n * piece),
                  static_cast<ssize_t>(read.size()));
    };
  };
  Watch watch(lab);
  const auto first = watch.lines_of(0, use(0));
  const auto second = watch.lines_of(1, use(1));
  EXPECT_GT(first.size(), 4 * piece / line_size);
  EXPECT_EQ(common(first, second), "") << "addresses of lines that both stored to";
  // Reading alone stores to nothing but the reader's own seat.
  const auto reading = watch.lines_of(0, [&] {
    std::vector<char> read(10 * piece);
    ASSERT_EQ(cairn_pread(file[0], read.data(), read.size(), 5000),
              static_cast<ssize_t>(read.size()));
  });
  EXPECT_LE(reading.size(), 1U);
  for (int i : {0, 1}) EXPECT_EQ(cairn_close(file[i]), 0);
}

}  // namespace
}  // namespace cairn::test
