// DataFile: a file that is written and read back at places that the caller knows.
#pragma once

#include <sys/stat.h>

#include <cstdint>
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
  // Written back; what is read from now on comes from the file system where that is possible.
  void sync() const;
  void close();
  [[nodiscard]] struct stat status() const;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  [[noreturn]] void failed() const;

  int descriptor_ = -1;
  std::string path_;
};

}  // namespace cairn::cli
