// One flipped bit at a time, aimed at every kind of record of a set in the pool and in lower. After
// each a restart finds right bytes and reports what it left out, or fails with a text that names
// the way out. Lower never lists fewer versions than before.
//
//   CAIRN_FLIPS   how many; CAIRN_SEED   repeats a failure
#include <atomic>
#include <cstdio>
#include <thread>

#include "damage/damaged_set.h"

namespace cairn::test {
namespace {

// Ends the process where a restart hangs: nothing else can, in one process.
class Watchdog {
 public:
  explicit Watchdog(const std::string* what) : thread_([this, what] { watch(what); }) {}
  ~Watchdog() {
    ends_ = true;
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  void tick() { ++ticks_; }

 private:
  void watch(const std::string* what) {
    constexpr int patience_s = 60;
    uint64_t seen = 0;
    int idle = 0;
    while (!ends_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      idle = seen == ticks_ ? idle + 1 : 0;
      seen = ticks_;
      if (idle < 5 * patience_s) continue;
      std::fprintf(stderr, "hangs: %s\n", what->c_str());
      std::abort();
    }
  }
  std::atomic<uint64_t> ticks_{0};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

bool names_way_out(const std::string& text) {
  for (const char* const way : {"cairn ckpt", "cairn pool", "CAIRN_POOL", "CAIRN_CHECKPOINT_FRESH"})
    if (text.find(way) != std::string::npos) return true;
  return false;
}

// "": it is as it has to be.
std::string judge(const Found& found) {
  if (found.number == 0 && found.error.empty()) return "no version, and not a word";
  if (found.number == 0)
    return names_way_out(found.error) ? "" : "no way out is named: " + found.error;
  if (!found.is_right) return "wrong bytes of version " + std::to_string(found.number);
  const auto newer = static_cast<uint32_t>(DamagedSet::versions - found.number);
  if (found.skipped != newer || (newer != 0 && found.why.empty()))
    return "version " + std::to_string(found.number) + " and a report of " +
           std::to_string(found.skipped) + " newer ones: " + found.why;
  return names_way_out(found.error) ? "" : found.error;
}

TEST(FlippedBits, RightBytesOrAWayOut) {
  const uint64_t seed = test_seed();
  const uint64_t flips = number_from_environment("CAIRN_FLIPS", 300);
  DamagedSet set;
  const std::set<std::string> listed = set.listed();
  ASSERT_EQ(listed.size(), static_cast<size_t>(DamagedSet::versions));
  std::string what = "begin";
  Watchdog watchdog(&what);
  std::map<std::string, uint64_t> outcomes;
  unsigned failures = 0;
  for (uint64_t i = 0; i < flips && failures < 20; ++i) {
    Random random(seed + i);
    const RecordKind& kind = set.kinds().all()[i % set.kinds().all().size()];
    const Range& range = kind.ranges[random.below(kind.ranges.size())];
    const uint64_t byte = random.below(range.end - range.begin);
    const auto bit = static_cast<unsigned>(random.below(8));
    const bool with_lower = range.is_in_lower || random.below(2) == 0;
    const bool goes_on = with_lower && random.below(4) == 0;
    what = kind.name + " " + range.file + ", byte " + std::to_string(byte) + ", bit " +
           std::to_string(bit) + (with_lower ? ", with lower" : "") + (goes_on ? ", goes on" : "") +
           ", CAIRN_SEED=" + std::to_string(seed + i);
    set.put_back(with_lower);
    set.flip(range, byte, bit);
    const Found found = set.restart(with_lower, goes_on);
    watchdog.tick();
    std::string wrong = judge(found);
    if (with_lower && wrong.empty()) {
      const std::set<std::string> after = set.listed();
      if (!std::includes(after.begin(), after.end(), listed.begin(), listed.end()))
        wrong = "lower lists fewer versions than before";
    }
    ++outcomes[found.number == 0 ? "error" : "version " + std::to_string(found.number)];
    if (wrong.empty()) continue;
    ++failures;
    ADD_FAILURE() << what << ": " << wrong;
  }
  for (const auto& [outcome, count] : outcomes)
    std::printf("%s: %llu\n", outcome.c_str(), static_cast<unsigned long long>(count));
}

}  // namespace
}  // namespace cairn::test
