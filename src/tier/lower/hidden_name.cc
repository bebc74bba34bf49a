// Names in lower that a cover never shows.
#include <cstring>

#include "tier/lower/lower.h"

namespace cairn::tier {

namespace {

// Is this name made of `prefix` and the digits of random_name()? If `host` is not 0, so many digits
// and a dash stand between them.
bool is_made_of(const std::string& name, const std::string& prefix, size_t host) {
  constexpr size_t random = 32;
  const size_t dash = host == 0 ? 0 : host + 1;
  if (name.rfind(prefix, 0) != 0 || name.size() != prefix.size() + dash + random) return false;
  for (size_t i = prefix.size(); i < name.size(); ++i) {
    const bool is_dash = host != 0 && i == prefix.size() + host;
    if (is_dash ? name[i] != '-' : std::strchr("0123456789abcdef", name[i]) == nullptr)
      return false;
  }
  return true;
}

}  // namespace

// Puts the number into the last two digits. The name keeps the form by which leftovers are found.
std::string numbered_temp_name(const std::string& temp_name, size_t number) {
  constexpr char digits[] = "0123456789abcdef";
  std::string name = temp_name;
  name[name.size() - 2] = digits[number / 16];
  name[name.size() - 1] = digits[number % 16];
  return name;
}

void remove_temp_files(int directory, const std::string& temp_name) {
  if (temp_name.compare(0, std::strlen(drain_prefix), drain_prefix) != 0) return;
  sys::unlinkat(directory, temp_name.c_str(), 0);
  for (size_t i = 0; i < most_temp_files; ++i)
    sys::unlinkat(directory, numbered_temp_name(temp_name, i).c_str(), 0);
}

bool is_hidden(const std::string& name) {
  const std::string claim = claim_file;
  return name == claim || is_made_of(name, claim + "-", 0) || is_made_of(name, claim + "-of-", 0) ||
         is_made_of(name, drain_prefix, 8);
}

bool is_hidden_at_top(const std::string& name) {
  return name == records_directory || is_hidden(name);
}

}  // namespace cairn::tier
