// Structural change: truncate, punch and whatever else moves blocks out of a file's map.
//
// Who stores through a map announces the inode in his seat, then looks at its shape, and goes on only
// if it is even. Who changes the structure holds the inode's lock, makes the shape odd, and waits until
// nobody announces the inode; new writers see the odd shape, withdraw and wait. So a change has the
// map to itself, and a write costs no more than its seat's announcement. Writers look again after each
// piece of at most `piece_bytes`, so that a long copy does not hold a change up.
//
// Readers neither announce nor wait: what is cut from a map stays readable until they have left.
#pragma once

#include "file/file_system.h"
#include "pool/lock.h"
#include "pool/seats.h"

namespace cairn::file {

inline constexpr uint64_t piece_bytes = 4ULL << 20;

inline bool is_changing(const Inode& inode) { return (inode.shape.load() & 1) != 0; }

// For a writer that saw an odd shape: withdraws, waits until it is even, and announces again.
void wait_for_shape(FileSystem& fs, pool::SeatGuard& seat, Inode& inode, uint64_t number);

// For the one who changes; the caller holds the inode's lock.
class ShapeChange {
 public:
  ShapeChange(FileSystem& fs, LocalSeat& seat, Inode& inode, uint64_t number);
  ~ShapeChange();
  ShapeChange(const ShapeChange&) = delete;
  ShapeChange& operator=(const ShapeChange&) = delete;

 private:
  FileSystem& fs_;
  LocalSeat& seat_;
  Inode& inode_;
  unsigned note_ = 0;
};

// The same without waiting for writers, for directories, whose contents are stored under their lock
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
