// DataFile: a file that is written and read back at places that the caller knows.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

namespace cairn::cli {

class DataFile {
 public:
  // The file of this descriptor, which it closes. `path`: what errors name.
  DataFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  ~DataFile();
  DataFile(DataFile&& other) noexcept;
  DataFile& operator=(DataFile&& other) noexcept;
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  void write(const void* bytes, uint64_t size, uint64_t offset) const;
  // Throws if fewer bytes are there.
  void read(void* bytes, uint64_t size, uint64_t offset) const;
  // Writes the file back. Later reads come from the file system, where that is possible.
  void sync() const;
  void close();
  [[nodiscard]] struct stat status() const;
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  // A path that leads to this file even if another one has its name by now, for a library that
  // wants a path.
  [[nodiscard]] std::string by_descriptor() const;
  // One more descriptor.
  [[nodiscard]] DataFile again() const;
  // Gives a new file that was closed to others the mode that files of this process get.
  void open_to_others() const;

 private:
  [[noreturn]] void failed() const;

  int descriptor_ = -1;
  std::string path_;
};

// Opens a regular file that the user has named, to read it. Nothing: there is none. Throws.
std::optional<DataFile> open_to_read(const std::string& path);

}  // namespace cairn::cli
