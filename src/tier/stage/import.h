// Importer imports the names of a lazy directory from lower. The new inodes are lazy.
#pragma once

#include <string>

#include "file/inode/file_system.h"
#include "tier/lower/lower.h"

namespace cairn::tier {

class Importer {
 public:
  explicit Importer(file::FileSystem& fs) : fs_(fs) {}
  // Implements file::Lower.
  Status fill_directory(uint64_t inode);

 private:
  Status import_names(const LowerLocation& place, uint64_t inode);
  Status import_one(const LowerLocation& place, uint64_t directory, int fd, const std::string& name,
                    uint64_t* newest);

  file::FileSystem& fs_;
};

}  // namespace cairn::tier
