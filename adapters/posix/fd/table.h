// The table of descriptors: which of the process's descriptors are Cairn files.
//
// Vocabulary
//   entry      what one open file description is in this process; dup'ed descriptors share it
//   private    a descriptor that the engine or we hold; the program believes its number is free
//   ancestor   a directory of the system above a covered one, opened by the program: what it
//   reaches
//              by a relative path may be covered
//
// Invariants
//   - An entry is in the table once per descriptor and holds one reference for each, and one for
//   each
//     call that is using it. With the last one its file is closed and the entry goes to a free
//     list: entries are never unmapped, so a reader may look at one that has just been freed.
//   - A reference is only taken from a count above zero, and counts only if the table still names
//   the
//     entry afterwards. The data path takes no lock.
//   - The kernel knows each descriptor in the table as open; a number is cleared here before it is
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
  std::atomic<bool> passed_on{
      false};                      // other processes may hold the description: by fork, by socket
  std::atomic<bool> named{false};  // O_TMPFILE: has been given a name
  cairn_file* file = nullptr;
  cairn_ino ino = 0;
  Cover* cover = nullptr;        // directories: where paths from here lead
  std::atomic<int> lock_fd{-1};  // companion for flock and OFD locks (locks.h)
  std::atomic<int> owner{0};     // fcntl's F_SETOWN and F_SETSIG: kept for who asks; no signal is
  std::atomic<int> owner_type{0};
  std::atomic<int> signal{0};  // ever sent for a file
  cairn_ino parent = 0;        // the name by which it was opened (fd_path.h)
  char* name = nullptr;
  cairn_ino shown =
      0;  // several nodes write the file: its number, under which it was found (job_files.h)
  Entry* next = nullptr;  // free list
};

namespace table {

constexpr int kMost = 1 << 20;  // descriptors from here on cannot be ours: open gives EMFILE
extern std::atomic<Entry*> slots[kMost];
extern std::atomic<int> covered_fds;  // of kind file, directory, name
extern std::atomic<int> highest;      // no entry lies above

// What fd is, for a glance only.
inline Entry* peek(int fd) {
  if (static_cast<unsigned>(fd) >= static_cast<unsigned>(kMost)) return nullptr;
  return slots[fd].load(std::memory_order_acquire);
}

Entry* make(Kind kind, cairn_file* file);  // holds one reference, the caller's; nullptr: no memory
void enter(int fd, Entry* entry);          // takes a reference; replaces and drops what was there
void leave(int fd);                        // drops what is there, if anything
bool retain(Entry* entry);                 // false: it is being freed
void drop(Entry* entry);
void after_fork();  // in the child

void enter_private(int fd);
inline bool is_private(int fd) {
  Entry* entry = peek(fd);
  return entry != nullptr && entry->kind == Kind::kPrivate;
}
// One of ours: a Cairn file.
inline bool is_covered(int fd) {
  Entry* entry = peek(fd);
  return entry != nullptr && entry->kind <= Kind::kName;
}

void drop_last(Entry* entry);
// Where the short way of acquire() does not lead: empty, another kind, or being replaced.
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

// A reference to the entry of fd while a call uses it; empty if fd is no Cairn file.
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
