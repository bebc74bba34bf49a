#include "process/held_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace cairn::cli {

HeldDirectory::HeldDirectory(std::string path)
    : path_(std::move(path)), descriptor_(open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

HeldDirectory::~HeldDirectory() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool HeldDirectory::is_replaced() const {
  struct stat held {};
  struct stat found {};
  return descriptor_ >= 0 && fstat(descriptor_, &held) == 0 && stat(path_.c_str(), &found) == 0 &&
         S_ISDIR(found.st_mode) && (held.st_dev != found.st_dev || held.st_ino != found.st_ino);
}

}  // namespace cairn::cli
