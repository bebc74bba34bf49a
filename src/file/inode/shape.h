// Structural change: truncate, punch and other calls that remove blocks from a file's map.
//
// A process that stores through a map announces the inode in its seat, then looks at its shape, and
// goes on only if it is even. A process that changes the structure holds the inode's lock, makes
// the shape odd, and waits until no seat announces the inode; new writers see the odd shape,
// withdraw and wait. So a change has the map to itself, and the write's only cost is its seat's
// announcement. Writers check the shape again after each piece of at most `piece_bytes`, so that a
// long copy does not delay a change.
//
// Readers neither announce nor wait: blocks cut from a map stay readable until the readers have
// left.
//
// An eviction (evict.h) cuts a whole map because the bytes lie in lower as well. Two rules keep the
// holes that it leaves from passing for holes of the file:
//  - A reader looks at the shape, then at the lazy flag, and walks. A hole counts only if neither
//    has changed afterwards (FirstLook). The flag alone does not tell: an eviction and a staging in
//    between leave it as it was. Neither does a block: a staging fills one in several steps.
//  - A writer looks at the lazy flag after each announcement, once the shape is even. If it is set,
//    the writer leaves its seat, stages the file and begins again (became_lazy).
#pragma once

#include "file/inode/file_system.h"
#include "pool/lanes/lock.h"
#include "pool/lanes/seats.h"

namespace cairn::file {

inline constexpr uint64_t piece_bytes = 4ULL << 20;

inline bool is_changing(const Inode& inode) { return (inode.shape.load() & 1) != 0; }

// The state that a reader saw before it walked the map.
class FirstLook {
 public:
  explicit FirstLook(const Inode& inode)
      : inode_(&inode), shape_(inode.shape.load()), was_lazy_(is_lazy(inode)) {}
  // True: the bytes lay in lower, so the map has nothing to find.
  [[nodiscard]] bool was_lazy() const { return was_lazy_; }
  [[nodiscard]] uint64_t shape() const { return shape_; }
  // Returns true if the hole or block that the reader found in the map since then is the file's
  // own. The order of the loads matters: an eviction sets the flag, then cuts, then makes the shape
  // even, and no staging can clear the flag before that.
  [[nodiscard]] bool still_holds() const {
    return !was_lazy_ && !is_lazy(*inode_) && inode_->shape.load() == shape_;
  }

 private:
  const Inode* inode_;
  uint64_t shape_;
  bool was_lazy_;
};

// Internal status, not an error number, never returned by the C API: the file has become lazy since
// the caller saw that it was not. The call did nothing. The caller leaves its seat and its locks,
// stages the file, and tries again.
inline constexpr Status became_lazy(1 << 20);
inline bool is_became_lazy(Status status) { return status == became_lazy; }
template <typename T>
bool is_became_lazy(const Result<T>& result) {
  return result.status() == became_lazy;
}

// Waits for a writer that saw an odd shape: withdraws, waits until the shape is even, and announces
// again.
void wait_for_shape(FileSystem& fs, pool::SeatGuard& seat, Inode& inode, uint64_t number);

// Makes a structural change exclusive. The caller holds the inode's lock.
class ShapeChange {
 public:
  ShapeChange(FileSystem& fs, LocalSeat& seat, Inode& inode, uint64_t number);
  // Waits at most `patience_ms`; is_alone() tells whether all writers have left by then.
  ShapeChange(FileSystem& fs, LocalSeat& seat, Inode& inode, uint64_t number, int patience_ms);
  ~ShapeChange();
  ShapeChange(const ShapeChange&) = delete;
  ShapeChange& operator=(const ShapeChange&) = delete;
  [[nodiscard]] bool is_alone() const { return is_alone_; }

 private:
  FileSystem& fs_;
  LocalSeat& seat_;
  Inode& inode_;
  unsigned note_ = 0;
  bool is_alone_ = true;
};

// Marks a change of a directory, without waiting for writers: a directory's contents are stored
// only under its lock. A reader that saw a part of the change looks again.
class DirectoryChange {
 public:
  DirectoryChange(FileSystem& fs, LocalSeat& seat, Inode& inode, uint64_t number);
  ~DirectoryChange();
  DirectoryChange(const DirectoryChange&) = delete;
  DirectoryChange& operator=(const DirectoryChange&) = delete;

 private:
  FileSystem& fs_;
  LocalSeat& seat_;
  Inode& inode_;
  unsigned note_ = 0;
};

}  // namespace cairn::file
