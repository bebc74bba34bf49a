// Beneath opens everything in the covered directory through one descriptor of it, for a drain.
//
// Others may be able to rename what lies in the covered directory, and the directory itself. A path
// that is resolved twice can then lead to two places. So the covered directory is opened once, and
// what lies below is opened from there, through no symbolic link. A directory counts only if device
// and inode are those that the pool remembers (docs/design/trust.md).
#pragma once

#include <optional>
#include <string>

#include "tier/lower/lower.h"
#include "tier/system/system.h"

namespace cairn::tier {

class Beneath {
 public:
  Beneath() = default;
  // `path` is the real path of the open directory.
  Beneath(sys::Descriptor directory, std::string path)
      : directory_(std::move(directory)), path_(std::move(path)) {}

  [[nodiscard]] int fd() const { return directory_.get(); }
  // Open what has this path of the system, which must lie in the covered directory, or be it:
  // -EXDEV if it does not, -ELOOP if a symbolic link is on the way, -ENAMETOOLONG beyond
  // longest_path: the kernel goes the whole way each time.
  static constexpr size_t longest_path = 8 << 10;
  [[nodiscard]] int64_t open(const std::string& path, int flags) const;

 private:
  sys::Descriptor directory_;
  std::string path_;
};

// Whether an open file that is not a directory is what the pool remembers: 0, -ESTALE, or the error
// of fstat.
int64_t check_file(int fd, const Known& known, const file::LowerIdentity& identity);
// What the pool remembers under a name, if anything.
std::optional<file::LowerIdentity> remembered_of(const file::Listed& listed);

// Open a directory for reading. -ESTALE: it is not the one that `identity` says; null: any will do.
int64_t open_directory(const Beneath& beneath, const std::string& path, const Known& known,
                       const file::LowerIdentity* identity);
// Opens a directory of the user whose mode forbids reading it (-EACCES): it gets another mode. It
// is given back its own when its attributes are set.
int64_t open_own_directory(const Beneath& beneath, const std::string& path, const Known& known,
                           const file::LowerIdentity* identity);

}  // namespace cairn::tier
