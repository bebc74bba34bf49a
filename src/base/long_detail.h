// Detail texts that are longer than status.h keeps, such as lists.
#pragma once

#include <string>

#include "base/status.h"

namespace cairn {

// As fail(), with the whole text: last_detail() returns it until the next failure, and annotate()
// puts its own in front. Not async-signal-safe.
Status fail_at_length(int errno_value, const std::string& text);

}  // namespace cairn
