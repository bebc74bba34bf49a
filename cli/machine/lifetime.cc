#include "machine/lifetime.h"

#include <cairn/cairn.h>

#include "text/error.h"

namespace cairn::cli {

std::vector<std::string> lifetime_warnings(const std::string& path) {
  std::vector<std::string> warnings;
  const auto add = [](void* context, const char* text) {
    static_cast<std::vector<std::string>*>(context)->emplace_back(text);
  };
  check(cairn_lifetime_warnings(path.c_str(), add, &warnings), path);
  return warnings;
}

void warn_all(const std::vector<std::string>& warnings) {
  for (const std::string& text : warnings) warn(text);
}

Json with_warnings(Json json, const std::vector<std::string>& warnings) {
  json["warnings"] = Json::array();
  for (const std::string& text : warnings) json["warnings"].push_back(json_text(text));
  return json;
}

}  // namespace cairn::cli
