#include "posix/fd/mappings.h"

#include <pthread.h>
#include <stdlib.h>

#include "posix/core/engine.h"

namespace posix::mappings {

std::atomic<uintptr_t> lowest{UINTPTR_MAX};
std::atomic<uintptr_t> highest{0};
std::atomic<bool> may_grow{false};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Mapping* all;

// The list changes only under the mutex.
Held::Held() { pthread_mutex_lock(&mutex); }
Held::~Held() { pthread_mutex_unlock(&mutex); }
void hold() { pthread_mutex_lock(&mutex); }
void release() { pthread_mutex_unlock(&mutex); }

Mapping* first() { return all; }

Mapping* find(uintptr_t start, uintptr_t end) {
  for (Mapping* mapping = all; mapping != nullptr; mapping = mapping->next) {
    if (mapping->start < end && start < mapping->end) return mapping;
  }
  return nullptr;
}

bool remember(const Mapping& mapping) {
  auto* kept = static_cast<Mapping*>(malloc(sizeof(Mapping)));
  if (kept == nullptr) return false;
  *kept = mapping;
  cairn_retain(kept->file);
  kept->next = all;
  all = kept;
  if (mapping.start < lowest) lowest = mapping.start;
  if (mapping.end > highest) highest = mapping.end;
  return true;
}

bool forget(uintptr_t start, uintptr_t end) {
  bool any = false;
  for (Mapping** link = &all; *link != nullptr;) {
    Mapping* mapping = *link;
    if (mapping->start >= end || start >= mapping->end) {
      link = &mapping->next;
      continue;
    }
    any = true;
    if (mapping->start < start && end < mapping->end) {
      Mapping tail = *mapping;
      tail.offset += end - mapping->start;
      tail.start = end;
      mapping->end = start;
      remember(tail);
      link = &mapping->next;
    } else if (mapping->start < start) {
      mapping->end = start;
      link = &mapping->next;
    } else if (end < mapping->end) {
      mapping->offset += end - mapping->start;
      mapping->start = end;
      link = &mapping->next;
    } else {
      *link = mapping->next;
      cairn_close(mapping->file);
      free(mapping);
    }
  }
  return any;
}

void split(uintptr_t at) {
  Mapping* mapping = find(at - 1, at + 1);
  if (mapping == nullptr || mapping->start >= at || mapping->end <= at) return;
  Mapping tail = *mapping;
  tail.offset += at - mapping->start;
  tail.start = at;
  if (remember(tail)) mapping->end = at;
}

static bool continues(const Mapping& before, const Mapping& after) {
  return before.end == after.start && before.file == after.file && before.flags == after.flags &&
         before.protection == after.protection &&
         before.offset + (before.end - before.start) == after.offset;
}

void join() {
  for (Mapping* mapping = all; mapping != nullptr; mapping = mapping->next) {
    for (Mapping** link = &all; *link != nullptr;) {
      Mapping* after = *link;
      if (after == mapping || !continues(*mapping, *after)) {
        link = &after->next;
        continue;
      }
      mapping->end = after->end;
      if (after->placed > mapping->placed) mapping->placed = after->placed;
      *link = after->next;
      cairn_close(after->file);
      free(after);
      link = &all;
    }
  }
}

static bool reaches_beyond(const Mapping& mapping) { return mapping.placed < mapping.end; }

// Places the blocks that the file has grown by.
static void grow(Mapping* mapping) {
  int64_t within = cairn_mmap_grow(mapping->file, reinterpret_cast<void*>(mapping->start),
                                   mapping->end - mapping->start, mapping->protection);
  if (within >= 0) mapping->placed = mapping->start + static_cast<uintptr_t>(within);
}

void look_beyond(Mapping* mapping) {
  grow(mapping);
  if (!reaches_beyond(*mapping) || may_grow) return;
  may_grow = true;
  engine::catch_bus_errors(reached);
}

// Does not wait for the mutex: its holder may wait for a lock that the caller, a handler of the
// program, holds. In that case a fault finds the growth.
void file_changed(cairn_ino ino) {
  Inside inside;
  if (pthread_mutex_trylock(&mutex) != 0) return;
  for (Mapping* mapping = all; mapping != nullptr; mapping = mapping->next) {
    if (reaches_beyond(*mapping) && cairn_file_ino(mapping->file) == ino) grow(mapping);
  }
  pthread_mutex_unlock(&mutex);
}

bool reached(const void* address) {
  static __thread uintptr_t last;  // a second fault at an address is genuine
  const uintptr_t at = number(address);
  if (!may_be_ours(address, 1)) return false;
  Held held;
  Mapping* mapping = find(at, at + 1);
  if (mapping == nullptr) return false;
  const uintptr_t before = mapping->placed;
  grow(mapping);
  const bool anew = mapping->placed > before || last != at;
  last = at;
  return anew && at < mapping->placed;
}

}  // namespace posix::mappings
