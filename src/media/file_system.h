// File systems: recognises the kind behind a path, as far as a pool must know it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace cairn::media {

// The root of the system's own files. Tests point `prefix` at a tree of their own.
struct SystemRoot {
  std::string prefix;
  [[nodiscard]] std::string path(const std::string& absolute) const { return prefix + absolute; }
};

// Returns the whole of a small text file (sysfs, procfs); empty if it cannot be read.
std::string read_text(const std::string& path);
// Returns the text without the white space at the end.
std::string read_line(const std::string& path);

// Returns the name of a network or cluster file system by its statfs magic, or null for a local
// one.
const char* network_file_system(uint64_t magic);
// Returns EOPNOTSUPP with a clear text if the file lies on one: locks there are not between
// processes of this node alone, and a mapping is not shared memory. `what` names the file in the
// text.
Status refuse_network(int descriptor, const char* what);

// One line of /proc/self/mountinfo.
struct Mount {
  std::string device;  // "major:minor"
  std::string root;    // the part of the file system that is mounted here
  std::string point;
  std::string type;
  std::string options;  // the mount's and the file system's, joined by a comma
};

std::vector<Mount> parse_mountinfo(const std::string& text);
// Returns the mount that holds the file system of device `device`, the last one listed; null if
// none does.
const Mount* find_mount(const std::vector<Mount>& mounts, dev_t device);
// Returns the mount with the longest mount point that `path` (absolute, resolved) lies under; null
// if none.
const Mount* find_mount(const std::vector<Mount>& mounts, const std::string& path);
// Returns the value of `key=` among the options ("" if it is not there; "1" for a bare word).
std::string mount_option(const Mount& mount, const std::string& key);

// Returns true if `path` is `directory` or lies under it (both absolute, lexical).
bool lies_under(const std::string& path, const std::string& directory);

}  // namespace cairn::media
