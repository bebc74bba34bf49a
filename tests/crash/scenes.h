// Scenes of three processes. The first two stop for good, each at the first of its stores, flushes
// or fences that finds the pool in a certain state; the third makes its calls and returns; then the
// power goes. What the first two had stored by then, or flushed and not fenced, may be gone, and
// the third was told that its calls have happened.
#pragma once

#include <memory>

#include "crash/crash_lab.h"

namespace cairn::test {

class Scene {
 public:
  Scene() = default;
  virtual ~Scene() = default;
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  static constexpr int third = 2;
  virtual void prepare(CrashLab& lab) = 0;
  // What process `who` (0, 1 or 2) does.
  virtual void act(int who, cairn_pool* pool) = 0;
  // Does process `who` (0 or 1) stop here? Asked before each of its events.
  virtual bool stops(int who, CrashLab& lab) = 0;
  // Is the first one dead from then on?
  [[nodiscard]] virtual bool first_dies() const { return false; }
  // What is wrong with the files that a power loss left after the third had returned; "" if
  // nothing.
  [[nodiscard]] virtual std::string judge(const Snapshot& found) const = 0;
};

struct NamedScene {
  const char* name;
  persist::Granularity granularity;
  std::unique_ptr<Scene> (*make)();
};
const std::vector<NamedScene>& all_scenes();

// Plays it, in a process of its own: "" or what was wrong. Of `options`, the seed, the images and
// what is ignored.
std::string play(const NamedScene& scene, const LabOptions& options);

}  // namespace cairn::test
