// Texts of records: names of variables, aliases and keys of attributes.
#pragma once

#include <cstdint>
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

// Returns a uuid in its usual form of 36 characters.
std::string shown_uuid(const uint8_t (&uuid)[16]);

}  // namespace cairn::checkpoint
