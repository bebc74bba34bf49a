// HeldDirectory: which directory a run has covered, known by a descriptor for as long as it lasts.
//
// A token in the directory tells a run's drain that it has the right one before it (tier's
// same_directory.h). Where a file system does not tell when a directory was created, a copy has the
// token too. The run itself can tell: the kernel keeps what is open.
#pragma once

#include <string>

namespace cairn::cli {

class HeldDirectory {
 public:
  // Opens it for nothing but this.
  explicit HeldDirectory(std::string path);
  ~HeldDirectory();
  HeldDirectory(const HeldDirectory&) = delete;
  HeldDirectory& operator=(const HeldDirectory&) = delete;

  // Another directory has the path by now.
  [[nodiscard]] bool is_replaced() const;

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace cairn::cli
