#include "capi/checkpoint_pool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace cairn::capi {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Status failed(const std::string& path) {
  const int error = errno;
  return fail(error, "%s: %s", path.c_str(), strerror(error));
}

// Does a file of the configuration speak of pools? Comments do not count.
Result<bool> mentions_pool(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return failed(path);
  }
  std::string text;
  char buffer[4096];
  ssize_t n = 0;
  while ((n = read(fd, buffer, sizeof buffer)) > 0) text.append(buffer, static_cast<size_t>(n));
  const Status status = n < 0 ? failed(path) : Status();
  close(fd);
  CAIRN_TRY(status);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, std::min(text.find('#', at), end) - at);
    if (line.find("pool") != std::string::npos) return true;
    at = end + 1;
  }
  return false;
}

// A file that names another pool than the environment does is not overlooked.
Status check_files() {
  std::string files[2] = {"/etc/cairn/cairn.yaml", ""};
  if (const std::string named = variable("CAIRN_CONFIG"); !named.empty()) {
    files[0] = named;
  } else {
    std::string home = variable("XDG_CONFIG_HOME");
    if (home.empty() && !variable("HOME").empty()) home = variable("HOME") + "/.config";
    if (!home.empty()) files[1] = home + "/cairn/cairn.yaml";
  }
  for (const std::string& file : files) {
    if (file.empty()) continue;
    CAIRN_TRY_ASSIGN(mentions, mentions_pool(file));
    if (mentions)
      return fail(ENOSYS,
                  "%s: sets keys of pool.*, which libcairn cannot read yet; start the program with "
                  "`cairn run`, or attach the pool and pass it in the options",
                  file.c_str());
  }
  return Status();
}

// The directory itself if only we can write to it, else our own one in it.
Result<std::string> private_place(const std::string& directory) {
  struct stat st {};
  if (stat(directory.c_str(), &st) != 0) {
    if (errno != ENOENT) return failed(directory);
    if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return failed(directory);
    if (stat(directory.c_str(), &st) != 0) return failed(directory);
  }
  if (!S_ISDIR(st.st_mode))
    return fail(EINVAL, "CAIRN_POOL_DIR: %s: neither a directory nor a dax device",
                directory.c_str());
  if (st.st_uid == geteuid() && (st.st_mode & 022U) == 0) return directory;
  const std::string own = directory + "/cairn-" + std::to_string(geteuid());
  if (mkdir(own.c_str(), 0700) != 0 && errno != EEXIST) return failed(own);
  if (lstat(own.c_str(), &st) != 0) return failed(own);
  if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077U) != 0)
    return fail(EACCES, "%s: must be a directory of yours that is closed to others (chmod 700)",
                own.c_str());
  return own;
}

Result<std::string> configured_path() {
  const std::string of_run = variable("CAIRN_POOL");
  if (!of_run.empty() && of_run[0] == '/') return of_run;
  CAIRN_TRY(check_files());
  std::string directory = variable("CAIRN_POOL_DIR");
  if (directory.empty()) directory = "/dev/shm";
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  struct stat st {};
  if (stat(directory.c_str(), &st) == 0 && S_ISCHR(st.st_mode)) return directory;
  std::string name = variable("CAIRN_POOL_NAME");
  if (name.empty()) name = "default";
  if (name[0] == '.' || name[0] == '-' || name.find_first_of("/:") != std::string::npos)
    return fail(EINVAL, "CAIRN_POOL_NAME: invalid pool name '%s'", name.c_str());
  CAIRN_TRY_ASSIGN(place, private_place(directory));
  return place + "/" + name;
}

// 512M, 10GiB, 2GB; 0: auto.
Result<uint64_t> configured_size() {
  const std::string text = variable("CAIRN_POOL_SIZE");
  if (text.empty() || text == "auto") return uint64_t{0};
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string unit = end;
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (unit == "%")
    return fail(ENOSYS, "CAIRN_POOL_SIZE: '%s': libcairn reads bytes with a unit only (512M)",
                text.c_str());
  const std::string letters = "KMGTP";
  const size_t power = unit.empty() ? std::string::npos : letters.find(unit[0]);
  const std::string rest = unit.empty() ? "" : unit.substr(power == std::string::npos ? 0 : 1);
  const double base = rest == "B" && power != std::string::npos ? 1000 : 1024;
  double bytes = number;
  for (size_t i = 0; power != std::string::npos && i <= power; ++i) bytes *= base;
  const bool has_unit = rest.empty() || rest == "B" || rest == "IB";
  if (end == text.c_str() || !has_unit || bytes < 1 || bytes > 9e18)
    return fail(EINVAL, "CAIRN_POOL_SIZE: invalid size '%s': expected 512M, 10GiB or auto",
                text.c_str());
  return static_cast<uint64_t>(bytes);
}

}  // namespace

Result<cairn_pool*> attach_configured_pool() {
  CAIRN_TRY_ASSIGN(path, configured_path());
  // Another process may create it between our looks, and remove it.
  constexpr int most_tries = 10;
  int result = 0;
  for (int i = 0; i < most_tries; ++i) {
    cairn_pool* pool = nullptr;
    result = cairn_pool_attach(path.c_str(), 0, &pool);
    if (result == 0) return pool;
    if (result != -ENOENT) break;
    CAIRN_TRY_ASSIGN(size, configured_size());
    cairn_pool_options options{};
    options.struct_size = sizeof options;
    options.size = size;
    result = cairn_pool_create(path.c_str(), &options);
    if (result != 0 && result != -EEXIST) break;
  }
  return Status(-result);
}

}  // namespace cairn::capi
