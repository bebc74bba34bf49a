// Mappings of Cairn files: the pool's own pages. The C API maps and unmaps; here is kept which addresses
// are ours, so that munmap of anything else costs a comparison, and what mremap needs to know.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "posix/calls.h"
#include "posix/log.h"
#include "posix/mappings.h"
#include "posix/open.h"
#include "posix/pool.h"
#include "posix/table.h"

namespace posix {

struct Mapping {
  uintptr_t start;
  uintptr_t end;
  int protection;
  int flags;
  uint64_t offset;  // of start
  cairn_file* file;
  Mapping* next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Mapping* mappings;
static std::atomic<uintptr_t> lowest{UINTPTR_MAX};  // none lies below,
static std::atomic<uintptr_t> highest{0};           // or at or above

static uintptr_t number(const void* address) { return reinterpret_cast<uintptr_t>(address); }

static uintptr_t rounded(size_t size) { return (size + 4095) & ~uintptr_t{4095}; }

static bool may_be_ours(const void* address, size_t size) {
  return number(address) < highest.load(std::memory_order_relaxed) &&
         number(address) + size > lowest.load(std::memory_order_relaxed);
}

static Mapping* find(uintptr_t start, uintptr_t end) {
  for (Mapping* mapping = mappings; mapping != nullptr; mapping = mapping->next) {
    if (mapping->start < end && start < mapping->end) return mapping;
  }
  return nullptr;
}

static bool remember(const Mapping& mapping) {
  auto* kept = static_cast<Mapping*>(malloc(sizeof(Mapping)));
  if (kept == nullptr) return false;
  *kept = mapping;
  cairn_retain(kept->file);
  kept->next = mappings;
  mappings = kept;
  if (mapping.start < lowest) lowest = mapping.start;
  if (mapping.end > highest) highest = mapping.end;
  return true;
}

// Takes [start, end) out of what is remembered. True if any of it was ours.
static bool forget(uintptr_t start, uintptr_t end) {
  bool any = false;
  for (Mapping** link = &mappings; *link != nullptr;) {
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

// In the kernel's order.
static int check(const table::Use& use, size_t size, int protection, int flags, off_t offset) {
  if ((offset & 4095) != 0) return -EINVAL;
  if (is_path(use)) return -EBADF;
  int type = flags & MAP_TYPE;
  bool known = type == MAP_PRIVATE || type == MAP_SHARED || type == MAP_SHARED_VALIDATE;
  if (size == 0 || offset < 0 || !known) return -EINVAL;
  int access = cairn_file_get_flags(use->file) & O_ACCMODE;
  if (access == O_WRONLY) return -EACCES;
  if (type != MAP_PRIVATE && (protection & PROT_WRITE) != 0 && access != O_RDWR) return -EACCES;
  return use->kind == Kind::kDirectory ? -ENODEV : 0;
}

static void* failed(int error) {
  fail(error);
  return MAP_FAILED;
}

static void* map(cairn_file* file, void* address, size_t size, int protection, int flags,
                 uint64_t offset) {
  void* mapped = nullptr;
  int error = cairn_mmap(file, address, size, protection, flags, offset, &mapped);
  if (error < 0) return failed(error);
  uintptr_t start = number(mapped);
  Mapping mapping = {start,      start + rounded(size),
                     protection, flags & ~(MAP_FIXED | MAP_FIXED_NOREPLACE),
                     offset,     file,
                     nullptr};
  if (!remember(mapping)) {
    cairn_munmap(pool, mapped, size);
    return failed(-ENOMEM);
  }
  return mapped;
}

void hold_mappings() { pthread_mutex_lock(&mutex); }
void release_mappings() { pthread_mutex_unlock(&mutex); }

namespace serve {

void* mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  // What a fixed mapping replaces is unpinned first.
  if ((flags & MAP_FIXED) != 0 && may_be_ours(address, size)) {
    pthread_mutex_lock(&mutex);
    if (forget(number(address), number(address) + rounded(size))) cairn_munmap(pool, address, size);
    pthread_mutex_unlock(&mutex);
  }
  if ((flags & MAP_ANONYMOUS) != 0 || table::peek(fd) == nullptr)
    return real::mmap(address, size, protection, flags, fd, offset);
  table::Use use(fd);
  if (!use) return real::mmap(address, size, protection, flags, fd, offset);
  int error = check(use, size, protection, flags, offset);
  if (error < 0) return failed(error);
  pthread_mutex_lock(&mutex);
  void* mapped = map(use->file, address, size, protection, flags, static_cast<uint64_t>(offset));
  pthread_mutex_unlock(&mutex);
  return mapped;
}

int munmap(void* address, size_t size) {
  if (__builtin_expect(!may_be_ours(address, size), 1)) return real::munmap(address, size);
  if (size == 0 || (number(address) & 4095) != 0) return fail(-EINVAL);
  pthread_mutex_lock(&mutex);
  int error = 0;
  bool ours = forget(number(address), number(address) + rounded(size));
  if (ours) error = cairn_munmap(pool, address, size);
  pthread_mutex_unlock(&mutex);
  return ours ? static_cast<int>(result(error)) : real::munmap(address, size);
}

// No mapping that is remembered reaches over `at`.
static void split(uintptr_t at) {
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

// As the kernel does: what was split and is the same again can move as one.
static void join() {
  for (Mapping* mapping = mappings; mapping != nullptr; mapping = mapping->next) {
    for (Mapping** link = &mappings; *link != nullptr;) {
      Mapping* after = *link;
      if (!continues(*mapping, *after)) {
        link = &after->next;
        continue;
      }
      mapping->end = after->end;
      *link = after->next;
      cairn_close(after->file);
      free(after);
      link = &mappings;
    }
  }
}

// What changes the protection of [start, end) with `change`.
template <typename Change>
static int protect(void* address, size_t size, int protection, Change change) {
  if (__builtin_expect(!may_be_ours(address, size), 1)) return change();
  pthread_mutex_lock(&mutex);
  uintptr_t start = number(address);
  uintptr_t end = start + rounded(size);
  int result = 0;
  // Stores through a mapping that was made for reading are seen by nobody: that they become possible counts.
  if ((protection & PROT_WRITE) != 0 && find(start, end) != nullptr)
    result = cairn_mmap_writable(pool, address, size);
  result = result < 0 ? fail(result) : change();
  if (result == 0) {
    split(start);
    split(end);
    for (Mapping* mapping = mappings; mapping != nullptr; mapping = mapping->next)
      if (mapping->start >= start && mapping->end <= end) mapping->protection = protection;
    join();
  }
  pthread_mutex_unlock(&mutex);
  return result;
}

int mprotect(void* address, size_t size, int protection) {
  return protect(address, size, protection,
                 [&] { return real::mprotect(address, size, protection); });
}

int pkey_mprotect(void* address, size_t size, int protection, int key) {
  return protect(address, size, protection,
                 [&] { return real::pkey_mprotect(address, size, protection, key); });
}

// A mapping of ours moves by being made anew.
static void* remap(const Mapping& old, void* address, size_t size, size_t new_size, int flags,
                   void* new_address) {
  if (rounded(new_size) == rounded(size) && (flags & MREMAP_FIXED) == 0) return address;
  if (size != 0 && new_size < size && (flags & MREMAP_FIXED) == 0) {
    uintptr_t cut = number(address) + rounded(new_size);
    if (cut < number(address) + rounded(size)) {
      forget(cut, number(address) + rounded(size));
      cairn_munmap(pool, reinterpret_cast<void*>(cut), number(address) + rounded(size) - cut);
    }
    return address;
  }
  if ((flags & MREMAP_MAYMOVE) == 0) return failed(-ENOMEM);
  int how = old.flags | ((flags & MREMAP_FIXED) != 0 ? MAP_FIXED : 0);
  if ((flags & MREMAP_FIXED) != 0) {
    uintptr_t target = number(new_address);
    if (forget(target, target + rounded(new_size))) cairn_munmap(pool, new_address, new_size);
  } else {
    new_address = nullptr;
  }
  uint64_t offset = old.offset + (number(address) - old.start);
  void* mapped = map(old.file, new_address, new_size, old.protection, how, offset);
  if (mapped == MAP_FAILED || size == 0) return mapped;
  // What the program changed in a private mapping goes with it.
  if ((old.flags & MAP_TYPE) == MAP_PRIVATE && (old.protection & PROT_WRITE) != 0)
    memcpy(mapped, address, size < new_size ? size : new_size);
  forget(number(address), number(address) + rounded(size));
  cairn_munmap(pool, address, size);
  return mapped;
}

void* mremap(void* address, size_t size, size_t new_size, int flags, void* new_address) {
  if (!may_be_ours(address, size + 1))
    return real::mremap(address, size, new_size, flags, new_address);
  pthread_mutex_lock(&mutex);
  Mapping* mapping = find(number(address), number(address) + rounded(size + (size == 0 ? 1 : 0)));
  void* mapped;
  if (mapping == nullptr) {
    mapped = real::mremap(address, size, new_size, flags, new_address);
  } else if (new_size == 0 || (number(address) & 4095) != 0 || number(address) < mapping->start ||
             number(address) + rounded(size) > mapping->end) {
    mapped = failed(new_size == 0 || (number(address) & 4095) != 0 ? -EINVAL : -EFAULT);
  } else {
    Mapping old = *mapping;
    cairn_retain(old.file);
    mapped = remap(old, address, size, new_size, flags, new_address);
    cairn_close(old.file);
  }
  pthread_mutex_unlock(&mutex);
  return mapped;
}

static bool is_ours(void* address, size_t size) {
  if (!may_be_ours(address, size)) return false;
  pthread_mutex_lock(&mutex);
  bool ours = find(number(address), number(address) + rounded(size)) != nullptr;
  pthread_mutex_unlock(&mutex);
  return ours;
}

int msync(void* address, size_t size, int flags) {
  if (!is_ours(address, size)) return real::msync(address, size, flags);
  int known = MS_ASYNC | MS_SYNC | MS_INVALIDATE;
  if ((number(address) & 4095) != 0 || (flags & ~known) != 0 ||
      (flags & (MS_ASYNC | MS_SYNC)) == (MS_ASYNC | MS_SYNC))
    return fail(-EINVAL);
  return static_cast<int>(result(cairn_msync(pool, address, size, flags)));
}

// MADV_REMOVE punches a hole into the file; the system's would punch it into the pool's segments.
static int remove_range(void* address, size_t size) {
  uintptr_t start = number(address), end = start + rounded(size);
  if ((start & 4095) != 0) return -EINVAL;
  pthread_mutex_lock(&mutex);
  const Mapping* mapping = find(start, end);
  int error = -ENOMEM;  // some of it is not mapped, or not ours
  if (mapping != nullptr && mapping->start <= start && end <= mapping->end) {
    bool shared = (mapping->flags & MAP_TYPE) != MAP_PRIVATE;
    bool writable = (cairn_file_get_flags(mapping->file) & O_ACCMODE) == O_RDWR;
    constexpr int kPunch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    error = shared && writable
                ? cairn_fallocate(mapping->file, kPunch, mapping->offset + (start - mapping->start),
                                  end - start)
                : -EACCES;
  }
  pthread_mutex_unlock(&mutex);
  return error;
}

int madvise(void* address, size_t size, int advice) {
  if (advice == MADV_REMOVE && size > 0 && is_ours(address, size))
    return static_cast<int>(result(remove_range(address, size)));
  return real::madvise(address, size, advice);
}

}  // namespace serve
}  // namespace posix
