// TempFile: a file that is written under another name in its directory and gets its own when it is
// complete. Without that it is removed.
#pragma once

#include <cstdint>
#include <string>

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
  void write(const void* bytes, uint64_t size, uint64_t offset);
  // Throws if fewer bytes are there.
  void read(void* bytes, uint64_t size, uint64_t offset) const;
  // Written back; what is read from now on comes from the file system where that is possible.
  void sync();
  // Gives it its name, durably.
  void publish();

 private:
  [[noreturn]] void failed(const std::string& path) const;

  std::string path_;
  std::string directory_;
  std::string temp_path_;  // "": it has its name
  bool may_replace_;
  int descriptor_ = -1;
};

}  // namespace cairn::cli
