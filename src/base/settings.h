// Settings: the keys of cairn.yaml and of the environment that libcairn needs by itself, as the
// command reads them (docs/user/configuration.md).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/status.h"

namespace cairn {

// Calls visit(key, value, line) for each value of a configuration file; keys below others are
// joined by dots. It reads what such files need of YAML: keys, nesting, comments, plain and quoted
// values. ENOSYS: the text has something else; the message says where.
Status parse_settings(std::string_view text,
                      const std::function<Status(const std::string& key, const std::string& value,
                                                 unsigned line)>& visit);

class Settings {
 public:
  // From files, then from the environment, which wins. EINVAL: an unknown key of pools or of
  // checkpoints; the message has file and line.
  static Result<Settings> load();

  // "" if nothing sets it.
  [[nodiscard]] std::string value(const std::string& key) const;
  // Returns a size, such as 512M, 10GiB or 2GB; 0: it is not set, or "auto". EINVAL. ENOSYS: it is
  // a percentage, which only the command reads.
  [[nodiscard]] Result<uint64_t> bytes(const std::string& key) const;
  // Returns the source of a setting (a file, a variable), for messages.
  [[nodiscard]] std::string origin(const std::string& key) const;

 private:
  struct Setting {
    std::string value, origin;
  };
  Status read_file(const std::string& path);
  // A file that does not count (base/bounded_file.h) is passed over.
  Status look_for_file(const std::string& path);
  Status read_text(const std::string& text, const std::string& path);

  std::map<std::string, Setting> settings_;
};

}  // namespace cairn
