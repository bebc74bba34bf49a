// HiddenPlace: a directory with a hidden name beside a pool's, in which the pool's own directory is
// made before it gets its name, and taken apart after it has lost it. So a pool exists whole or not
// at all, whenever the process that creates or removes it is killed.
//
// The process that makes the place has a lock on it while it lives. A place whose lock is free is a
// remnant. It is removed with all of a pool that is in it: by the next process that makes a place
// beside it, or by name (remove_files).
//
// Others who can write to the directory can rename any directory of this user there to a name of
// this kind. So a place counts only if it is certain that Cairn made it: it is a directory of this
// user that is closed to others, and the link `cairn-made` in it names its inode, or no other user
// could have put it there. All other places are left alone.
#pragma once

#include <string>

#include "base/status.h"
#include "pool/medium/directory.h"

namespace cairn::pool {

class HiddenPlace {
 public:
  HiddenPlace() = default;
  ~HiddenPlace();
  HiddenPlace(const HiddenPlace&) = delete;
  HiddenPlace& operator=(const HiddenPlace&) = delete;

  // Makes a place beside the pool of this name in `above`, and removes the remnants there.
  Status make(const Directory& above, const std::string& name);
  // Makes the pool's directory in it.
  Status make_pool();
  // Returns the place of the pool's directory, by its descriptor.
  [[nodiscard]] std::string inside() const { return pool_.by_descriptor(); }
  [[nodiscard]] const Directory& pool() const { return pool_; }
  // Moves the pool's directory into the place; ENOENT if another one has its name by now.
  Status take(const Directory& pool);
  // Gives the pool in the place its name, durably unless the medium is volatile. EEXIST if anything
  // but an empty directory has the name.
  Status give_name(bool is_volatile);

 private:
  Directory above_;
  std::string pool_name_;
  std::string name_;
  Directory place_;  // not open: there is none
  Directory pool_;
};

bool is_hidden_place(const std::string& name);
// Removes a remnant; EBUSY if its maker lives, EPERM if it is not certain that Cairn made it.
Status remove_hidden_place(const Directory& above, const std::string& name);

}  // namespace cairn::pool
