#include "crash/interleaved.h"

#include <fcntl.h>

#include <atomic>
#include <thread>

namespace cairn::test {
namespace {

// The files that all pairs work on.
void prepare(const Pair& pair, CrashLab& lab) {
  cairn_pool* pool = lab.pool();
  const auto put = [pool](const char* name, char c, size_t size) {
    cairn_file* file = nullptr;
    ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, name, O_RDWR | O_CREAT, 0640, &file), 0)
        << cairn_last_error();
    const std::string bytes(size, c);
    ASSERT_EQ(cairn_pwrite(file, bytes.data(), size, 0), static_cast<ssize_t>(size));
    ASSERT_EQ(cairn_close(file), 0);
  };
  put("secret", 'S', 400'000);
  ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, "secret"), 0);
  cairn_pool_info info;
  ASSERT_EQ(cairn_pool_get_info(pool, &info), 0);
  put("a", 'a', 9000);
  put("b", 'b', 50'000);
  put("log", 'l', 300);
  put("empty", ' ', 0);
  for (const char* name : {"d", "e"}) ASSERT_EQ(cairn_mkdir(pool, CAIRN_ROOT, name, 0700), 0);
  put("d/f", 'f', 100);
  if (pair.prepare != nullptr) pair.prepare(lab);
}

// Where in the history the calls began and returned.
struct Marks {
  std::atomic<uint64_t> begun_at[2] = {UINT64_MAX, UINT64_MAX};
  std::atomic<uint64_t> returned_at[2] = {UINT64_MAX, UINT64_MAX};

  [[nodiscard]] std::string judge(const Outcomes& outcomes, const Snapshot& found,
                                  uint64_t point) const {
    return outcomes.judge(found, {begun_at[0] < point, begun_at[1] < point},
                          {returned_at[0] <= point, returned_at[1] <= point});
  }
};

uint64_t solo(const Pair& pair, const LabOptions& options, const std::vector<int>& order,
              Snapshot* after) {
  CrashLab lab(options);
  prepare(pair, lab);
  lab.begin();
  for (int i : order) {
    persist::Simulator::set_cpu(i);
    pair.call[i](lab.pool(i));
  }
  persist::Simulator::set_cpu(0);
  *after = lab.snapshot();
  return lab.simulator().mark();
}

}  // namespace

Outcomes::Outcomes(const Pair& pair, const LabOptions& options) : bytes_(pair.bytes) {
  solo(pair, options, {}, &neither_);
  for (int i : {0, 1}) {
    solo(pair, options, {i}, &only_[i]);
    solo(pair, options, {i, 1 - i}, &both_[i]);
  }
}

std::string Outcomes::judge(const Snapshot& found, const bool (&begun)[2],
                            const bool (&returned)[2]) const {
  std::vector<const Snapshot*> allowed;
  if (!returned[0] && !returned[1]) allowed.push_back(&neither_);
  for (int i : {0, 1}) {
    if (begun[i] && !returned[1 - i]) allowed.push_back(&only_[i]);
  }
  if (begun[0] && begun[1]) allowed.insert(allowed.end(), {&both_[0], &both_[1]});
  std::string differences;
  for (const Snapshot* state : allowed) {
    const std::string text = difference(found, *state);
    if (text.empty()) return "";
    differences += " {" + text + "}";
  }
  // Part of a write: between any two of these states.
  for (const Snapshot* low : allowed) {
    for (const Snapshot* high : allowed) {
      if (bytes_ && low != high && torn_difference(found, *low, *high).empty()) return "";
    }
  }
  return "none of what may be:" + differences;
}

Overlap interrupt(const Pair& pair, const Outcomes& outcomes, const LabOptions& options, int first,
                  uint64_t events, uint64_t other_events, uint64_t* images) {
  CrashLab lab(options);
  prepare(pair, lab);
  lab.begin();
  const int second = 1 - first;
  Turns turns({{first, events},
               {second, other_events},
               {first, Turns::to_the_end},
               {second, Turns::to_the_end}});
  Marks marks;
  lab.simulator().set_turnstile([&turns] { turns.pass(); });
  const auto body = [&](int i) {
    Turns::be(i);
    persist::Simulator::set_cpu(i);
    marks.begun_at[i] = i == first ? 0 : lab.simulator().mark();
    pair.call[i](lab.pool(i));
    marks.returned_at[i] = lab.simulator().mark();
    turns.finish();
  };
  std::thread threads[] = {std::thread(body, 0), std::thread(body, 1)};
  for (std::thread& thread : threads) thread.join();
  lab.simulator().set_turnstile(nullptr);
  lab.set_judge(
      [&](const Snapshot& found, uint64_t point) { return marks.judge(outcomes, found, point); });
  Overlap overlap;
  overlap.events = marks.returned_at[first] - marks.begun_at[first];
  overlap.wrong = lab.power_losses();
  if (!overlap.wrong.empty()) overlap.wrong += "\n" + lab.simulator().describe_image();
  if (overlap.wrong.empty()) overlap.wrong = lab.kills();
  *images += lab.images();
  return overlap;
}

Overlap kill_one(const Pair& pair, const Outcomes& outcomes, const LabOptions& options, int first,
                 uint64_t events) {
  // Never destroyed: the dead thread stands in it.
  auto* lab = new CrashLab(options);
  prepare(pair, *lab);
  lab->begin();
  const int second = 1 - first;
  auto* turns = new Turns({{first, events, true}, {second, Turns::to_the_end}});
  lab->simulator().set_turnstile([turns] { turns->pass(); });
  auto* marks = new Marks;
  const auto body = [&pair, lab, turns, marks](int i) {
    Turns::be(i);
    persist::Simulator::set_cpu(i);
    marks->begun_at[i] = lab->simulator().mark();
    pair.call[i](lab->pool(i));
    marks->returned_at[i] = lab->simulator().mark();
    turns->finish();
  };
  std::thread victim(body, first);
  Overlap overlap;
  overlap.died = turns->wait_until_gone(first);
  lab->kill_process(first);
  if (pair.mapped != nullptr) lab->drain_dead(first);
  std::thread survivor(body, second);
  survivor.join();
  if (pair.mapped != nullptr) {
    cairn_stat st{};
    EXPECT_EQ(cairn_lookup(lab->pool(second), CAIRN_ROOT, pair.mapped, 0, &st), 0);
    lab->pin(st.ino, second);
    lab->detach(second);
  }
  if (overlap.died) {
    victim.detach();
  } else {
    victim.join();
  }
  lab->set_judge(
      [&](const Snapshot& found, uint64_t point) { return marks->judge(outcomes, found, point); });
  // What the dead one left unfinished may not be durable, but what the survivor built on it must
  // be.
  overlap.wrong = lab->power_losses();
  if (!overlap.wrong.empty()) {
    overlap.wrong = "after a kill at event " + std::to_string(events) + ": " + overlap.wrong +
                    "\n" + lab->simulator().describe_image();
    lab->remove_files();
    return overlap;
  }
  persist::Simulator::set_cpu(second);
  overlap.wrong = lab->look_at_survivors();
  persist::Simulator::set_cpu(0);
  if (!overlap.wrong.empty())
    overlap.wrong =
        "survivor after a kill at event " + std::to_string(events) + ": " + overlap.wrong;
  lab->remove_files();
  return overlap;
}

}  // namespace cairn::test
