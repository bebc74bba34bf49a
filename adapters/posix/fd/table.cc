#include "posix/fd/table.h"

#include <new>

#include "posix/core/calls.h"
#include "posix/core/engine.h"

namespace posix::table {

std::atomic<Entry*> slots[kMost];
std::atomic<int> covered_fds{0};
std::atomic<int> highest{-1};

// The single entry of all private descriptors; never freed.
static Entry private_entry;

// A stack of free entries. No thread waits long for its lock: a signal handler may have interrupted
// the holder, or a fork may have left the lock taken. An entry that cannot be stored is lost.
static std::atomic_flag free_lock;
static Entry* free_entries;

static bool lock_free_entries() {
  for (int i = 0; i < 1000; ++i) {
    if (!free_lock.test_and_set(std::memory_order_acquire)) return true;
  }
  return false;
}

static Entry* take_free() {
  if (!lock_free_entries()) return nullptr;
  Entry* entry = free_entries;
  if (entry != nullptr) free_entries = entry->next;
  free_lock.clear(std::memory_order_release);
  return entry;
}

static void give_free(Entry* entry) {
  if (!lock_free_entries()) return;
  entry->next = free_entries;
  free_entries = entry;
  free_lock.clear(std::memory_order_release);
}

void after_fork() { free_lock.clear(); }

Entry* make(Kind kind, cairn_file* file) {
  Entry* entry = take_free();
  if (entry == nullptr) {
    void* memory = engine::memory::allocate(sizeof(Entry));
    if (memory == nullptr) return nullptr;
    entry = new (memory) Entry;
  }
  entry->kind = kind;
  entry->passed_on = false;
  entry->named = false;
  entry->owner = 0;
  entry->owner_type = F_OWNER_TID;
  entry->signal = 0;
  entry->file = file;
  entry->ino = file != nullptr ? cairn_file_ino(file) : 0;
  entry->cover = nullptr;
  entry->lock_fd = -1;
  entry->parent = 0;
  entry->name = nullptr;
  entry->shown = 0;
  // The maker holds one reference, so that no thread sees the count at zero; enter() takes its own.
  entry->references.store(1, std::memory_order_release);
  return entry;
}

bool retain(Entry* entry) {
  uint32_t count = entry->references.load(std::memory_order_relaxed);
  while (count != 0) {
    if (entry->references.compare_exchange_weak(count, count + 1, std::memory_order_acquire))
      return true;
  }
  return false;
}

void drop(Entry* entry) {
  if (entry == &private_entry) return;
  if (entry->references.fetch_sub(1, std::memory_order_acq_rel) == 1) drop_last(entry);
}

// Closes the companion after the last reference to the description in this process was dropped.
// That releases its locks (locks.h).
static void close_companion(Entry* entry) {
  int fd = entry->lock_fd.exchange(-1);
  if (fd < 0) return;
  leave(fd);
  real::close(fd);
}

void drop_last(Entry* entry) {
  int before = errno;
  close_companion(entry);
  if (entry->file != nullptr) cairn_close(entry->file);
  engine::memory::release(entry->name);
  entry->file = nullptr;
  entry->name = nullptr;
  give_free(entry);
  errno = before;
}

static void count(Entry* entry, int by) {
  if (entry != nullptr && entry->kind <= Kind::kName) covered_fds.fetch_add(by);
}

static void replace(int fd, Entry* entry) {
  Entry* old = slots[fd].exchange(entry, std::memory_order_acq_rel);
  count(entry, 1);
  count(old, -1);
  if (old != nullptr) drop(old);
}

void enter(int fd, Entry* entry) {
  entry->references.fetch_add(1, std::memory_order_relaxed);
  int most = highest.load();
  while (fd > most && !highest.compare_exchange_weak(most, fd)) {
  }
  replace(fd, entry);
}

void leave(int fd) {
  if (peek(fd) != nullptr) replace(fd, nullptr);
}

void enter_private(int fd) {
  if (static_cast<unsigned>(fd) >= static_cast<unsigned>(kMost)) return;
  private_entry.kind = Kind::kPrivate;
  enter(fd, &private_entry);
}

Entry* acquire_slow(int fd) {
  for (;;) {
    Entry* entry = peek(fd);
    if (entry == nullptr || entry->kind > Kind::kName) return nullptr;
    if (!retain(entry)) continue;
    if (slots[fd].load(std::memory_order_acquire) == entry && entry->kind <= Kind::kName)
      return entry;
    drop(entry);
  }
}

}  // namespace posix::table
