#include "tier/lower/beneath.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "tier/lower/unreadable.h"

namespace cairn::tier {

int64_t Beneath::open(const std::string& path, int flags) const {
  if (path.size() > longest_path) return -ENAMETOOLONG;
  if (path.compare(0, path_.size(), path_) != 0) return -EXDEV;
  size_t from = path_.size();
  if (from < path.size() && path_ != "/" && path[from] != '/') return -EXDEV;
  while (from < path.size() && path[from] == '/') ++from;
  return sys::open_in(fd(), from == path.size() ? "." : path.c_str() + from, flags);
}

std::optional<file::Witness> remembered_of(const file::Listed& listed) {
  if (!listed.has_lower) return std::nullopt;
  return listed.lower;
}

int64_t check_file(int fd, const KnownCover& known, const file::Witness& witness) {
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(fd, &st); result < 0) return result;
  return !S_ISDIR(st.st_mode) && is_remembered(known, witness, st) ? 0 : -ESTALE;
}

namespace {

int64_t checked_directory(int64_t opened, const KnownCover& known, const file::Witness* witness) {
  if (opened < 0 || witness == nullptr) return opened;
  sys::Descriptor fd(static_cast<int>(opened));
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(fd.get(), &st); result < 0) return result;
  return is_remembered(known, *witness, st) ? fd.take() : -ESTALE;
}

}  // namespace

int64_t open_directory(const Beneath& beneath, const std::string& path, const KnownCover& known,
                       const file::Witness* witness) {
  return checked_directory(beneath.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), known, witness);
}

int64_t open_own_directory(const Beneath& beneath, const std::string& path, const KnownCover& known,
                           const file::Witness* witness) {
  // Compares the witness before open_unreadable() changes the mode.
  const int64_t closed = beneath.open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  return open_unreadable(checked_directory(closed, known, witness), O_RDONLY | O_DIRECTORY);
}

}  // namespace cairn::tier
