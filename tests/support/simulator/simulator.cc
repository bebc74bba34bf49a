#include "support/simulator/simulator.h"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "persist/machine/machine.h"
#include "support/simulator/crash_images.h"

namespace cairn::persist {
namespace {

thread_local uint16_t current_cpu = 0;

bool same(Site a, Site b) { return a.line == b.line && std::strcmp(a.file, b.file) == 0; }

SiteHits* find_site(std::vector<SiteHits>& sites, EventKind kind, Site site) {
  for (SiteHits& known : sites) {
    if (known.kind == kind && same(known.site, site)) return &known;
  }
  return nullptr;
}

// Copies only pages that differ: a laboratory settles many times, and most of its pages stay zero.
// `is_zero`: `to` is known to hold zeros, and is not even read.
void copy_pages(uint8_t* to, const uint8_t* from, size_t size, bool is_zero) {
  static constexpr uint8_t zeros[page_size] = {};
  for (size_t at = 0; at < size; at += page_size) {
    const size_t length = std::min(page_size, size - at);
    if (std::memcmp(from + at, is_zero ? zeros : to + at, length) != 0)
      std::memcpy(to + at, from + at, length);
  }
}

uint8_t* map_zeros(size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  assert(memory != MAP_FAILED);
  return static_cast<uint8_t*>(memory);
}

}  // namespace

// A region in three copies; pages that stay zero cost nothing.
struct Simulator::Memory {
  explicit Memory(Simulator* owner, int index, size_t bytes)
      : simulator(owner),
        number(index),
        size(bytes),
        live(map_zeros(bytes)),
        image(map_zeros(bytes)) {}
  ~Memory() {
    munmap(live, size);
    munmap(image, size);
    if (initial != nullptr) munmap(initial, size);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Makes the present contents the start of history.
  void settle() {
    const bool is_first = initial == nullptr;
    if (is_first) initial = map_zeros(size);
    copy_pages(initial, live, size, is_first);
    copy_pages(image, live, size, image_is_zero);
    image_is_zero = false;
  }
  // Prepares the image for use.
  void rewind() {
    image_is_zero = false;
    if (initial != nullptr) {
      copy_pages(image, initial, size, false);
    } else {
      madvise(image, size, MADV_DONTNEED);
    }
  }

  Simulator* simulator;
  int number;
  size_t size;
  uint8_t* live;
  uint8_t* image;              // what the power loss left; between visits, what is durable for sure
  uint8_t* initial = nullptr;  // null: zeros
  bool image_is_zero = true;   // nobody has written to it
};

// The backend's functions; each acts on the live memory and appends to the history under the lock.
struct Recorder {
  static Simulator::Memory& memory_of(RegionState& region) {
    return *static_cast<Simulator::Memory*>(region.backend_state());
  }

  static Event event_at(Simulator::Memory& memory, EventKind kind, const void* address,
                        size_t size) {
    Event event;
    event.kind = kind;
    event.cpu = current_cpu;
    event.region = static_cast<uint32_t>(memory.number);
    event.offset = static_cast<uint64_t>(static_cast<const uint8_t*>(address) - memory.live);
    event.size = size;
    assert(event.offset <= memory.size && size <= memory.size - event.offset);
    return event;
  }

  static void bulk(Simulator::Memory& memory, uint8_t* to, size_t size) {
    if (size == 0) return;
    Event event = event_at(memory, EventKind::bulk, to, size);
    event.bytes = memory.simulator->history_.keep(to, size);
    memory.simulator->append(event);
  }

  // Waits at the turnstile, if there is one.
  static Simulator::Memory& enter(RegionState& region) {
    Simulator::Memory& memory = memory_of(region);
    if (memory.simulator->turnstile_) memory.simulator->turnstile_();
    return memory;
  }

  static Status copy(RegionState& region, uint8_t* to, const void* from, size_t size) {
    Simulator::Memory& memory = enter(region);
    std::lock_guard guard(memory.simulator->lock_);
    std::memcpy(to, from, size);
    bulk(memory, to, size);
    return Status();
  }

  static Status zero(RegionState& region, uint8_t* to, size_t size) {
    Simulator::Memory& memory = enter(region);
    std::lock_guard guard(memory.simulator->lock_);
    std::memset(to, 0, size);
    bulk(memory, to, size);
    return Status();
  }

  static void flush(RegionState& region, const void* address, size_t size, Site site) {
    Simulator::Memory& memory = enter(region);
    std::lock_guard guard(memory.simulator->lock_);
    if (size == 0 || memory.simulator->is_ignored(EventKind::flush, site)) return;
    memory.simulator->append(event_at(memory, EventKind::flush, address, size));
  }

  static Status fence(RegionState& region, Site site) {
    Simulator::Memory& memory = enter(region);
    std::lock_guard guard(memory.simulator->lock_);
    if (memory.simulator->is_ignored(EventKind::fence, site)) return Status();
    memory.simulator->append(event_at(memory, EventKind::fence, memory.live, 0));
    return Status();
  }

  // As the page backend does it; elsewhere flushed lines are on their way.
  static void drop(RegionState& region) {
    Simulator::Memory& memory = enter(region);
    if (memory.simulator->granularity_ != Granularity::page) return;
    std::lock_guard guard(memory.simulator->lock_);
    memory.simulator->append(event_at(memory, EventKind::drop, memory.live, 0));
  }

  static uint64_t word(RegionState& region, uint64_t* word, WordOperation operation, uint64_t value,
                       uint64_t expected) {
    Simulator::Memory& memory = enter(region);
    std::lock_guard guard(memory.simulator->lock_);
    uint64_t before = perform(word, operation, value, expected);
    // A compare-and-swap that failed stored nothing.
    if (operation == WordOperation::compare_exchange && before != expected) return before;
    Event event = event_at(memory, EventKind::word, word, sizeof *word);
    event.value = *word;
    memory.simulator->append(event);
    return before;
  }

  static constexpr Backend backend = {"simulator", copy,    zero,  flush, fence,
                                      word,        nullptr, false, drop};
};

Simulator::Simulator(Granularity granularity) : granularity_(granularity) {}
Simulator::~Simulator() = default;

int Simulator::add_region(size_t size, const void* initial) {
  assert(size > 0 && size % 64 == 0);
  int number = static_cast<int>(regions_.size());
  regions_.push_back(std::make_unique<Memory>(this, number, size));
  if (initial != nullptr) {
    copy_pages(regions_.back()->live, static_cast<const uint8_t*>(initial), size, true);
    regions_.back()->settle();
  }
  images_.reset();
  return number;
}

size_t Simulator::region_size(int region) const {
  return regions_[static_cast<size_t>(region)]->size;
}
uint8_t* Simulator::memory(int region) const { return regions_[static_cast<size_t>(region)]->live; }
uint8_t* Simulator::image(int region) const { return regions_[static_cast<size_t>(region)]->image; }

Status Simulator::attach(Region& to, int region) {
  RegionOptions options;
  options.base = memory(region);
  options.size = region_size(region);
  options.granularity = granularity_;
  return to.open(options, &Recorder::backend, regions_[static_cast<size_t>(region)].get());
}

Status Simulator::attach_image(Region& to, int region) {
  RegionOptions options;
  options.base = image(region);
  options.size = region_size(region);
  options.granularity = granularity_;
  return to.open(options, &undo_backend, &undo_);
}

void Simulator::set_cpu(int cpu) { current_cpu = static_cast<uint16_t>(cpu); }

uint64_t Simulator::mark() const {
  std::lock_guard guard(lock_);
  return history_.events.size();
}

void Simulator::settle() {
  std::lock_guard guard(lock_);
  for (auto& region : regions_) region->settle();
  history_.clear();
  images_.reset();
}

void Simulator::set_turnstile(std::function<void()> turnstile) {
  turnstile_ = std::move(turnstile);
}

std::vector<uint64_t> Simulator::crash_points() const {
  std::lock_guard guard(lock_);
  std::vector<uint64_t> points;
  for (uint64_t number = 0; number < history_.events.size(); ++number) {
    if (history_.events[number].kind == EventKind::fence) points.push_back(number);
  }
  points.push_back(history_.events.size());
  return points;
}

Enumeration Simulator::enumerate(uint64_t point, uint64_t limit, uint64_t seed,
                                 const Visit& visit) {
  assert(granularity_ != Granularity::none);
  CrashImages::Outcome outcome = images_at(point).enumerate(limit, seed, [&] {
    bool go_on = visit();
    undo_.rollback();
    return go_on;
  });
  return {outcome.images, outcome.exhaustive, outcome.stopped};
}

Enumeration Simulator::visit_killed(uint64_t point, uint64_t torn, uint64_t seed,
                                    const Visit& visit) {
  CrashImages::Outcome outcome = images_at(point).visit_killed(torn, seed, [&] {
    bool go_on = visit();
    undo_.rollback();
    return go_on;
  });
  return {outcome.images, outcome.exhaustive, outcome.stopped};
}

CrashImages& Simulator::images_at(uint64_t point) {
  if (images_ == nullptr || images_->position() > point) {
    std::vector<uint8_t*> media;
    for (auto& region : regions_) {
      region->rewind();
      media.push_back(region->image);
    }
    images_ = std::make_unique<CrashImages>(granularity_, history_, std::move(media));
  }
  images_->advance(point);
  return *images_;
}

std::string Simulator::describe_image() const {
  return images_ != nullptr ? images_->describe() : std::string();
}

std::vector<SiteHits> Simulator::sites() const {
  std::lock_guard guard(lock_);
  return sites_;
}

void Simulator::ignore(EventKind kind, Site site) {
  std::lock_guard guard(lock_);
  if (find_site(ignored_, kind, site) == nullptr) ignored_.push_back({kind, site, 0});
}

bool Simulator::is_ignored(EventKind kind, Site site) {
  SiteHits* known = find_site(sites_, kind, site);
  if (known == nullptr) {
    sites_.push_back({kind, site, 0});
    known = &sites_.back();
  }
  ++known->hits;
  return find_site(ignored_, kind, site) != nullptr;
}

void Simulator::append(Event event) { history_.events.push_back(event); }

}  // namespace cairn::persist
