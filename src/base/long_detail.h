// fail_at_length() gives a failure a detail text that is longer than status.h keeps, such as a
// list.
#pragma once

#include <string>

#include "base/status.h"

namespace cairn {

// Does what fail() does, with the whole text: last_detail() returns it until the next failure, and
// annotate() puts its own text in front. Not async-signal-safe.
Status fail_at_length(int errno_value, const std::string& text);

}  // namespace cairn
