// KeepTimes gives a directory of lower its times back, because Cairn's own files there are not a
// change that a user has made.
#pragma once

#include <cerrno>

#include "tier/lower/beneath.h"
#include "tier/system/open_files.h"
#include "tier/system/system.h"

namespace cairn::tier {

class KeepTimes {
 public:
  explicit KeepTimes(int directory) : directory_(directory) {
    known_ = sys::fstat(directory, &st_) == 0;
  }
  ~KeepTimes() {
    if (!known_) return;
    const uint64_t atime = sys::atime_of(st_);
    const uint64_t mtime = sys::mtime_of(st_);
    // The descriptor may be opened with O_PATH.
    if (sys::utimensat(directory_, nullptr, atime, mtime) == -EBADF)
      set_times_of_open(directory_, atime, mtime);
  }
  KeepTimes(const KeepTimes&) = delete;
  KeepTimes& operator=(const KeepTimes&) = delete;

 private:
  int directory_;
  bool known_ = false;
  sys::FileStat st_ = {};
};

}  // namespace cairn::tier
