// Mappings of Cairn files, which are the pool's own pages. The C API maps and unmaps. mappings.h
// remembers which addresses are ours, so that munmap of other memory costs a comparison.
#include <string.h>
#include <sys/syscall.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/user_memory.h"
#include "posix/fd/mappings.h"
#include "posix/fd/table.h"
#include "posix/io/by_number.h"
#include "posix/io/calls.h"
#include "posix/io/open.h"
#include "posix/path/result.h"

namespace posix {

using namespace mappings;

// Makes the kernel's checks in the kernel's order.
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
  if ((flags & MAP_FIXED) != 0) forget(start, start + rounded(size));
  Mapping mapping = {start,      start + rounded(size),
                     protection, flags & ~(MAP_FIXED | MAP_FIXED_NOREPLACE),
                     offset,     file,
                     start,      nullptr};
  if (!remember(mapping)) {
    cairn_munmap(pool, mapped, size);
    return failed(-ENOMEM);
  }
  look_beyond(first());
  return mapped;
}

// `other` makes the call for memory that is not ours, by name or by number.

// Maps memory or another file.
template <typename Other>
static void* map_other(void* address, size_t size, int flags, Other other) {
  if ((flags & MAP_FIXED) == 0 || !may_be_ours(address, size)) return other();
  // The range that the new mapping replaces is unpinned.
  Held held;
  void* mapped = other();
  if (mapped != MAP_FAILED && forget(number(address), number(address) + rounded(size)))
    cairn_mmap_replaced(pool, address, size);
  return mapped;
}

// Reports a change of the program's memory (user_memory.h).
template <typename Result>
static Result told(Result done) {
  user_memory::changed();
  return done;
}

template <typename Other>
static void* map_anything(void* address, size_t size, int protection, int flags, int fd,
                          off_t offset, Other other) {
  if ((flags & MAP_ANONYMOUS) != 0 || table::peek(fd) == nullptr)
    return map_other(address, size, flags, other);
  table::Use use(fd);
  if (!use) return map_other(address, size, flags, other);
  int error = check(use, size, protection, flags, offset);
  if (error < 0) return failed(error);
  Held held;
  return map(use->file, address, size, protection, flags, static_cast<uint64_t>(offset));
}

template <typename Other>
static void* map_any(void* address, size_t size, int protection, int flags, int fd, off_t offset,
                     Other other) {
  void* mapped = map_anything(address, size, protection, flags, fd, offset, other);
  return (flags & MAP_FIXED) != 0 ? told(mapped) : mapped;
}

template <typename Other>
static int unmap_anything(void* address, size_t size, Other other) {
  if (__builtin_expect(!may_be_ours(address, size), 1)) return other();
  if (size == 0 || (number(address) & 4095) != 0) return fail(-EINVAL);
  Held held;
  if (!forget(number(address), number(address) + rounded(size))) return other();
  return static_cast<int>(result(cairn_munmap(pool, address, size)));
}

template <typename Other>
static int unmap_any(void* address, size_t size, Other other) {
  return told(unmap_anything(address, size, other));
}

// Changes the protection of [start, end) by `change`.
template <typename Change>
static int protect(void* address, size_t size, int protection, Change change) {
  if (__builtin_expect(!may_be_ours(address, size), 1)) return change();
  Held held;
  uintptr_t start = number(address);
  uintptr_t end = start + rounded(size);
  int result = 0;
  // The library cannot see stores through a mapping. Permission to store counts as a change of the
  // file.
  if ((protection & PROT_WRITE) != 0 && find(start, end) != nullptr)
    result = cairn_mmap_writable(pool, address, size);
  result = result < 0 ? fail(result) : change();
  if (result == 0) {
    split(start);
    split(end);
    for (Mapping* mapping = first(); mapping != nullptr; mapping = mapping->next)
      if (mapping->start >= start && mapping->end <= end) mapping->protection = protection;
    join();
  }
  return result;
}

// Moves a mapping of ours by making a new one.
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
  if ((flags & MREMAP_FIXED) == 0) new_address = nullptr;
  uint64_t offset = old.offset + (number(address) - old.start);
  void* mapped = map(old.file, new_address, new_size, old.protection, how, offset);
  if (mapped == MAP_FAILED || size == 0) return mapped;
  // Changes of the program in a private mapping move with it.
  if ((old.flags & MAP_TYPE) == MAP_PRIVATE && (old.protection & PROT_WRITE) != 0) {
    size_t within = old.placed > number(address) ? old.placed - number(address) : 0;
    if (size < within) within = size;
    memcpy(mapped, address, within < new_size ? within : new_size);
  }
  forget(number(address), number(address) + rounded(size));
  cairn_munmap(pool, address, size);
  return mapped;
}

// Makes the kernel's checks of the numbers.
static bool can_move(uintptr_t from, uintptr_t size, uintptr_t new_size, int flags, uintptr_t to) {
  if ((flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED)) != 0 || (from & 4095) != 0 || new_size == 0)
    return false;
  if ((flags & MREMAP_FIXED) == 0) return true;
  return (flags & MREMAP_MAYMOVE) != 0 && (to & 4095) == 0 &&
         (from + size <= to || to + new_size <= from);
}

template <typename Other>
static void* remap_any(void* address, size_t size, size_t new_size, int flags, void* new_address,
                       Other other) {
  if (!may_be_ours(address, size + 1)) return told(other());
  Held held;
  Mapping* mapping = find(number(address), number(address) + rounded(size + (size == 0 ? 1 : 0)));
  if (mapping == nullptr) return told(other());
  if (!can_move(number(address), rounded(size), rounded(new_size), flags, number(new_address)))
    return failed(-EINVAL);
  if (number(address) < mapping->start || number(address) + rounded(size) > mapping->end)
    return failed(-EFAULT);
  Mapping old = *mapping;
  cairn_retain(old.file);
  void* mapped = remap(old, address, size, new_size, flags, new_address);
  cairn_close(old.file);
  return told(mapped);
}

static bool is_ours(void* address, size_t size) {
  if (!may_be_ours(address, size)) return false;
  Held held;
  return find(number(address), number(address) + rounded(size)) != nullptr;
}

// The kernel would map other pages of the pool's segment, which hold other files.
template <typename Other>
static int remap_pages_any(void* address, size_t size, Other other) {
  return is_ours(address, size) ? refuse("remap_file_pages", "a mapping", EINVAL) : told(other());
}

template <typename Other>
static int sync_any(void* address, size_t size, int flags, Other other) {
  if (!is_ours(address, size)) return other();
  int known = MS_ASYNC | MS_SYNC | MS_INVALIDATE;
  if ((number(address) & 4095) != 0 || (flags & ~known) != 0 ||
      (flags & (MS_ASYNC | MS_SYNC)) == (MS_ASYNC | MS_SYNC))
    return fail(-EINVAL);
  return static_cast<int>(result(cairn_msync(pool, address, size, flags)));
}

// MADV_REMOVE punches a hole into the file; the kernel would punch it into the pool's segments.
static int remove_range(void* address, size_t size) {
  uintptr_t start = number(address), end = start + rounded(size);
  if ((start & 4095) != 0) return -EINVAL;
  Held held;
  const Mapping* mapping = find(start, end);
  int error = -ENOMEM;  // a part is not mapped, or is not ours
  if (mapping != nullptr && mapping->start <= start && end <= mapping->end) {
    bool shared = (mapping->flags & MAP_TYPE) != MAP_PRIVATE;
    bool writable = (cairn_file_get_flags(mapping->file) & O_ACCMODE) == O_RDWR;
    constexpr int kPunch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    error = shared && writable
                ? cairn_fallocate(mapping->file, kPunch, mapping->offset + (start - mapping->start),
                                  end - start)
                : -EACCES;
  }
  return error;
}

template <typename Other>
static int advise_any(void* address, size_t size, int advice, Other other) {
  if (advice == MADV_REMOVE && size > 0 && is_ours(address, size))
    return static_cast<int>(result(remove_range(address, size)));
  return other();
}

namespace serve {

void* mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  return map_any(address, size, protection, flags, fd, offset,
                 [=] { return real::mmap(address, size, protection, flags, fd, offset); });
}

int munmap(void* address, size_t size) {
  return unmap_any(address, size, [=] { return real::munmap(address, size); });
}

void* mremap(void* address, size_t size, size_t new_size, int flags, void* new_address) {
  return remap_any(address, size, new_size, flags, new_address,
                   [=] { return real::mremap(address, size, new_size, flags, new_address); });
}

int remap_file_pages(void* address, size_t size, int protection, size_t page, int flags) {
  return remap_pages_any(address, size, [=] {
    return real::remap_file_pages(address, size, protection, page, flags);
  });
}

int msync(void* address, size_t size, int flags) {
  return sync_any(address, size, flags, [=] { return real::msync(address, size, flags); });
}

int madvise(void* address, size_t size, int advice) {
  return advise_any(address, size, advice, [=] { return real::madvise(address, size, advice); });
}

int mprotect(void* address, size_t size, int protection) {
  return told(protect(address, size, protection,
                      [=] { return real::mprotect(address, size, protection); }));
}

int pkey_mprotect(void* address, size_t size, int protection, int key) {
  return told(protect(address, size, protection,
                      [=] { return real::pkey_mprotect(address, size, protection, key); }));
}

}  // namespace serve

namespace by_number {

static long word(const void* pointer) {  // NOLINT(google-runtime-int): the kernel's
  return reinterpret_cast<intptr_t>(pointer);
}
static long word(size_t size) { return static_cast<long>(size); }  // NOLINT(google-runtime-int)

// True inside the engine: the call is one of ours, and a library that intercepts calls has passed
// it on.
static bool is_behind_us() { return Inside::depth != 0; }

void* mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  const auto kernel = [=] {
    return reinterpret_cast<void*>(
        real::syscall(SYS_mmap, word(address), word(size), protection, flags, fd, offset));
  };
  if (is_behind_us()) return kernel();
  return map_any(address, size, protection, flags, fd, offset, kernel);
}

int munmap(void* address, size_t size) {
  const auto kernel = [=] {
    return static_cast<int>(real::syscall(SYS_munmap, word(address), word(size), 0, 0, 0, 0));
  };
  return is_behind_us() ? kernel() : unmap_any(address, size, kernel);
}

void* mremap(void* address, size_t size, size_t new_size, int flags, void* new_address) {
  const auto kernel = [=] {
    return reinterpret_cast<void*>(real::syscall(SYS_mremap, word(address), word(size),
                                                 word(new_size), flags, word(new_address), 0));
  };
  if (is_behind_us()) return kernel();
  return remap_any(address, size, new_size, flags, new_address, kernel);
}

int remap_file_pages(void* address, size_t size, int protection, size_t page, int flags) {
  const auto kernel = [=] {
    return static_cast<int>(real::syscall(SYS_remap_file_pages, word(address), word(size),
                                          protection, word(page), flags, 0));
  };
  return is_behind_us() ? kernel() : remap_pages_any(address, size, kernel);
}

int msync(void* address, size_t size, int flags) {
  const auto kernel = [=] {
    return static_cast<int>(real::syscall(SYS_msync, word(address), word(size), flags, 0, 0, 0));
  };
  return is_behind_us() ? kernel() : sync_any(address, size, flags, kernel);
}

int madvise(void* address, size_t size, int advice) {
  const auto kernel = [=] {
    return static_cast<int>(real::syscall(SYS_madvise, word(address), word(size), advice, 0, 0, 0));
  };
  return is_behind_us() ? kernel() : advise_any(address, size, advice, kernel);
}

}  // namespace by_number
}  // namespace posix
