// What a thread's detail text (status.h) is while it is longer than status.h keeps.
#pragma once

#include <string>

namespace cairn {

bool has_long_text();
// While has_long_text().
const std::string& long_text();
void keep_long_text(std::string text);
// Async-signal-safe.
void forget_long_text();

}  // namespace cairn
