// Texts of records: names of variables, aliases and keys of attributes.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace cairn::checkpoint {

bool is_utf8(std::string_view text);

// EINVAL unless it has 1 to 255 bytes of UTF-8 without control characters, '/' and leading dot.
// `what` it is, for the message.
Status check_name(std::string_view name, const char* what);

// As a message may hold it: unprintable bytes as \xNN, and not too many.
std::string shown_text(std::string_view text);

}  // namespace cairn::checkpoint
