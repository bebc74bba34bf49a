// Configuration: every key has one name in the file (pool.size), the environment (CAIRN_POOL_SIZE)
// and on the command line (--pool-size). Later origins win:
//
//   default < /etc/cairn/cairn.yaml < $XDG_CONFIG_HOME/cairn/cairn.yaml < environment < command
//   line
//
// If CAIRN_CONFIG names a file, that one is read in place of the two. An unknown key is an error
// that names the nearest known one; so is a value that the key does not take.
//
// A file counts only if its path is absolute, it belongs to the user or to root, nobody else can
// write to it, and it is a regular file of at most 64 KiB. One that is named must count; one that
// is found and does not count gives a notice.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cairn::cli {

struct Key {
  std::string name;      // "pool.size"
  std::string metavar;   // "SIZE", or the choices "exit|never"
  std::string standard;  // the default
  std::string help;

  [[nodiscard]] std::string environment() const;  // "CAIRN_POOL_SIZE"
  [[nodiscard]] std::string option() const;       // "--pool-size"
};

// All keys, in the order in which they are shown.
const std::vector<Key>& keys();

struct Setting {
  std::string value;
  std::string origin;  // "default", "environment CAIRN_POOL_SIZE", "PATH:LINE", "command line"
};

using Environment = std::function<const char*(const std::string&)>;

class Config {
 public:
  Config();  // defaults only

  // Reads files and environment. `variables` are the names of all environment variables.
  static Config load(const Environment& environment, const std::vector<std::string>& variables,
                     const std::string& system_file = "/etc/cairn/cairn.yaml");

  // Throws Error(exit_usage) if the file does not count.
  void read_file(const std::string& path);
  // Throws Error(exit_usage) if the key does not take this value.
  void set(const std::string& key, const std::string& value, const std::string& origin);

  [[nodiscard]] const Setting& at(const std::string& key) const;
  [[nodiscard]] const std::string& value(const std::string& key) const { return at(key).value; }
  // Has anything but the default set the key?
  [[nodiscard]] bool is_set(const std::string& key) const { return at(key).origin != "default"; }
  // The files that were read.
  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }
  // A line for each file that was found and does not count: its path, and why.
  [[nodiscard]] const std::vector<std::string>& notices() const { return notices_; }

 private:
  // Returns why the file does not count; "" if it was read. Throws for mistakes in its text.
  std::string read_if_it_counts(const std::string& path);
  void look_for_file(const std::string& path);
  // The directory that a variable names; "" if that is not an absolute path.
  std::string absolute(const char* name, const std::string& directory);

  std::map<std::string, Setting> settings_;
  std::vector<std::string> files_, notices_;
};

}  // namespace cairn::cli
