// HeldDirectory keeps the directory that a run has covered open, to recognise it while the run
// lasts.
//
// A drain recognises the covered directory by a token in it (tier's same_directory.h). On a file
// system that does not record when a directory was created, a copy of the directory has the token
// too. The run itself can tell the two apart, because the kernel keeps an open directory.
#pragma once

#include <string>

namespace cairn::cli {

class HeldDirectory {
 public:
  // Opens the directory, for nothing but this.
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
