// Gives a directory of lower its times back: what Cairn needs there for itself is no change that a user has made.
#pragma once

#include "tier/system.h"

namespace cairn::tier {

class KeepTimes {
 public:
  explicit KeepTimes(int directory) : directory_(directory) {
    known_ = sys::fstat(directory, &st_) == 0;
  }
  ~KeepTimes() {
    if (known_) sys::utimensat(directory_, nullptr, sys::atime_of(st_), sys::mtime_of(st_));
  }
  KeepTimes(const KeepTimes&) = delete;
  KeepTimes& operator=(const KeepTimes&) = delete;

 private:
  int directory_;
  bool known_ = false;
  struct stat st_ = {};
};

}  // namespace cairn::tier
