#include "machine/temp_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "machine/file_name.h"
#include "text/error.h"

namespace cairn::cli {
namespace {

void check_name(const DataFile& above, const std::string& name, bool may_replace,
                const std::string& path) {
  struct stat st {};
  if (fstatat(above.descriptor(), name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (!may_replace) fail("{}: exists already (--force replaces it)", path);
  if (!S_ISREG(st.st_mode)) fail("{}: is not a file", path);
}

}  // namespace

void check_may_create(const std::string& path, bool may_replace) {
  check_name(open_directory(directory_of(path)), name_of(path), may_replace, path);
}

TempFile::TempFile(const std::string& path, bool may_replace)
    : above_(open_directory(directory_of(path))),
      name_(name_of(path)),
      may_replace_(may_replace),
      file_(-1, path) {
  check_name(above_, name_, may_replace, path);
  const std::string name = name_ + "." + random_digits() + ".part";
  file_ = DataFile(openat(above_.descriptor(), name.c_str(),
                          O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600),
                   path);
  if (file_.descriptor() < 0) throw Error(exit_failed, system_error(path, errno));
  temp_name_ = name;
}

TempFile::~TempFile() {
  if (temp_name_.empty() || file_.descriptor() < 0) return;
  if (has_name(above_, temp_name_, file_)) unlinkat(above_.descriptor(), temp_name_.c_str(), 0);
}

void TempFile::publish() {
  const std::string& path = file_.path();
  file_.open_to_others();
  file_.again().close();  // tells what did not reach a file system that writes back at a close
  if (!has_name(above_, temp_name_, file_))
    fail("{}: not written: another process has removed or replaced {} beside it", path, temp_name_);
  const int error =
      give_name(above_.descriptor(), temp_name_, above_.descriptor(), name_, may_replace_);
  if (error != 0) throw Error(exit_failed, system_error(path, error));
  temp_name_.clear();
  if (!has_name(above_, name_, file_))
    fail(
        "{}: is not the file that was written: another process has replaced it; remove it, and "
        "write to a directory that only you can write to",
        path);
  sync_directory(above_.descriptor(), above_.path());
}

}  // namespace cairn::cli
