// The crash simulator: a medium that forgets what was not made durable.
//
// It stands behind Regions as a peer of the machine backends. It records every store, flush and
// fence of several simulated CPUs on several regions in one global order, and then builds the
// images that the medium may hold after a power loss at any point of that history (crash_images.h
// says which). An emulated device never loses its cache, so this, not a virtual machine, proves
// flushes right.
//
//   Simulator sim(Granularity::cache_line);
//   int id = sim.add_region(size);            // plain memory, zeros
//   Region region; sim.attach(region, id);    // as many attachments as there are "processes"
//   ... format; sim.settle();                 // what is there now is durable and history begins
//   Simulator::set_cpu(1); ...                // whose stores follow, per thread
//   uint64_t acknowledged = sim.mark();
//   Region image; sim.attach_image(image, id);
//   for (uint64_t point : sim.crash_points())
//     sim.enumerate(point, limit, seed, [&] { recover through `image`; compare; return true; });
//
// During enumerate() the image regions hold one possible image after the other. Whatever the
// visitor stores through them is rolled back when it returns; nothing else may write that memory.
//
// Recording is thread-safe (one lock, so stores have one order); everything else is for one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "persist/core/backend.h"
#include "persist/core/granularity.h"
#include "persist/region/region.h"
#include "support/simulator/history.h"
#include "support/simulator/undo.h"

namespace cairn::persist {

class CrashImages;

// A line of the program that flushed or fenced, for mutation tests.
struct SiteHits {
  EventKind kind = EventKind::flush;  // flush or fence
  Site site;
  uint64_t hits = 0;
};

struct Enumeration {
  uint64_t images = 0;
  bool exhaustive = false;  // every image that the model allows was shown
  bool stopped = false;     // the visitor returned false
};

class Simulator {
 public:
  // Granularity::none simulates killed processes only (visit_killed).
  explicit Simulator(Granularity granularity);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // --- setting up ---
  // A region of `size` bytes (a multiple of 64) that holds `initial`, or zeros; returns its number.
  int add_region(size_t size, const void* initial = nullptr);
  [[nodiscard]] size_t region_count() const { return regions_.size(); }
  [[nodiscard]] size_t region_size(int region) const;
  // Returns the memory that the CPUs see.
  [[nodiscard]] uint8_t* memory(int region) const;
  Status attach(Region& to, int region);
  // Returns what a power loss left; meaningful inside a visitor.
  [[nodiscard]] uint8_t* image(int region) const;
  Status attach_image(Region& to, int region);

  // Sets the simulated CPU of this thread. Only a CPU's own fences make its flushes durable.
  static void set_cpu(int cpu);

  // --- history ---
  // Events so far: what happened before this moment has a smaller number.
  [[nodiscard]] uint64_t mark() const;
  // Makes everything so far durable and forgets its history; positions start again at 0.
  void settle();
  // Returns the points that matter: the last moment before each fence, and the end. Between two
  // fences the set of possible images only grows, so that moment shows all of them.
  [[nodiscard]] std::vector<uint64_t> crash_points() const;

  // Sets a function that is called before a store, flush or fence is recorded, without a lock held.
  // A test uses it to make the thread of one process wait while another's continues, so that calls
  // of several processes interleave at chosen stores. Loads are not announced; those before a store
  // happen before the wait. Set and unset it while no thread stores; null: no thread waits.
  void set_turnstile(std::function<void()> turnstile);

  // --- images ---
  using Visit = std::function<bool()>;
  // Shows images of a power loss after the first `point` events: all of them if they are at most
  // `limit`, else `limit` of them: the extremes first, then drawn by `seed`. Ascending points are
  // fast.
  Enumeration enumerate(uint64_t point, uint64_t limit, uint64_t seed, const Visit& visit);
  // Shows the memory after all processes are killed at the point: every store before the point,
  // none after. If the next event is a bulk copy, also shows parts of that, `torn` times.
  Enumeration visit_killed(uint64_t point, uint64_t torn, uint64_t seed, const Visit& visit);
  // Inside a visitor: returns the stores that this image has and those that it lacks, one line
  // each.
  [[nodiscard]] std::string describe_image() const;

  // --- mutation ---
  // Every flush and fence site that was hit so far, in order of first hit (also by ignored ones).
  [[nodiscard]] std::vector<SiteHits> sites() const;
  // Makes flushes or fences of this site do nothing from now on.
  void ignore(EventKind kind, Site site);

 private:
  friend struct Recorder;
  struct Memory;

  // Returns the images machine, replayed to `point`.
  CrashImages& images_at(uint64_t point);
  bool is_ignored(EventKind kind, Site site);
  void append(Event event);

  Granularity granularity_;
  std::vector<std::unique_ptr<Memory>> regions_;
  mutable std::mutex lock_;
  History history_;
  std::vector<SiteHits> sites_;
  std::vector<SiteHits> ignored_;
  std::function<void()> turnstile_;
  UndoLog undo_;
  std::unique_ptr<CrashImages> images_;
};

}  // namespace cairn::persist
