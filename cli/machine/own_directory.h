// OwnDirectory: a directory of copies of checkpoints, as the library trusts one: it is the
// user's, nobody else can write to it, and it was not found through a link.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::cli {

class OwnDirectory {
 public:
  // DIR/.cairn-checkpoints. Throws.
  static OwnDirectory open_in(const std::string& directory);
  // One below it. Throws.
  [[nodiscard]] OwnDirectory enter(const std::string& name) const;
  ~OwnDirectory();
  OwnDirectory(OwnDirectory&& other) noexcept;
  OwnDirectory(const OwnDirectory&) = delete;
  OwnDirectory& operator=(const OwnDirectory&) = delete;

  // Ascending, without hidden ones. Throws.
  [[nodiscard]] std::vector<std::string> names() const;
  // False: it is not a regular file of at most `most` bytes, or cannot be read.
  bool read(const std::string& name, uint64_t most, std::string* text) const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  OwnDirectory(int above, const std::string& name, std::string path);
  void check() const;

  int descriptor_;
  int error_;  // why it could not be opened
  std::string path_;
};

}  // namespace cairn::cli
