#include "checkpoint/record/text.h"

#include <algorithm>
#include <cstdint>

#include "checkpoint/record/limits.h"

namespace cairn::checkpoint {
namespace {

// Returns the bytes of the character that begins here, 0 if none does (RFC 3629, table 3-7 of
// Unicode).
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
  };
  const auto continues = [&](size_t i, uint8_t from, uint8_t to) {
    return byte(i) >= from && byte(i) <= to;
  };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return continues(1, 0x80, 0xbf) ? 2 : 0;
  if (first < 0xf0) {
    const uint8_t from = first == 0xe0 ? 0xa0 : 0x80;  // else it would be shorter
    const uint8_t to = first == 0xed ? 0x9f : 0xbf;    // else half a pair of UTF-16
    return continues(1, from, to) && continues(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (first > 0xf4) return 0;
  const uint8_t from = first == 0xf0 ? 0x90 : 0x80;
  const uint8_t to = first == 0xf4 ? 0x8f : 0xbf;
  return continues(1, from, to) && continues(2, 0x80, 0xbf) && continues(3, 0x80, 0xbf) ? 4 : 0;
}

bool is_control(char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; }

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

Status check_name(std::string_view name, const char* what) {
  if (name.empty() || name.size() > max_name)
    return fail(EINVAL, "%s '%s': %zu bytes; expected 1 to %u", what, shown_text(name).c_str(),
                name.size(), max_name);
  if (name[0] == '.' || name.find('/') != std::string_view::npos)
    return fail(EINVAL, "%s '%s': has '/' or a leading dot", what, shown_text(name).c_str());
  if (!is_utf8(name) || std::any_of(name.begin(), name.end(), is_control))
    return fail(EINVAL, "%s '%s': is not UTF-8 without control characters", what,
                shown_text(name).c_str());
  return Status();
}

std::string shown_text(std::string_view text) {
  constexpr size_t most = 80;
  constexpr const char* digits = "0123456789abcdef";
  std::string shown;
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      shown += c;
    } else {
      shown += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return text.size() > most ? shown + "..." : shown;
}

std::string shown_uuid(const uint8_t (&uuid)[16]) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < sizeof uuid; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits[uuid[i] >> 4];
    text += digits[uuid[i] & 15];
  }
  return text;
}

}  // namespace cairn::checkpoint
