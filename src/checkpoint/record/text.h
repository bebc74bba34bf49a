// Texts of records: names of variables, aliases and keys of attributes.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace cairn::checkpoint {

bool is_utf8(std::string_view text);

// Returns EINVAL unless the name has 1 to 255 bytes of UTF-8 without control characters, '/' and
// leading dot. `what` names its kind in the message.
Status check_name(std::string_view name, const char* what);

// Returns the text as a message may hold it: unprintable bytes as \xNN, shortened if long.
std::string shown_text(std::string_view text);

}  // namespace cairn::checkpoint
