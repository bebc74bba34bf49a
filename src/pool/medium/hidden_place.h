// HiddenPlace: a directory with a hidden name beside a pool's, in which the pool's own one is made
// before it gets its name, and taken apart after it has lost it. So a pool is there whole or not at
// all, whenever its maker or remover is killed.
//
// The process that makes the place has a lock on it while it lives. A place whose lock can be had
// is left over. It is removed with all of a pool that is in it: by the next process that makes a
// place beside it, or by name (remove_files).
#pragma once

#include <string>

#include "base/status.h"

namespace cairn::pool {

class HiddenPlace {
 public:
  HiddenPlace() = default;
  ~HiddenPlace();
  HiddenPlace(const HiddenPlace&) = delete;
  HiddenPlace& operator=(const HiddenPlace&) = delete;

  // Makes one beside `pool`, and removes those that are left over there.
  Status make(const std::string& pool);
  // Where the pool's directory belongs meanwhile.
  [[nodiscard]] std::string inside() const { return path_ + "/pool"; }
  // Takes the pool's directory in.
  Status take(const std::string& pool);
  // Gives the pool in it the name `pool`; EEXIST if anything but an empty directory has it.
  Status give_name(const std::string& pool);

 private:
  std::string path_;
  int descriptor_ = -1;
};

// The place by a path that ends in its name, so that parent_of is what it lies in.
std::string plain_path(const std::string& path);
std::string parent_of(const std::string& path);
bool is_empty_directory(const std::string& path);
bool is_hidden_place(const std::string& path);
// Removes one that is left over; EBUSY if its maker lives.
Status remove_hidden_place(const std::string& path);

}  // namespace cairn::pool
