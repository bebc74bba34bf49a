// Beneath opens files in the covered directory through one descriptor of it, for a drain.
//
// Other users may be able to rename the covered directory and entries in it. A path that is
// resolved twice can then lead to two places. So the covered directory is opened once, and files
// below it are opened from there, through no symbolic link. A directory counts only if device and
// inode are those that the pool remembers (docs/design/trust.md).
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
  [[nodiscard]] sys::Descriptor take() { return std::move(directory_); }
  // Opens an absolute path of the system at or below the covered directory. -EXDEV: it is not.
  // -ELOOP: a component is a symbolic link. -ENAMETOOLONG: it is longer than longest_path; the
  // kernel resolves the whole path each time.
  static constexpr size_t longest_path = 8 << 10;
  [[nodiscard]] int64_t open(const std::string& path, int flags) const;

 private:
  sys::Descriptor directory_;
  std::string path_;
};

// Checks that an open file, not a directory, is the one that the pool remembers: 0, -ESTALE, or the
// error of fstat.
int64_t check_file(int fd, const KnownCover& known, const file::Witness& witness);
// The witness in lower that the pool remembers under a name; none if it remembers nothing.
std::optional<file::Witness> remembered_of(const file::Listed& listed);

// Opens a directory for reading. -ESTALE: it is another one than `witness` says; null: any will
// do.
int64_t open_directory(const Beneath& beneath, const std::string& path, const KnownCover& known,
                       const file::Witness* witness);
// Opens a directory of the user whose mode forbids reading it (-EACCES), by giving it another mode.
// It gets its own mode again when its attributes are set.
int64_t open_own_directory(const Beneath& beneath, const std::string& path, const KnownCover& known,
                           const file::Witness* witness);

}  // namespace cairn::tier
