// TempFile: a file that is written under another name in its directory and gets its own when it is
// complete. Without that it is removed.
//
// Others may be able to write to the directory. The file is created anew, and reached by its
// descriptor from then on. A name is given or removed only while it is the file's.
#pragma once

#include <string>

#include "machine/data_file.h"

namespace cairn::cli {

class TempFile {
 public:
  // Creates it, closed to others. Throws if the directory cannot be written to, or `path` exists
  // and may not be replaced.
  TempFile(const std::string& path, bool may_replace);
  ~TempFile();
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  [[nodiscard]] const DataFile& data() const { return file_; }
  // Gives it its name, durably. Throws if other users have exchanged it meanwhile.
  void publish();

 private:
  DataFile above_;
  std::string name_;
  std::string temp_name_;  // "": it has its name
  bool may_replace_;
  DataFile file_;
};

// Throws if `path` exists and may not be replaced, or is something else than a regular file.
void check_may_create(const std::string& path, bool may_replace);

}  // namespace cairn::cli
