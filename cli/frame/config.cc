#include "frame/config.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "frame/bounded_file.h"
#include "frame/config_text.h"
#include "text/error.h"
#include "text/suggest.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

constexpr uint64_t most_file_bytes = uint64_t{64} << 10;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::vector<std::string> key_names() {
  std::vector<std::string> names;
  for (const Key& key : keys()) names.push_back(key.name);
  return names;
}

const Key* find_key(const std::string& name) {
  for (const Key& key : keys())
    if (key.name == name) return &key;
  return nullptr;
}

// Throws if `value` is invalid; the text does not name the value's origin.
void validate(const Key& key, const std::string& value) {
  if (key.metavar == "SIZE") {
    if (value == "auto") return;
    const Size size = parse_size(value);
    if (size.is_percent ? size.percent <= 0 : size.bytes == 0)
      usage_error("invalid size '{}': expected 512M, 10GiB, 50% or auto", value);
  } else if (key.metavar == "RATE") {
    parse_rate(value);
  } else if (key.metavar == "NAME") {
    const bool is_printable = std::none_of(value.begin(), value.end(),
                                           [](unsigned char c) { return std::iscntrl(c) != 0; });
    if (value.size() > 200)
      usage_error("invalid pool name '{}...': {} bytes, 200 at most", value.substr(0, 20),
                  value.size());
    if (value.empty() || value.find_first_of("/:") != std::string::npos || value[0] == '.' ||
        value[0] == '-' || !is_printable)
      usage_error(
          "invalid pool name '{}': '/', ':', a control character and a leading '.' or '-' are not "
          "allowed",
          value);
  } else if (key.metavar == "DOMAIN") {
    constexpr size_t most_bytes = 31;
    const bool is_printable = std::none_of(value.begin(), value.end(),
                                           [](unsigned char c) { return std::iscntrl(c) != 0; });
    if (value.empty() || value.size() > most_bytes || !is_printable)
      usage_error("invalid domain '{}': expected 1 to 31 bytes without control characters",
                  value.substr(0, most_bytes));
  } else if (key.metavar == "SECONDS") {
    if (key.name == "mpi.timeout" && value == "-1") return;  // without end
    constexpr size_t most_digits = 10;
    if (value.empty() || value.size() > most_digits ||
        value.find_first_not_of("0123456789") != std::string::npos)
      usage_error("invalid time '{}': expected whole seconds, at most 10 digits", value);
  } else if (key.metavar == "DIR") {
    if (value.empty()) usage_error("the path is empty");
  } else {
    const std::vector<std::string> choices = split(key.metavar, '|');
    if (std::find(choices.begin(), choices.end(), value) == choices.end())
      usage_error("'{}' is not one of {}{}", value, key.metavar, did_you_mean(value, choices));
  }
}

}  // namespace

std::string Key::environment() const {
  std::string text = "CAIRN_" + name;
  for (char& c : text)
    c = c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string Key::option() const {
  std::string text = "--" + name;
  std::replace(text.begin(), text.end(), '.', '-');
  return text;
}

const std::vector<Key>& keys() {
  static const std::vector<Key> all = {
      {"pool.dir", "DIR", "/dev/shm",
       "Directory for pools, or a dax device (/dev/dax0.0), which holds one pool. If other users "
       "can write to the directory, as to /dev/shm, Cairn uses a private subdirectory cairn-UID."},
      {"pool.name", "NAME", "default", "The pool that commands use when none is named."},
      {"pool.size", "SIZE", "auto",
       "Size of a new pool: bytes with a unit (512M, 10GiB), a share of the free space (50%), or "
       "auto. With auto, a pool takes what the machine and its cgroup allow."},
      {"pool.protect", "on|off", "off",
       "Whether memory protection keys stop stray stores of programs into pools. A stray store "
       "then raises SIGSEGV instead of damaging the pool. Costs about 40 ns a call."},
      {"pool.release", "idle|never", "idle",
       "Whether a pool on tmpfs returns memory that no file has used for a minute to the system. "
       "The pool stores the setting. A pool created with --populate keeps its memory in any case."},
      {"drain.mode", "exit|close|async|never", "exit",
       "When Cairn writes a run's data to the covered directory. exit: when the last process "
       "exits. "
       "close: also while the run goes on, each file that no process has open. async: also files "
       "that are open, once they are quiet. never: only on `cairn drain`."},
      {"drain.quiet", "SECONDS", "2",
       "Modes close and async: how long a file must not have changed before it is written to the "
       "covered directory while the run goes on."},
      {"drain.rate", "RATE", "unlimited",
       "Modes close and async: the most that is written to the covered directory in a second while "
       "the run goes on, such as 200M, or unlimited."},
      {"drain.yield", "on|off", "on",
       "Modes close and async, and --detach-drain: whether the background process that drains lets "
       "programs go first, for the processor and for the disk. off: for nodes with a processor to "
       "spare."},
      {"drain.wait", "SECONDS", "60",
       "How long an ended run, or `cairn drain` under a launcher, waits for other nodes of its job "
       "to write their parts of files. The time counts from when the last file was whole. After "
       "that, the command names the missing nodes and fails. Its own part also stays in the pool "
       "until `cairn drain`."},
      {"mpi.timeout", "SECONDS", "60",
       "How long ranks of an MPI program wait for a host that does not answer. After that, one "
       "line says so and the job ends. -1 or 1000000000: wait without end."},
      {"mpi.visibility", "auto|sync|immediate", "auto",
       "When ranks on other hosts see what a rank writes through MPI-IO: after syncs (sync), "
       "immediately, or immediately only for files of HDF5 and PnetCDF (auto). The hint "
       "cairn_visibility overrides the key."},
      {"checkpoint.domain", "DOMAIN", "host name",
       "Failure domain of this host, such as its rack. Checkpoints have their copies on hosts of "
       "other domains."},
      {"durability", "fsync|write", "fsync",
       "On media that survive power loss: writes are durable after fsync, or when they return."},
      {"log.level", "error|warning|info", "warning",
       "What Cairn prints on stderr besides results and errors."},
  };
  return all;
}

Config::Config() {
  for (const Key& key : keys()) settings_[key.name] = {key.standard, "default"};
}

const Setting& Config::at(const std::string& key) const { return settings_.at(key); }

void Config::set(const std::string& key, const std::string& value, const std::string& origin) {
  const Key* known = find_key(key);
  if (known == nullptr)
    usage_error("{}: unknown key {}{}", origin, key, did_you_mean(key, key_names()));
  try {
    validate(*known, value);
  } catch (const Error& error) {
    throw Error(exit_usage, fmt::format("{} ({}): {}", key, origin, error.what()));
  }
  settings_[key] = {value, origin};
}

void Config::read_file(const std::string& path) {
  const std::string problem = read_if_it_counts(path);
  if (!problem.empty()) usage_error("{}: {}", path, problem);
}

std::string Config::read_if_it_counts(const std::string& path) {
  if (!path.starts_with('/')) return "a configuration file needs an absolute path";
  const BoundedFile file = read_bounded(path, most_file_bytes, Owners::trusted);
  if (!file.problem.empty()) return file.problem;
  read_config_text(
      file.text, path,
      [this](const std::string& key, const std::string* value, const std::string& place) {
        if (find_key(key) == nullptr)
          usage_error("{}: unknown key {}{}", place, key, did_you_mean(key, key_names()));
        if (value == nullptr) usage_error("{}: {} takes one value", place, key);
        set(key, *value, place);
      });
  files_.push_back(path);
  return "";
}

void Config::look_for_file(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) return;
  const std::string problem = read_if_it_counts(path);
  if (!problem.empty())
    notices_.push_back(fmt::format("{}: does not count as configuration: {}", path, problem));
}

std::string Config::absolute(const char* name, const std::string& directory) {
  if (directory.empty() || directory.starts_with('/')) return directory;
  notices_.push_back(fmt::format("{}: '{}': not an absolute path; no configuration is read from it",
                                 name, directory));
  return "";
}

Config Config::load(const Environment& environment, const std::vector<std::string>& variables,
                    const std::string& system_file) {
  const auto variable = [&](const std::string& name) -> std::string {
    const char* value = environment(name);
    return value == nullptr ? "" : value;
  };
  Config config;
  if (const std::string named = variable("CAIRN_CONFIG"); !named.empty()) {
    config.read_file(named);
  } else {
    config.look_for_file(system_file);
    const std::string home = config.absolute("XDG_CONFIG_HOME", variable("XDG_CONFIG_HOME"));
    if (!home.empty())
      config.look_for_file(home + "/cairn/cairn.yaml");
    else if (const std::string above = config.absolute("HOME", variable("HOME")); !above.empty())
      config.look_for_file(above + "/.config/cairn/cairn.yaml");
  }

  std::vector<std::string> known;
  for (const Key& key : keys()) {
    known.push_back(key.environment());
    if (const std::string value = variable(key.environment()); !value.empty())
      config.set(key.name, value, "environment " + key.environment());
  }
  // Other programs may use variables that begin with CAIRN_. A name that is almost a key is taken
  // for a mistyped one.
  for (const std::string& name : variables) {
    if (!name.starts_with("CAIRN_") || std::find(known.begin(), known.end(), name) != known.end())
      continue;
    for (const std::string& key : known)
      if (edit_distance(name, key) <= 2)
        usage_error("unknown environment variable {}; did you mean {}?", name, key);
  }
  return config;
}

}  // namespace cairn::cli
