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

bool is_hidden(const std::string& name) {
  const std::string claim = claim_file;
  return name == claim || is_made_of(name, claim + "-", 0) || is_made_of(name, claim + "-of-", 0) ||
         is_made_of(name, drain_prefix, 8);
}

bool is_hidden_at_top(const std::string& name) {
  return name == records_directory || is_hidden(name);
}

}  // namespace cairn::tier
