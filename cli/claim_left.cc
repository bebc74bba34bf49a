#include "claim_left.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cairn::cli {
namespace {

// What the claim says, with a line's end before each line; "" if it cannot be read. Others can write to
// the directory: a name that is no file must not hold us up.
std::string text_of(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return "";
  struct stat st {};
  std::string text(size_t{1} << 16, '\0');
  const ssize_t size =
      fstat(file, &st) == 0 && S_ISREG(st.st_mode) ? pread(file, text.data(), text.size(), 0) : -1;
  close(file);
  if (size <= 0) return "";
  text.resize(static_cast<size_t>(size));
  return '\n' + text;
}

}  // namespace

std::string claim_left(const std::string& directory, const std::string& pool) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  DIR* names = opendir(directory.c_str());
  if (names == nullptr) return "";
  std::string found;
  while (const dirent* entry = readdir(names)) {
    // Also one that joined the claim of the same job on another host.
    const std::string name = entry->d_name;
    if (name != ".cairn-claim" && !name.starts_with(".cairn-claim-of-")) continue;
    const std::string text = text_of(directory + "/" + name);
    if (text.find(std::string("\nhost ") + host + '\n') != std::string::npos &&
        text.find("\npool " + pool + '\n') != std::string::npos)
      found = directory + "/" + name;
  }
  closedir(names);
  return found;
}

}  // namespace cairn::cli
