#include "mpiio/backend/base/texts.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace mpiio {
namespace {

bool ends_with_name(const std::string& path, const std::string& name) {
  return path == name || (path.size() > name.size() && path.ends_with(name) &&
                          path[path.size() - name.size() - 1] == '/');
}

// Returns the length of a leading "read at offset 4096" or the like; 0: the text begins otherwise.
size_t place_in(const std::string& text) {
  for (const std::string_view start : {"read at offset ", "write at offset "}) {
    if (!text.starts_with(start)) continue;
    size_t end = start.size();
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    return end == start.size() ? 0 : end;
  }
  return 0;
}

bool is_inside_letter(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::string told_once(const std::string& path, const std::string& what, const std::string& said) {
  std::string done = what;
  std::string rest = said;
  for (size_t colon = rest.find(": "); colon != std::string::npos; colon = rest.find(": ")) {
    const std::string first = rest.substr(0, colon);
    const size_t place = place_in(rest);
    if (place != 0 && (rest[place] == ':' || rest[place] == ',')) {
      done = rest.substr(0, place);
      rest.erase(0, place + 2);  // ": ", or ", " and the pool
    } else if (first == done || ends_with_name(path, first) || ends_with_name(first, path)) {
      rest.erase(0, colon + 2);
    } else {
      break;
    }
  }
  return path + ": " + done + ": " + rest;
}

std::string fitted(const std::string& text, size_t room) {
  std::string fits = text;
  constexpr size_t least = 24;  // minimum length of a name
  const std::string gap = "...";
  const size_t name = std::min(text.find(": "), text.size());
  if (text.size() > room && name > least + gap.size()) {
    const size_t cut = std::min(text.size() - room + gap.size(), name - least);
    size_t from = (name - cut) / 2;
    size_t to = from + cut;
    while (from > 0 && is_inside_letter(text[from])) --from;
    while (to < name && is_inside_letter(text[to])) ++to;
    fits = text.substr(0, from) + gap + text.substr(to);
  }
  if (fits.size() <= room) return fits;
  size_t end = room;
  while (end > 0 && is_inside_letter(fits[end])) --end;
  return fits.substr(0, end);
}

}  // namespace mpiio
