// Set users: gives a process that is in no run the lock of a set, and tells it whether a run uses
// the set.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "checkpoint/store/set_file.h"

namespace cairn::checkpoint {

struct SetUser {
  uint64_t pid = 0;
  std::string command;
};

// Returns a process whose run uses the set now; no value if no run does.
Result<std::optional<SetUser>> find_user(const SetFile& set);

// A set of a pool, as tools list it.
struct SetState {
  std::string why;          // what is damaged; empty: nothing is
  uint64_t created_ns = 0;  // since 1970
  SetUser user;             // of a run that uses it; pid 0: none does
};
// Describes a set. ENOENT: it was removed meanwhile, or is not a set yet.
Result<SetState> describe_set(file::FileSystem& fs, const std::string& name);

// Returns EBUSY if a run uses the set; the text names a process.
Status check_unused(const SetFile& set);

// Runs `work` under the lock of the set, with which runs begin and end.
Status with_set_lock(const SetFile& set, const std::function<Status()>& work);

}  // namespace cairn::checkpoint
