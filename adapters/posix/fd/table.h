// The table of descriptors: which of the process's descriptors are Cairn files.
//
// Vocabulary
//   entry      one open file description in this process; duplicated descriptors share it
//   private    a descriptor that the engine or this library holds; the program believes that its
//              number is free
//   ancestor   a directory of the system above a covered one, opened by the program: a relative
//              path from it may be covered
//
// Invariants
//   - An entry is in the table once per descriptor. It holds one reference for each descriptor, and
//     one for each call that is using it. When the last one is dropped, its file is closed and the
//     entry moves to a free list. Entries are never unmapped, so a reader may look at one that has
//     just been freed.
//   - A reference is taken only from a count above zero. It counts only if the table still names
//     the entry afterwards. The data path takes no lock.
//   - The kernel knows each descriptor in the table as open. A number is cleared here before it is
//     closed there, and entered here after it was opened there.
#pragma once

#include <stdint.h>

#include <atomic>

#include "posix/core/engine.h"

namespace posix {

enum class Kind : uint8_t { kFile, kDirectory, kName, kAncestor, kPrivate };  // kName: O_PATH

struct Entry {
  std::atomic<uint32_t> references{0};
  Kind kind = Kind::kFile;
  // Other processes may hold the description: a fork or a socket passed it on.
  std::atomic<bool> passed_on{false};
  std::atomic<bool> named{false};  // O_TMPFILE: the file has got a name
  cairn_file* file = nullptr;
  cairn_ino ino = 0;
  Cover* cover = nullptr;        // directories: relative paths lead into this cover
  std::atomic<int> lock_fd{-1};  // companion for flock and OFD locks (locks.h)
  // fcntl's F_SETOWN and F_SETSIG, only to be read back: no signal is ever sent for a file.
  std::atomic<int> owner{0};
  std::atomic<int> owner_type{0};
  std::atomic<int> signal{0};
  // The file was opened by this name (fd_path.h).
  cairn_ino parent = 0;
  char* name = nullptr;
  // The number of a file that several nodes write, under which it was found (job_files.h); else 0.
  cairn_ino shown = 0;
  Entry* next = nullptr;  // free list
};

namespace table {

constexpr int kMost = 1 << 20;  // descriptors from here on cannot be ours: open returns EMFILE
extern std::atomic<Entry*> slots[kMost];
extern std::atomic<int> covered_fds;  // number of kFile, kDirectory, kName
extern std::atomic<int> highest;      // no entry lies above

// Returns the entry of fd without a reference: the caller may only look at it.
inline Entry* peek(int fd) {
  if (static_cast<unsigned>(fd) >= static_cast<unsigned>(kMost)) return nullptr;
  return slots[fd].load(std::memory_order_acquire);
}

Entry* make(Kind kind, cairn_file* file);  // the caller holds a reference; null: no memory
void enter(int fd, Entry* entry);          // takes a reference; replaces and drops what was there
void leave(int fd);                        // drops the entry that is there, if any
bool retain(Entry* entry);                 // false: the entry is being freed
void drop(Entry* entry);
void after_fork();  // in the child

void enter_private(int fd);
inline bool is_private(int fd) {
  Entry* entry = peek(fd);
  return entry != nullptr && entry->kind == Kind::kPrivate;
}
// Returns true if fd is a Cairn file.
inline bool is_covered(int fd) {
  Entry* entry = peek(fd);
  return entry != nullptr && entry->kind <= Kind::kName;
}

void drop_last(Entry* entry);
// Continues acquire() if the number has no entry, another kind, or is being replaced.
Entry* acquire_slow(int fd);
inline Entry* acquire(int fd) {
  Entry* entry = peek(fd);
  if (entry == nullptr) return nullptr;
  uint32_t count = entry->references.load(std::memory_order_relaxed);
  if (count == 0 || entry->kind > Kind::kName ||
      !entry->references.compare_exchange_strong(count, count + 1, std::memory_order_acquire))
    return acquire_slow(fd);
  if (__builtin_expect(peek(fd) == entry && entry->kind <= Kind::kName, 1)) return entry;
  drop(entry);
  return acquire_slow(fd);
}

// Holds a reference to the entry of fd while a call uses it; empty if fd is not a Cairn file.
class Use {
 public:
  explicit Use(int fd) : entry_(acquire(fd)) {}
  ~Use() {
    if (entry_ != nullptr && entry_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      drop_last(entry_);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  explicit operator bool() const { return entry_ != nullptr; }
  Entry* operator->() const { return entry_; }
  Entry* get() const { return entry_; }

 private:
  Entry* entry_;
};

}  // namespace table
}  // namespace posix
