// Structural change: truncate, punch and whatever else moves blocks out of a file's map.
//
// A process that stores through a map announces the inode in its seat, then looks at its shape, and
// goes on only if it is even. A process that changes the structure holds the inode's lock, makes
// the shape odd, and waits until nobody announces the inode; new writers see the odd shape,
// withdraw and wait. So a change has the map to itself, and a write costs no more than its seat's
// announcement. Writers look again after each piece of at most `piece_bytes`, so that a long copy
// does not hold a change up.
//
// Readers neither announce nor wait: what is cut from a map stays readable until they have left.
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

// What a reader saw before it walked the map.
class FirstLook {
 public:
  explicit FirstLook(const Inode& inode)
      : inode_(&inode), shape_(inode.shape.load()), was_lazy_(is_lazy(inode)) {}
  // The bytes lay in lower: there is nothing to be found here.
  [[nodiscard]] bool was_lazy() const { return was_lazy_; }
  [[nodiscard]] uint64_t shape() const { return shape_; }
  // What was found in the map since then, be it a hole or a block, is the file's own. In the order
  // of the loads: an eviction sets the flag, then cuts, then makes the shape even, and no staging
  // can take the flag away before that.
  [[nodiscard]] bool still_holds() const {
    return !was_lazy_ && !is_lazy(*inode_) && inode_->shape.load() == shape_;
  }

 private:
  const Inode* inode_;
  uint64_t shape_;
  bool was_lazy_;
};

// Not an error number, and never returned by the C API: the file has become lazy since the caller
// saw that it was not. Nothing was done: the caller leaves its seat and its locks, stages, and
// tries again.
inline constexpr Status became_lazy(1 << 20);
inline bool is_became_lazy(Status status) { return status == became_lazy; }
template <typename T>
bool is_became_lazy(const Result<T>& result) {
  return result.status() == became_lazy;
}

// For a writer that saw an odd shape: withdraws, waits until it is even, and announces again.
void wait_for_shape(FileSystem& fs, pool::SeatGuard& seat, Inode& inode, uint64_t number);

// For the process that changes; the caller holds the inode's lock.
class ShapeChange {
 public:
  ShapeChange(FileSystem& fs, LocalSeat& seat, Inode& inode, uint64_t number);
  // Waits for at most `patience_ms`: is_alone() says whether all writers have left by then.
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

// A change without waiting for writers, for directories, whose contents are stored under their lock
// only: readers that saw a part of the change look again.
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
