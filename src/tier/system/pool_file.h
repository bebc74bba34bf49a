// A file of the pool, open for as long as this object lives.
#pragma once

#include <memory>

#include "file/open/open_file.h"
#include "pool/lanes/seats.h"

namespace cairn::tier {

class PoolFile {
 public:
  // `generation` and `moving` as for file::open_inode().
  PoolFile(file::FileSystem& fs, uint64_t inode, int flags, uint64_t generation = 0,
           bool moving = false)
      : fs_(fs) {
    pool::SeatGuard seat(fs.pool);
    if (!seat.ok()) {
      status_ = pool::no_seat(fs.pool);
      return;
    }
    auto opened = file::open_inode(fs, *seat, inode, flags, generation, moving);
    status_ = opened.status();
    if (opened.ok()) file_ = std::move(*opened);
  }
  ~PoolFile() {
    if (file_ == nullptr) return;
    pool::SeatGuard seat(fs_.pool);
    if (seat.ok()) file::close_file(*seat, std::move(file_));
  }
  PoolFile(const PoolFile&) = delete;
  PoolFile& operator=(const PoolFile&) = delete;

  [[nodiscard]] Status status() const { return status_; }
  file::File& operator*() { return *file_; }
  file::File* operator->() { return file_.get(); }

 private:
  file::FileSystem& fs_;
  std::unique_ptr<file::File> file_;
  Status status_;
};

}  // namespace cairn::tier
