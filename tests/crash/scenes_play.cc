#include <unistd.h>

#include <atomic>
#include <thread>

#include "crash/apart.h"
#include "crash/scenes.h"

namespace cairn::test {
namespace {

constexpr unsigned longest_s = 300;
constexpr int bystander = -1;
thread_local int me = bystander;

std::string play_here(Scene& scene, const LabOptions& options) {
  auto& lab = *new CrashLab(options);  // its threads never end
  scene.prepare(lab);
  lab.begin();
  std::atomic<int> gone{0};
  std::atomic<bool> returned_early{false};
  lab.simulator().set_turnstile([&] {
    if (me == bystander || me == Scene::third || !scene.stops(me, lab)) return;
    me = bystander;
    ++gone;
    for (;;) pause();
  });
  const auto begin = [&](int who) {
    return std::thread([&, who] {
      me = who;
      persist::Simulator::set_cpu(who);
      scene.act(who, lab.pool(who));
      if (who == Scene::third) return;
      returned_early = true;
      ++gone;
    });
  };
  for (int who : {0, 1}) {
    begin(who).detach();
    while (gone <= who) usleep(1000);
    if (who == 0 && scene.first_dies()) lab.kill_process(0);
  }
  begin(Scene::third).join();
  const uint64_t returned = lab.simulator().mark();
  lab.simulator().set_turnstile(nullptr);
  std::string wrong;
  if (returned_early) wrong = "nobody stopped: this scene showed nothing";
  lab.set_judge([&](const Snapshot& found, uint64_t point) {
    return point < returned ? "" : scene.judge(found);
  });
  if (wrong.empty()) wrong = lab.power_losses();
  lab.remove_files();
  return wrong;
}

}  // namespace

std::string play(const NamedScene& scene, const LabOptions& options) {
  LabOptions mine = options;
  mine.processes = 3;
  mine.lanes = 4;
  mine.granularity = scene.granularity;
  return apart(longest_s, [&] { return play_here(*scene.make(), mine); });
}

}  // namespace cairn::test
