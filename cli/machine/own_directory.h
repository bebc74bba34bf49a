// OwnDirectory: a directory of this user in one that others may write to. It is held by its
// descriptor, and one that another user made, or can write to, is refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/data_file.h"

namespace cairn::cli {

class OwnDirectory {
 public:
  // DIRECTORY/NAME. Throws if it is not there, belongs to another user, or others can write to it.
  static OwnDirectory open_below(const DataFile& directory, const std::string& name);
  // The same; it is made if it is not there, for this user alone.
  static OwnDirectory make_below(const DataFile& directory, const std::string& name);
  // A directory in this one. Throws as above.
  [[nodiscard]] OwnDirectory enter(const std::string& name) const;
  ~OwnDirectory();
  OwnDirectory(OwnDirectory&& other) noexcept;
  OwnDirectory(const OwnDirectory&) = delete;
  OwnDirectory& operator=(const OwnDirectory&) = delete;

  // Ascending, without hidden ones. Throws.
  [[nodiscard]] std::vector<std::string> names() const;
  // False: it is not a regular file of at most `most` bytes, or cannot be read.
  bool read(const std::string& name, uint64_t most, std::string* text) const;
  // Writes a file that appears with all of its bytes. False, without `replaces`: there is one of
  // the name. Throws.
  [[nodiscard]] bool write(const std::string& name, const std::string& text, bool replaces) const;
  // Removes a file, if there is one of the name. Throws.
  void remove(const std::string& name) const;
  // Removes all files in it, whatever the names. Throws.
  void empty() const;
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  OwnDirectory(int above, const std::string& name, std::string path);
  void check() const;

  int descriptor_;
  int error_;  // why it could not be opened
  std::string path_;
};

}  // namespace cairn::cli
