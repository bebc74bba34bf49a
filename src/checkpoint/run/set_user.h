// What a process that is in no run may ask of a set: its lock, and whether a run uses it.
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

// A process whose run uses the set now; nothing: no run does.
Result<std::optional<SetUser>> find_user(const SetFile& set);

// EBUSY: a run uses it; the text names a process.
Status check_unused(const SetFile& set);

// Does `work` under the lock of the set, with which runs begin and end.
Status with_set_lock(const SetFile& set, const std::function<Status()>& work);

}  // namespace cairn::checkpoint
