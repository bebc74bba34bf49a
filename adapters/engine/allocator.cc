#include "engine/allocator.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>

#include <atomic>
#include <exception>
#include <new>

#include "engine/deferred_signals.h"

namespace engine::memory {

// Small blocks share a page; large ones have pages of their own. The first page begins with a Head
// that tells its kind. A block's address leads to it.
constexpr size_t kPage = 4096;
constexpr size_t kHead = 64;
constexpr size_t kSizes[] = {64,
                             128,
                             256,
                             512,
                             1280,
                             1984,
                             kPage - kHead,
                             2 * kPage - kHead,
                             4 * kPage - kHead,
                             8 * kPage - kHead,
                             16 * kPage - kHead};
constexpr unsigned kKinds = sizeof kSizes / sizeof *kSizes;

struct Head {
  size_t kind;    // kKinds: a mapping of its own
  size_t length;  // of that mapping
};
struct Free {
  Free* next;
};

// Each change of these becomes visible by one store, which releases the stores before it. So a
// child born meanwhile finds the change complete or absent.
static std::atomic<Free*> free_blocks[kKinds];
static std::atomic<uint8_t*> fresh;  // first page that was not used yet
static std::atomic<uint8_t*> fresh_end;
static std::atomic_flag lock;

void after_fork() { lock.clear(); }

class Locked {
 public:
  Locked() {
    while (lock.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  ~Locked() { lock.clear(std::memory_order_release); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Inside inside_;  // no handler allocates memory while the lock is held
};

template <typename T>
static void publish(std::atomic<T*>& at, T* value) {
  at.store(value, std::memory_order_release);
}

// Loads a value that changes only under the lock.
template <typename T>
static T* now(const std::atomic<T*>& at) {
  return at.load(std::memory_order_relaxed);
}

static uint8_t* map(size_t length) {
  int before = errno;
  void* mapped = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  errno = before;
  return mapped == MAP_FAILED ? nullptr : static_cast<uint8_t*>(mapped);
}

static uint8_t* take_pages(size_t length) {
  constexpr size_t kAtOnce = 1 << 20;
  if (reinterpret_cast<uintptr_t>(now(fresh_end)) <
      reinterpret_cast<uintptr_t>(now(fresh)) + length) {
    uint8_t* mapped = map(kAtOnce);
    if (mapped == nullptr) return nullptr;
    publish<uint8_t>(fresh_end, nullptr);  // no page, until the other end is stored
    publish(fresh, mapped);
    publish(fresh_end, mapped + kAtOnce);
  }
  uint8_t* pages = now(fresh);
  publish(fresh, pages + length);
  return pages;
}

static void put(unsigned kind, uint8_t* at) {
  auto* block = reinterpret_cast<Free*>(at);
  block->next = now(free_blocks[kind]);
  publish(free_blocks[kind], block);
}

// Takes a block of new pages. The rest of them becomes free blocks.
static void* take_new(unsigned kind) {
  const size_t size = kSizes[kind];
  const size_t length = size + kHead < kPage ? kPage : size + kHead;
  uint8_t* pages = take_pages(length);
  if (pages == nullptr) return nullptr;
  reinterpret_cast<Head*>(pages)->kind = kind;
  for (size_t at = kHead + size; at + size <= length; at += size) put(kind, pages + at);
  return pages + kHead;
}

static void* map_one(size_t size) {
  const size_t length = (size + kHead + kPage - 1) & ~(kPage - 1);
  uint8_t* pages = length < size ? nullptr : map(length);
  if (pages == nullptr) return nullptr;
  *reinterpret_cast<Head*>(pages) = {kKinds, length};
  return pages + kHead;
}

void* allocate(size_t size) {
  unsigned kind = 0;
  while (kind < kKinds && kSizes[kind] < size) ++kind;
  if (kind == kKinds) return map_one(size);
  Locked locked;
  Free* block = now(free_blocks[kind]);
  if (block == nullptr) return take_new(kind);
  publish(free_blocks[kind], block->next);
  return block;
}

void release(void* block) {
  if (block == nullptr) return;
  auto* at = static_cast<uint8_t*>(block);
  auto* head = reinterpret_cast<Head*>(at - (reinterpret_cast<uintptr_t>(at) & (kPage - 1)));
  if (head->kind == kKinds) {
    munmap(head, head->length);
    return;
  }
  Locked locked;
  put(static_cast<unsigned>(head->kind), at);
}

}  // namespace engine::memory

// A sanitizer has its own operators.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static void* need(size_t size) {
  void* block = engine::memory::allocate(size);
  if (block == nullptr) std::terminate();  // no code here catches
  return block;
}
void* operator new(size_t size) { return need(size); }
void* operator new[](size_t size) { return need(size); }
void* operator new(size_t size, std::align_val_t) { return need(size); }
void* operator new[](size_t size, std::align_val_t) { return need(size); }
void operator delete(void* block) noexcept { engine::memory::release(block); }
void operator delete[](void* block) noexcept { engine::memory::release(block); }
void operator delete(void* block, size_t) noexcept { engine::memory::release(block); }
void operator delete[](void* block, size_t) noexcept { engine::memory::release(block); }
void operator delete(void* block, std::align_val_t) noexcept { engine::memory::release(block); }
void operator delete[](void* block, std::align_val_t) noexcept { engine::memory::release(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept {
  engine::memory::release(block);
}
void operator delete[](void* block, size_t, std::align_val_t) noexcept {
  engine::memory::release(block);
}
#endif
