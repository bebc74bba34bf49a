// Keeps a thread's detail text while it is longer than status.h can keep.
#pragma once

#include <string>

namespace cairn {

bool has_long_text();
// The text is there only while has_long_text().
const std::string& long_text();
void keep_long_text(std::string text);
// Async-signal-safe.
void forget_long_text();

}  // namespace cairn
