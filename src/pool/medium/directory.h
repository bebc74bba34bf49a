// Directory: an open directory. Its entries are reached by its descriptor and a name, never by a
// path, and no symbolic link is followed: others who can write to a directory above may exchange
// the target of a path between two looks (docs/design/trust.md).
#pragma once

#include <sys/stat.h>

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace cairn::pool {

class Directory {
 public:
  Directory() = default;
  ~Directory() { close(); }
  Directory(Directory&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}
  Directory& operator=(Directory&& other) noexcept;
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  // Opens the user's own argument: links on the way are followed. The directory need not be
  // readable.
  static Result<Directory> open(const std::string& path);
  // Opens a directory in this one; ENOTDIR if anything else has the name, such as a symbolic link.
  [[nodiscard]] Result<Directory> enter(const std::string& name) const;
  // Opens the same directory again.
  [[nodiscard]] Result<Directory> again() const;
  // Opens the same directory for reading, locking and syncing.
  [[nodiscard]] Result<Directory> readable() const;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  // Returns the path for messages.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string path_of(const std::string& name) const { return path_ + "/" + name; }
  // Returns a path that leads to the directory wherever it lies, while it is open.
  [[nodiscard]] std::string by_descriptor() const;

  [[nodiscard]] struct stat status() const;
  // Returns true if no user except this one and root can replace one of this user's entries.
  [[nodiscard]] bool is_closed() const;
  // Reads the entry of a name, the link itself if it is one. False: see errno.
  [[nodiscard]] bool look(const std::string& name, struct stat* st) const;
  [[nodiscard]] bool has(const std::string& name) const;
  // Returns true if the name refers to `directory`.
  [[nodiscard]] bool holds(const std::string& name, const Directory& directory) const;
  // Returns all names except "." and "..".
  [[nodiscard]] Result<std::vector<std::string>> names() const;
  [[nodiscard]] bool is_empty() const;
  // Returns "" if there is no such link.
  [[nodiscard]] std::string link_target(const std::string& name) const;

  // Makes a directory with mode 0700; make_new finds it a name.
  [[nodiscard]] Status make(const std::string& name) const;
  [[nodiscard]] Result<std::string> make_new(const std::string& prefix) const;
  [[nodiscard]] Status make_link(const std::string& target, const std::string& name) const;
  [[nodiscard]] Status remove(const std::string& name) const;
  // Removes an empty directory.
  [[nodiscard]] Status remove_directory(const std::string& name) const;
  [[nodiscard]] Status rename(const std::string& name, const Directory& to,
                              const std::string& new_name) const;
  // Makes the names in it survive power loss, if the medium can.
  [[nodiscard]] Status sync() const;

 private:
  Directory(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  [[nodiscard]] Result<Directory> open_in(const std::string& name, int flags,
                                          const std::string& path) const;
  [[nodiscard]] Status failed(const std::string& name) const;
  void close();

  int descriptor_ = -1;
  std::string path_;
};

// Returns the path without slashes at its end, and with its last component's name, so that
// parent_of returns the directory that contains it.
std::string plain_path(const std::string& path);
std::string parent_of(const std::string& path);
std::string last_of(const std::string& path);

}  // namespace cairn::pool
