// TempFile: a file that is written under another name in its directory and gets its own when it is
// complete. Without that it is removed.
#pragma once

#include <cstdint>
#include <string>

#include "machine/data_file.h"

namespace cairn::cli {

class TempFile {
 public:
  // Creates it. Throws if the directory cannot be written to, or `path` exists and may not be
  // replaced.
  TempFile(const std::string& path, bool may_replace);
  ~TempFile();
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  // Where it is now.
  [[nodiscard]] const std::string& temp_path() const { return temp_path_; }
  // Opens it again after another writer replaced its contents.
  void reopen();
  [[nodiscard]] const DataFile& data() const { return file_; }
  // Gives it its name, durably.
  void publish();

 private:
  std::string path_;
  std::string temp_path_;  // "": it has its name
  bool may_replace_;
  DataFile file_;
};

// Throws if `path` exists and may not be replaced, or is something else than a regular file.
void check_may_create(const std::string& path, bool may_replace);

}  // namespace cairn::cli
